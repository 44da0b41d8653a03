import { basename, dirname } from 'node:path';
import { EVENT_KINDS } from '../../src/core/event-kinds.js';
import { FEED_ROWS, TASK_ROWS, windowOf } from '../../src/events/pairing-table.js';
import type { FeedResult, Seen } from './play-feed.js';

const BEGIN = (name: string): string => `<!-- ${name}: written by npm run docs -- feed -->`;
const END = '<!-- end -->';

/** The page with its derived sections written anew. */
export function renderFeedPage(page: string, results: readonly FeedResult[]): string {
  return section(section(page, 'seen', seenTable(results)), 'rows', rowsTable());
}

function section(page: string, name: string, text: string): string {
  const from = page.indexOf(BEGIN(name));
  const to = page.indexOf(END, from);
  if (from < 0 || to < 0) throw new Error(`docs/feed.md has no section ${name}`);
  return `${page.slice(0, from)}${BEGIN(name)}\n\n${text}\n\n${page.slice(to)}`;
}

/** Which source told a kind of event, on each server. */
function seenTable(results: readonly FeedResult[]): string {
  const servers = results.map(({ folder }) => basename(dirname(folder)));
  const kinds = EVENT_KINDS.filter((kind) => kind !== 'unrecognized' && results.some((result) => result.kinds[kind]));
  const rows = kinds.map(
    (kind) => `| \`${kind}\` | ${results.map((result) => wordOf(result.kinds[kind])).join(' | ')} |`,
  );
  return [`| kind | ${servers.join(' | ')} |`, `|---|${servers.map(() => '---|').join('')}`, ...rows].join('\n');
}

function wordOf(seen: Seen | undefined): string {
  if (!seen) return '–';
  const words = [
    ...(seen.both > 0 ? ['both'] : []),
    ...(seen.webhook > 0 ? ['webhook'] : []),
    ...(seen.rows > 0 ? ['feed'] : []),
  ];
  return words.join(', ');
}

function rowsTable(): string {
  const feed = FEED_ROWS.map(({ opType, when, facts, manyRows }) => {
    const deliveries = [...new Set(facts.flatMap((fact) => fact.deliveries))].map((name) => `\`${name}\``).join(', ');
    const kinds = facts.map(({ kind }) => `\`${kind}\``).join(' + ');
    const within = facts.every(({ kind }) => windowOf(kind) === Number.POSITIVE_INFINITY) ? 'any time' : '10 s';
    return `| \`${opType}\`${when ? `, ${when}` : ''} | ${kinds}${manyRows ? ', or the review that its rows make' : ''} | ${deliveries || 'none'} | ${within} |`;
  });
  const tasks = `| task row | ${TASK_ROWS.map(({ kind }) => `\`${kind}\``).join(' or ')} | \`workflow_job\` | any time |`;
  return [
    '| row | event | delivery of the same fact | deduplicated within |',
    '|---|---|---|---|',
    ...feed,
    tasks,
  ].join('\n');
}
