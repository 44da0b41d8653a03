import { performance } from 'node:perf_hooks';
import type { Contestant, Decide, Key } from './contestants.js';
import { pushEvent } from './workload.js';
import type { Workload } from './workload.js';

export interface Setting {
  readonly rules: number;
  readonly shape: 'five match' | 'all match';
  /** How many rules must fire for each event. */
  readonly fires: number;
  readonly workload: Workload;
}

export interface Sample {
  readonly contestant: Key;
  readonly rules: number;
  readonly shape: Setting['shape'];
  readonly round: number;
  readonly usPerEvent: number;
}

/** Every contestant at every setting in every round, so that what else the machine does falls on all alike. A first round is not counted. */
export async function playRounds(
  contestants: readonly Contestant[],
  settings: readonly Setting[],
  { rounds, ms, say }: { rounds: number; ms: number; say: (line: string) => void },
): Promise<Sample[]> {
  const prepared = settings.map((setting) => ({
    setting,
    decides: contestants.map(({ key, prepare }) => ({ key, decide: prepare(setting.workload) })),
  }));
  const samples: Sample[] = [];
  const event = pushEvent();
  for (let round = 0; round <= rounds; round += 1) {
    say(round === 0 ? 'warming up ...' : `round ${round} of ${rounds} ...`);
    for (const { setting, decides } of prepared) {
      for (const { key, decide } of decides) {
        const usPerEvent = await timeOf(() => decide(event), ms, setting.fires, key);
        if (round > 0) samples.push({ contestant: key, rules: setting.rules, shape: setting.shape, round, usPerEvent });
      }
    }
  }
  return samples;
}

/** Processor microseconds for one event: the time on the clock would also tell what else the machine does. At least one event. */
async function timeOf(once: () => ReturnType<Decide>, ms: number, fires: number, key: Key): Promise<number> {
  const end = performance.now() + ms;
  const before = process.cpuUsage();
  let events = 0;
  do {
    const answer = once();
    // Nobody but the one that is asynchronous pays for waiting.
    const fired = typeof answer === 'number' ? answer : await answer;
    if (fired !== fires) throw new Error(`${key} let ${fired} rules fire and not ${fires}: not the same work`);
    events += 1;
  } while (performance.now() < end);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / events;
}
