import { operationInWords } from '../forge/operation-words.js';
import type { DoctorPage } from '../api/operations/answers.js';
import type { Check } from '../housekeeping/doctor/check.js';
import { plain, table, when, state } from './print.js';
import { colour } from './terminal.js';
import { moreLine } from './page-command.js';
import { listTable } from './print-list.js';
import { CHECKS } from '../api/lists.js';
import { counted } from '../api/words.js';

export function describeDoctor(page: DoctorPage, operations: boolean): string {
  const { rows: checks, findings, forges } = page;
  const tables = operations ? forges.map(({ id, operations: answers }) => describeOperations(id, answers)) : [];
  const waits = checks.filter(({ check, state }) => check.startsWith('waiting.') && state === 'note').length;
  const stale = forges.filter(({ id }) =>
    checks.some(({ forge, check, state }) => forge === id && check === 'forge.reached' && state === 'problem'),
  );
  return [
    `${listTable(CHECKS, checks)}${moreLine(page, 'check')}`,
    ...checks.filter(({ fix }) => fix.length > 0).map(describeFix),
    ...stale.map(({ id, learnedAt }) => colour.dim(`what is known of ${id} was learned at ${when(learnedAt)} UTC`)),
    ...tables,
    '',
    findings === 0
      ? colour.green(
          waits === 0 ? 'nothing is wrong' : `nothing is wrong; ${counted(waits, 'thing waits', 'things wait')}`,
        )
      : colour.red(findings === 1 ? '1 finding' : `${findings} findings`),
  ].join('\n');
}

/** What was seen wrong, and what to click or type. */
export function describeFix({
  check,
  org,
  forge,
  state: of,
  fix,
}: Pick<Check, 'check' | 'org' | 'forge' | 'state' | 'fix'>): string {
  return `\n${state(of)} ${colour.bold(check)} ${colour.dim(plain(org ?? forge))}\n${fix.map((step) => `  ${plain(step)}`).join('\n')}`;
}

function describeOperations(forge: string, operations: DoctorPage['forges'][number]['operations']): string {
  const words = {
    there: colour.green('there'),
    missing: colour.red('missing'),
    scope: colour.yellow('not with this token'),
    'not-asked': colour.dim('not asked'),
  };
  const rows = Object.entries(operations)
    .map(([name, answer]) => [operationInWords(name), words[answer]])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return `\n${colour.bold(`operations of ${plain(forge)}`)}\n${table(['operation', 'answer'], rows, 'none was asked')}`;
}
