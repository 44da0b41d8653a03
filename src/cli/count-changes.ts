import type { PlanLine } from '../policies/policy-plan.js';
import { plain } from './print.js';
import { colour } from './terminal.js';
import { counted } from '../api/words.js';

const NAMES_SHOWN = 8;

/** Lines of a plan in a few lines: the same change in many repositories is told once. */
export function countChanges(lines: readonly PlanLine[]): string[] {
  return groups(lines).map(describeGroup);
}

/** Whether counting tells anything shorter. */
export function areRepeated(lines: readonly PlanLine[]): boolean {
  return groups(lines).length < lines.length;
}

/** What a line does, for the eye: `+` makes, `~` writes over, `!` is otherwise and cannot be written. */
export function signOf({
  does,
  fields,
}: Pick<PlanLine, 'does' | 'fields'>): readonly [string, (text: string) => string] {
  if (does === 'cannot') return ['!', colour.red];
  return fields.every(({ before }) => before.is === 'absent') ? ['+', colour.green] : ['~', colour.yellow];
}

function groups(lines: readonly PlanLine[]): PlanLine[][] {
  const byKey = new Map<string, PlanLine[]>();
  for (const line of lines) {
    const [sign] = signOf(line);
    const key = JSON.stringify([line.policy, line.action, sign, line.mode, sign === '!' ? line.reason : null]);
    const group = byKey.get(key);
    if (group) group.push(line);
    else byKey.set(key, [line]);
  }
  return [...byKey.values()];
}

function describeGroup(group: readonly PlanLine[]): string {
  const [first] = group;
  if (!first) return '';
  const [sign, tint] = signOf(first);
  const repos = new Set(group.flatMap(({ repo }) => repo?.name ?? []));
  const where = repos.size === 0 ? '' : ` in ${counted(repos.size, 'repository', 'repositories')}`;
  const fields = sign === '~' ? `: ${few(group.flatMap((line) => line.fields.map(({ field }) => field)))}` : '';
  const how =
    sign === '!'
      ? `; cannot be written: ${first.reason ?? ''}`
      : first.mode === 'dry-run'
        ? '; dry-run: not written'
        : '';
  const head = `${sign} ${first.policy}: ${first.action} ×${group.length}`;
  return `  ${tint(plain(head))}${plain(`${where} (${few(group.map(({ key }) => key))})${fields}${how}`)}`;
}

/** Each name once, and not all of many. */
function few(names: readonly string[]): string {
  const all = [...new Set(names)];
  return `${all.slice(0, NAMES_SHOWN).join(', ')}${all.length > NAMES_SHOWN ? ', …' : ''}`;
}
