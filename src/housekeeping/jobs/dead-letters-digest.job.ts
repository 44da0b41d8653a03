import { textOf } from '../../core/reason.js';
import type { Intent } from '../../core/run.js';
import type { Job } from './job.js';

const COUNTED = 1_000;
const REASONS = 3;

/** Once a day: counts dead letters by rule, so that nobody has to read each of them. */
export const digestDeadLetters: Job = {
  name: 'dead-letters.digest',
  summary: 'what was given up, by rule and reason',
  per: 'bot',
  schedule: { cron: '0 7 * * *', tz: 'UTC', jitterS: 0, catchUp: 'skip' },
  when: 'every morning',
  isAudit: true,
  async run({ tools }) {
    const dead = await tools.journal.intentsInState('dead', COUNTED);
    return {
      summary: `${dead.length}${dead.length === COUNTED ? ' or more' : ''} dead letters${dead.length > 0 ? ' (forgehand retry ID revives one)' : ''}`,
      findings: digestOf(dead),
    };
  },
};

/** One sentence for each rule of each organization, the worst first. Pure. */
export function digestOf(dead: readonly Intent[]): string[] {
  const groups = new Map<string, Intent[]>();
  for (const intent of dead)
    groups.set(`${intent.org} ${intent.rule}`, [...(groups.get(`${intent.org} ${intent.rule}`) ?? []), intent]);
  return [...groups.values()]
    .sort((a, b) => b.length - a.length)
    .map((intents) => {
      const reasons = new Map<string, number>();
      for (const { reason } of intents) {
        const text = reason ? textOf(reason) : '?';
        reasons.set(text, (reasons.get(text) ?? 0) + 1);
      }
      const most = [...reasons].sort(([, a], [, b]) => b - a).slice(0, REASONS);
      const [first] = intents;
      return `${first?.rule ?? ''} in ${first?.org ?? ''}: ${intents.length} given up; ${most.map(([reason, count]) => `${count} x ${reason}`).join('; ')}; the newest is ${first?.id ?? ''}`;
    });
}
