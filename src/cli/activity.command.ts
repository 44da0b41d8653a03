import { setTimeout } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type { ActivityRow } from '../insight/activity.js';
import { hasFired, type RunState } from '../core/run.js';
import { INTENT_STATES, RUN_STATES, type IntentState } from '../core/states.js';
import { limitOption, storeCommand } from './command-options.js';
import { aboutText, allOption, effectsText, footer, hidesUnchanged, type ListOptions } from './list-options.js';
import { plain, print, shortIds, state, table, when } from './print.js';
import { withBot, type Reach } from './reach-bot.js';
import { writeOut } from './terminal.js';
import { untilStopped } from './until-stopped.js';

interface ActivityOptions extends ListOptions {
  readonly config: string;
  readonly org?: string;
  readonly repo?: string;
  readonly person?: string;
  readonly kind?: string;
  readonly rule?: string;
  readonly state?: RunState;
  readonly effects?: IntentState;
  readonly follow: boolean;
}

const FOLLOW_EVERY_MS = 1_000;

export function activityCommand(): Command {
  return storeCommand('activity', 'list what happened, newest first: events, the rules that evaluated them, effects')
    .option('--org <name>', 'only this organization')
    .option('--repo <owner/name>', 'only this repository')
    .option('--person <login>', 'only events that this person caused')
    .option('--kind <kind>', 'only events of this kind (issue.opened) or family (issue)')
    .option('--rule <id>', 'only events that this rule or policy evaluated')
    .addOption(new Option('--state <state>', 'only events with a run in this state').choices(RUN_STATES))
    .addOption(new Option('--effects <state>', 'only events with an effect in this state').choices(INTENT_STATES))
    .option('--follow', 'print each new or changed line of all organizations, until Ctrl-C', false)
    .addOption(allOption())
    .option('--before <cursor>', 'show the next page: older lines than this cursor')
    .addOption(limitOption())
    .action((options: ActivityOptions) =>
      withBot(options.config, async (bot) => {
        if (options.follow) return follow(bot, options);
        const { org, repo, person, kind, rule, state: of, effects, before, limit } = options;
        // Whoever asks for a state wants all of that state.
        const hides = (of ?? effects) === undefined && hidesUnchanged(options);
        const asked = { org, repo, person, kind, rule, state: of, effects, before, limit, changed: hides || undefined };
        const page = await bot.call('activity', asked);
        print(options.json, page, () => `${linesOf(page.rows)}${footer({ ...page, hides, before: page.next })}`);
      }),
    );
}

/** Lines of before count as known: what is printed first is what changes from now on. */
async function follow(bot: Pick<Reach, 'call'>, { limit, json }: ActivityOptions): Promise<void> {
  const known = new Map<string, string>();
  let since: string | undefined;
  const look = async (): Promise<void> => {
    const { mark, rows } = await bot.call('activityNews', { since, limit });
    const isFirst = since === undefined;
    since = mark;
    for (const row of [...rows].reverse()) {
      const text = JSON.stringify(row);
      if (known.get(row.id) === text) continue;
      known.set(row.id, text);
      if (!isFirst) writeOut(json ? `${text}\n` : `${cellsOf(row, (id) => id.slice(-8)).join('  ')}\n`);
    }
    const oldest = [...known.keys()].slice(0, Math.max(0, known.size - 10 * limit));
    for (const id of oldest) known.delete(id);
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

function linesOf(rows: readonly ActivityRow[]): string {
  const short = shortIds(rows.map(({ id }) => id));
  const cells = rows.map((row) => cellsOf(row, short));
  return table(HEAD, cells, 'no event matches');
}

function cellsOf(row: ActivityRow, short: (id: string) => string): string[] {
  const { at, id, what, event, sources, person, schedule, org, runs, reason, state: of } = row;
  const from = sources.map(({ source, hook }) => (hook === null ? source : `hook ${hook}`)).join(', ');
  const fired = runs.filter((run) => hasFired(run.state));
  const effects = runs.flatMap((run) => run.effects);
  const why = reason ?? runs.find((run) => !hasFired(run.state))?.reason ?? '';
  return [
    when(at),
    short(id),
    plain(event ?? (what === 'run' ? (schedule ? 'schedule' : 'apply') : from)),
    aboutText(row) || plain(org),
    plain(person ?? ''),
    plain(fired.map(({ rule }) => rule).join(', ')),
    effects.length > 0 ? effectsText(effects) : of === 'decided' ? plain(why) : `${state(of)} ${plain(why)}`.trim(),
  ];
}
