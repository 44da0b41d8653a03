import { Option } from 'commander';
import type { Command } from 'commander';
import type { OrgShadow, RunReport } from '../api/operations/answers.js';
import type { RunState } from '../core/run.js';
import type { ActivityRow } from '../insight/activity.js';
import { notAskedLines } from './activity.command.js';
import type { ShownWaiting } from '../core/waiting.js';
import { RUN_STATES } from '../core/states.js';
import { limitOption, orgOption } from './command-options.js';
import {
  allOption,
  beforeOption,
  effectsText,
  everyPageOf,
  hidesUnchanged,
  listed,
  type ListOptions,
  type IdList,
} from './list-options.js';
import { pagesByTime, printPages } from './page-command.js';
import { plain, print, state, table, when } from './print.js';
import { waitingLines } from './print-waiting.js';
import { withBot } from './reach-bot.js';
import { colour } from './terminal.js';
import { storeCommand } from './bot-command.js';
import { aboutText } from '../api/words.js';

interface RunsOptions extends ListOptions {
  readonly rule?: string;
  readonly state?: RunState;
  readonly shadow: boolean;
}

export function runsCommand(): Command {
  return storeCommand('runs', 'list decisions and their outcome, newest first; with an id, show one in full')
    .argument('[run]', 'id of one run, or a unique part of it')
    .addOption(orgOption())
    .option('--rule <id>', 'only this rule or policy')
    .addOption(new Option('--state <state>', 'only in this state').choices(RUN_STATES))
    .option('--shadow', 'compare the decisions of the shadow revision with the live ones, by rule', false)
    .addOption(allOption())
    .addOption(beforeOption())
    .addOption(limitOption())
    .action((id: string | undefined, options: RunsOptions) =>
      withBot(options.config, async (bot) => {
        if (id) {
          const { printExplanation } = await import('./print-explanation.js');
          const report = await bot.call('run', { id });
          // One view of a run, whichever command asks for it.
          const explanation = options.json ? null : await bot.call('explain', { id: report.run.id });
          return print(options.json, report, () => (explanation ? printExplanation(explanation) : ''));
        }
        if (options.shadow) {
          const { org, limit: decisions } = options;
          await printPages(pagesByTime(options), {
            page: ({ after }) => bot.call('shadow', { org, decisions, after }),
            show: ({ rows, next }) =>
              rows.length === 0
                ? 'no organization has a shadow revision (orgs[].rules.shadow)'
                : `${rows.map(shadowOf).join('\n\n')}${next === null ? '' : `\n${colour.dim(`more: --before '${next}'`)}`}`,
          });
          return undefined;
        }
        // Whoever asks for a state wants all of that state.
        const { org, rule, state: of } = options;
        const hides = of === undefined && hidesUnchanged(options);
        const changed = hides || undefined;
        await printPages(pagesByTime(everyPageOf(options)), {
          page: ({ after, limit }) =>
            bot.call('runs', { org, rule, state: of, shadow: false, changed, before: after, limit }),
          show: async ({ rows, next }) => {
            const waiting = await bot.call('waiting', { org });
            const { notAsked } =
              options.before === undefined
                ? await bot.call('activity', { org, rule, changed: true, limit: 1 })
                : { notAsked: [] };
            return describeRuns(rows, { waiting, notAsked }, { hides, next });
          },
        });
      }),
    );
}

/**
 * @param beside `waiting`: what has no run yet, and what keeps the effects of those that have one; `notAsked`: acts of the bot itself, which rules did
 * not take
 */
export function describeRuns(
  reports: readonly RunReport[],
  { waiting, notAsked }: { readonly waiting: readonly ShownWaiting[]; readonly notAsked: readonly ActivityRow[] },
  page: { readonly hides: boolean; readonly next: string | null },
): string {
  return [listed(reports, LIST, page), ...waitingLines(waiting), ...notAskedLines(notAsked)].join('\n');
}

function shadowOf({ org, rules }: OrgShadow): string {
  const rows = rules.map(({ rule, decided, fired, agree, differ }) => [
    rule,
    ...[decided, fired, agree, differ].map(String),
  ]);
  const samples = rules.flatMap(({ rule, samples: differences }) =>
    differences.map(
      ({ eventId, shadow, live }) =>
        `${rule}, event ${eventId}\n  shadow ${shadow.verdict}: ${plain(shadow.reason)}\n  live   ${live ? `${live.verdict}: ${plain(live.reason)}` : 'did not decide: no such rule, or on and where turned the event away'}`,
    ),
  );
  return [
    colour.bold(org),
    table(['rule', 'decided', 'fired', 'agree', 'differ'], rows, 'no shadow decision yet'),
    ...samples,
  ].join('\n');
}

const LIST: IdList<RunReport> = {
  head: ['at (UTC)', 'run', 'rule', 'about', 'by', 'state', 'effects, or why none'],
  empty: 'no run',
  idOf: ({ run }) => run.id,
  cellsOf,
};

function cellsOf({ run, about, effects }: RunReport, short: (id: string) => string): string[] {
  return [
    when(run.decidedAt),
    short(run.id),
    `${run.org}/${run.rule}`,
    plain(aboutText(about, '')),
    plain(about.person ?? (about.schedule ? 'schedule' : '')),
    state(run.state),
    effects.length > 0 ? effectsText(effects) : plain(run.reason),
  ];
}
