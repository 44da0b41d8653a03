import { Option, type Command } from 'commander';
import { FINDINGS } from '../api/lists.js';
import type { AnswerOf } from '../api/operations/index.js';
import { SEVERITIES, type Severity } from '../core/finding.js';
import { storeCommand } from './bot-command.js';
import { limitOption, orgOption, type SetExit } from './command-options.js';
import { afterOption, everyPageOption, everyRow, moreLine, printPages, type PageOptions } from './page-command.js';
import { listTable } from './print-list.js';
import { withBot } from './reach-bot.js';

type Schedules = AnswerOf<'schedules'>['rows'];

/** Exit: 0 everything holds, 1 something does not, or a policy could not look at everything. */
export function findingsCommand(exit: SetExit): Command {
  const command = storeCommand('findings', 'list policy violations')
    .addOption(orgOption())
    .option('--policy <id>', 'only this policy')
    .addOption(new Option('--severity <word>', 'only of this severity').choices([...SEVERITIES]))
    .option('--ended', 'include violations that have ended', false)
    .addOption(afterOption())
    .addOption(limitOption())
    .addOption(everyPageOption());
  return command.action((options: FindingsOptions) =>
    withBot(options.config, async (bot) => {
      const { org, policy, severity, ended } = options;
      const schedules = await everyRow((place) => bot.call('schedules', { org, ...place }));
      const partly = policiesLookedPartly(schedules, policy);
      const { open } = await printPages(options, {
        page: async (place) => ({
          ...(await bot.call('findings', { org, policy, severity, ended, ...place })),
          attention: 0,
          partly: partly.map((one) => `${one.org}/${one.id}`),
        }),
        show: (page) =>
          [`${listTable(FINDINGS, page.rows)}${moreLine(page, 'finding')}`, ...partly.map(lookedPartly)].join('\n'),
      });
      exit(partly.length > 0 || open > 0 ? 1 : 0);
    }),
  );
}

interface FindingsOptions extends PageOptions {
  readonly org?: string;
  readonly policy?: string;
  readonly severity?: Severity;
  readonly ended: boolean;
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
