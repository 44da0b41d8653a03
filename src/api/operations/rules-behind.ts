import type { Visibility } from '../../core/visibility.js';
import type { StatusReport } from './answers.js';
import type { Needs } from './needs.js';

/** States in which an intent waits for somebody, or ended without its effect. */
const LOOKED_AT = ['unknown', 'waiting', 'dead', 'refused', 'conflict'] as const;
/** Of each state the oldest so many intents are looked at. */
const COUNTED = 100;

/** The rules of intents that wait for a person or ended badly. */
export async function rulesBehind(
  { journal, keeper }: Pick<Needs, 'journal' | 'keeper'>,
  visibility: Visibility,
): Promise<StatusReport['behind']> {
  const behind = new Map<string, StatusReport['behind'][number]>();
  for (const state of LOOKED_AT) {
    for (const { org, rule } of await journal.intentsInState(state, COUNTED, visibility)) {
      const key = JSON.stringify([state, org, rule]);
      const earlier = behind.get(key);
      const byCommand = earlier?.byCommand ?? (await takesCommands(keeper, org, rule));
      behind.set(key, { state, org, rule, count: (earlier?.count ?? 0) + 1, byCommand });
    }
  }
  return [...behind.values()];
}

async function takesCommands(keeper: Needs['keeper'], org: string, rule: string): Promise<boolean> {
  const active = await keeper.active(org);
  return active?.revision.rules.some(({ id, program }) => id === rule && !!program.where.command) ?? false;
}
