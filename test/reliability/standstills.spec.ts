import { describe, expect, it } from '@jest/globals';
import { wrapForgeClient, type ForgeClient } from '../../src/forge/forge-client.js';
import { EffectRig } from '../builders/effect-rig.js';
import { dueOf } from '../builders/journal.js';

/** Two leases of a worker, which takes five seconds. */
const STANDSTILL_MS = 10_000;
const PAUSES = 200;
const ROUNDS = 40;

const WISHES = [
  ['label.ensure', { name: 'bug', color: '#d73a4a' }],
  ['milestone.ensure', { title: '1.5' }],
  ['push_mirror.ensure', { remote_address: 'https://mirror.example.org/acme/app.git', interval: '8h' }],
  ['branch.create', { new_branch_name: 'release/1.4', old_ref_name: 'main' }],
] as const;
type Wish = (typeof WISHES)[number];

/** One process as seen by its calls of store and forge: at the one that is meant it stands still until it is let go on. */
class Standstill {
  /** Calls so far; each is two points, one before it is made and one after its answer came. */
  readonly points: string[] = [];
  readonly reached: Promise<string>;
  private reach: (point: string) => void = () => undefined;
  private letGo: () => void = () => undefined;
  private readonly goesOn = new Promise<void>((resolve) => (this.letGo = resolve));

  /** @param at number of the point; beyond the last one it never stands still */
  constructor(private readonly at: number) {
    this.reached = new Promise((resolve) => (this.reach = resolve));
  }

  goOn(): void {
    this.letGo();
  }

  private async point(name: string): Promise<void> {
    this.points.push(name);
    if (this.points.length - 1 !== this.at) return;
    this.reach(name);
    await this.goesOn;
  }

  private async call<T>(name: string, make: () => Promise<T>): Promise<T> {
    await this.point(`before ${name}`);
    const answer = await make();
    await this.point(`after ${name}`);
    return answer;
  }

  store<T extends object>(store: T): T {
    return new Proxy(store, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          this.call(String(key), async () => (value as (...given: unknown[]) => unknown).apply(target, args));
      },
    });
  }

  forge(client: ForgeClient): ForgeClient {
    return wrapForgeClient(client, (name, next, args, options) => {
      const { beforeSend, ...rest } = options ?? {};
      const send = async (): Promise<void> => {
        await beforeSend?.();
        // The last check is behind it, and the request not yet written.
        await this.point(`at the socket of ${name}`);
      };
      return this.call(name, async () => next(args, { ...rest, ...(beforeSend ? { beforeSend: send } : {}) }));
    });
  }
}

/** One wish, worked on by a process that stands still at a point for two leases, while another one goes on with all that is due. */
async function play(
  [action, params]: Wish,
  at: number,
): Promise<{ point: string | null; points: number; effects: number; state: string; outcomes: string[] }> {
  const rig = new EffectRig();
  const id = await rig.plan(action, params);
  const still = new Standstill(at);
  const journal = still.store(rig.journal);
  const forges = { get: () => ({ client: still.forge(rig.forge.client), offers: rig.forge.offers }) };
  const process = rig.processOf({ journal, forges, name: 'stands still' });

  const worked = rig.attempt(id, process);
  const point = await Promise.race([still.reached, worked.then(() => null)]);
  const others = async (): Promise<void> => {
    await rig.journal.reclaimExpired();
    for (const due of await dueOf(rig.journal, 10)) await rig.attempt(due);
    await rig.unknown.pass(10);
  };
  rig.clock.advance(STANDSTILL_MS);
  await others();
  still.goOn();
  await worked;

  for (let round = 0; round < ROUNDS; round += 1) {
    rig.clock.advance(30_000);
    await others();
  }
  const { state = 'lost' } = (await rig.journal.intent(id)) ?? {};
  const outcomes = rig.journal.peekAttempts().map(({ outcome }) => String(outcome));
  return { point, points: still.points.length, effects: rig.written.length, state, outcomes };
}

describe('reliability: processes that stand still', () => {
  it(`doubles nothing and loses nothing in ${PAUSES} pauses of two leases, at every call in turn`, async () => {
    const lengths = await Promise.all(WISHES.map(async (wish) => (await play(wish, Number.POSITIVE_INFINITY)).points));
    const bad: unknown[] = [];
    const paused = new Set<string>();
    const tooLate: string[] = [];

    for (let n = 0; n < PAUSES; n += 1) {
      const which = n % WISHES.length;
      const at = Math.floor(n / WISHES.length) % (lengths[which] ?? 1);
      const played = await play(WISHES[which] ?? WISHES[0], at);
      paused.add(played.point ?? 'nowhere');
      if (played.point === 'after markSent') tooLate.push(played.outcomes[0] ?? 'none');
      if (played.effects !== 1 || !['done', 'unchanged'].includes(played.state)) bad.push({ which, at, ...played });
    }

    expect(bad).toEqual([]);
    expect([...paused]).toEqual(
      expect.arrayContaining([
        'after claim',
        'before markSent',
        'at the socket of createLabel',
        'after createLabel',
        'before settle',
      ]),
    );
    expect(paused).not.toContain('nowhere');
    // What stood still between the last check and the call does not make it.
    expect(new Set(tooLate)).toEqual(new Set(['not-sent']));
  });
});
