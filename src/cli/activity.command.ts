import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ActivityRow } from '../insight/activity.js';
import { hasFired } from '../core/run.js';
import { limitOption, orgOption } from './command-options.js';
import { allOption, effectsText, footer, hidesUnchanged, type ListOptions } from './list-options.js';
import { pagesByTime, printPages } from './page-command.js';
import { plain, shortIds, state, table, when } from './print.js';
import { withBot, type Reach } from './reach-bot.js';
import { colour, writeOut } from './terminal.js';
import { untilStopped } from './until-stopped.js';
import { storeCommand } from './bot-command.js';
import { filterOptions } from './print-list.js';
import { ACTIVITY_FILTERS } from '../api/lists.js';
import type { SentTo } from '../api/operations/index.js';
import { aboutText, notAskedText, sourcesText } from '../api/words.js';

type ActivityOptions = ListOptions & Omit<SentTo<'activity'>, 'changed'> & { readonly follow: boolean };

const FOLLOW_EVERY_MS = 1_000;

export function activityCommand(): Command {
  const command = storeCommand(
    'activity',
    'list what happened, newest first: events, the rules that evaluated them, effects',
  ).addOption(orgOption());
  for (const option of filterOptions(ACTIVITY_FILTERS)) command.addOption(option);
  return command
    .option('--follow', 'print each new or changed line of all organizations, until Ctrl-C', false)
    .addOption(allOption())
    .option('--before <cursor>', 'show the next page: older lines than this cursor')
    .addOption(limitOption())
    .action((options: ActivityOptions) =>
      withBot(options.config, async (bot) => {
        if (options.follow) return follow(bot, options);
        const { config, json, follow: _follow, all, before, limit, ...filter } = options;
        // Whoever asks for a state wants all of that state.
        const hides = (filter.state ?? filter.effects) === undefined && hidesUnchanged(options);
        await printPages(pagesByTime({ ...options, all: json && all }), {
          page: ({ after, limit: most }) =>
            bot.call('activity', { ...filter, changed: hides || undefined, before: after, limit: most }),
          show: (page) =>
            `${[linesOf(page.rows), ...notAskedLines(page.notAsked)].join('\n')}${footer({ ...page, hides, before: page.next })}`,
        });
      }),
    );
}

/** Lines of before count as known: what is printed first is what changes from now on. */
async function follow(bot: Pick<Reach, 'call'>, { limit, json }: ActivityOptions): Promise<void> {
  const textById = new Map<string, string>();
  let since: string | undefined;
  const look = async (): Promise<void> => {
    const { mark, rows } = await bot.call('activityNews', { since, limit });
    const isFirst = since === undefined;
    since = mark;
    for (const row of [...rows].reverse()) {
      const text = JSON.stringify(row);
      if (textById.get(row.id) === text) continue;
      textById.set(row.id, text);
      if (!isFirst) writeOut(json ? `${text}\n` : `${cellsOf(row, (id) => id.slice(-8)).join('  ')}\n`);
    }
    const oldest = [...textById.keys()].slice(0, Math.max(0, textById.size - 10 * limit));
    for (const id of oldest) textById.delete(id);
  };
  const ended = new AbortController();
  const stopped = untilStopped(async () => ended.abort());
  while (!ended.signal.aborted) {
    await look();
    await setTimeout(FOLLOW_EVERY_MS, undefined, { signal: ended.signal }).catch(() => undefined);
  }
  await stopped;
}

const HEAD = ['at (UTC)', 'id', 'what', 'about', 'by', 'rules', 'effects, or why none'];

/** Of acts of the bot itself, which rules they did not start. */
export function notAskedLines(rows: readonly ActivityRow[]): string[] {
  return rows.map((row) =>
    colour.yellow(plain(`${row.event ?? ''} in ${aboutText(row, row.org)}: ${notAskedText(row.notAsked)}`)),
  );
}

function linesOf(rows: readonly ActivityRow[]): string {
  const short = shortIds(rows.map(({ id }) => id));
  const cells = rows.map((row) => cellsOf(row, short));
  return table(HEAD, cells, 'no event matches');
}

function cellsOf(row: ActivityRow, short: (id: string) => string): string[] {
  const { at, id, what, event, sources, person, schedule, org, runs, notAsked, reason, state: of } = row;
  const fired = runs.filter((run) => hasFired(run.state));
  const effects = runs.flatMap((run) => run.effects);
  const why = reason ?? runs.find((run) => !hasFired(run.state))?.reason ?? notAskedText(notAsked);
  return [
    when(at),
    short(id),
    plain(event ?? (what === 'run' ? (schedule ? 'schedule' : 'apply') : sourcesText(sources))),
    plain(aboutText(row, org)),
    plain(person ?? ''),
    plain(fired.map(({ rule }) => rule).join(', ')),
    effects.length > 0 ? effectsText(effects) : of === 'decided' ? plain(why) : `${state(of)} ${plain(why)}`.trim(),
  ];
}
