import type { KeptPlan, PlanLine } from '../../policies/policy-plan.js';
import { plain } from '../print.js';
import { colour } from '../terminal.js';

const NAMES_SHOWN = 8;

/** The plan of starter policies in a few lines: the same change in many repositories is told once. */
export function shortPlan({ lines, hash }: Pick<KeptPlan, 'lines' | 'hash'>): string[] {
  const groups = new Map<string, PlanLine[]>();
  for (const line of lines) {
    const key = `${line.policy} ${line.action} ${line.does}`;
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [
    colour.bold(`Plan ${hash.slice(0, 12)}: what the policies would change`),
    ...[...groups.values()].map((group) => `  ${plain(describeGroup(group))}`),
  ];
}

function describeGroup(group: readonly PlanLine[]): string {
  const [first] = group;
  if (!first) return '';
  const repos = new Set(group.flatMap(({ repo }) => repo?.name ?? []));
  const where = repos.size === 0 ? '' : ` in ${repos.size} ${repos.size === 1 ? 'repository' : 'repositories'}`;
  const keys = [...new Set(group.map(({ key }) => key))];
  const names = `${keys.slice(0, NAMES_SHOWN).join(', ')}${keys.length > NAMES_SHOWN ? ', …' : ''}`;
  const cannot = first.does === 'cannot' ? `; cannot be written: ${first.reason ?? ''}` : '';
  return `${first.policy}: ${first.action} ×${group.length}${where} (${names})${cannot}`;
}
