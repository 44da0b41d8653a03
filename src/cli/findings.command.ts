import { Option, type Command } from 'commander';
import { FINDINGS } from '../api/lists.js';
import type { AnswerOf, SentTo } from '../api/operations/index.js';
import { SEVERITIES } from '../core/finding.js';
import { botCommand } from './bot-command.js';
import { limitOption, orgOption, type SetExit } from './command-options.js';
import { everyRow } from './page-command.js';
import { listTable } from './print-list.js';

type Schedules = AnswerOf<'schedules'>['rows'];

/** Exit: 0 everything holds, 1 something does not, or a policy could not look at everything. */
export function findingsCommand(exit: SetExit): Command {
  return botCommand('findings', 'list policy violations', {
    ask: async (bot, options: SentTo<'findings'>) => {
      const { org, policy } = options;
      const schedules = await everyRow((place) => bot.call('schedules', { org, ...place }));
      return { findings: await bot.call('findings', options), partly: policiesLookedPartly(schedules, policy) };
    },
    json: ({ findings }) => findings,
    show: ({ findings, partly }) => [listTable(FINDINGS, findings), ...partly.map(lookedPartly)].join('\n'),
    after: ({ findings, partly }) =>
      exit(partly.length > 0 || findings.some(({ endedAt }) => endedAt === null) ? 1 : 0),
  })
    .addOption(orgOption())
    .option('--policy <id>', 'only this policy')
    .addOption(new Option('--severity <word>', 'only of this severity').choices([...SEVERITIES]))
    .option('--ended', 'include violations that have ended', false)
    .addOption(limitOption());
}

/** Policies whose newest pass left something out: what is not listed there may be violated all the same. Pure. */
export function policiesLookedPartly(schedules: Schedules, policy: string | undefined): Schedules {
  return schedules.filter(
    ({ kind, id, runs, why }) =>
      kind === 'policy' &&
      (policy === undefined || id === policy) &&
      (runs.some(({ state }) => state === 'error') || why.some(({ code }) => NOT_LOOKED.has(code))),
  );
}

const NOT_LOOKED: ReadonlySet<string> = new Set(['schedule.waits', 'schedule.overdue']);

function lookedPartly({ org, id }: Schedules[number]): string {
  return `not looked at everywhere: ${org}/${id} (forgehand runs --org ${org} --rule ${id} --state error, and forgehand schedules, say why)`;
}
