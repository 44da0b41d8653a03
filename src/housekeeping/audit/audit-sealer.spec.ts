import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import type { Encryptor } from '../../core/encryptor.js';
import { silentLogger, type Logger } from '../../core/logger.js';
import { AuditSealer } from './audit-sealer.js';
import type { AuditStore } from './audit-store.port.js';

const PASS_MS = 9 * 60_000;

interface Rig {
  readonly sealer: AuditSealer;
  readonly clock: ManualClock;
  readonly left: Readonly<Record<string, number>>;
  /** Organizations, a batch each. */
  readonly asked: readonly string[];
  readonly logged: readonly unknown[];
  readonly sizes: ReadonlySet<number>;
}

/** Each organization has so many runs to seal. @param told is called after each turn of one */
function rig(
  left: Record<string, number>,
  { told = () => {}, begun = () => {} }: Partial<Record<'told' | 'begun', (rig: Rig) => void>> = {},
): Rig {
  const clock = new ManualClock();
  const asked: string[] = [];
  const logged: unknown[] = [];
  const sizes = new Set<number>();
  const sealed = new Map<string, number>();
  const store: Pick<AuditStore, 'unsealed' | 'seal'> = {
    unsealed: async () => Object.keys(left).filter((org) => (left[org] ?? 0) > 0),
    seal: async (org, limit) => {
      asked.push(org);
      sizes.add(limit);
      begun(made);
      const added = Math.min(left[org] ?? 0, limit);
      left[org] = (left[org] ?? 0) - added;
      sealed.set(org, (sealed.get(org) ?? 0) + added);
      return added === 0 ? null : { added, head: { n: sealed.get(org) ?? 0, link: `l${sealed.get(org)}` } };
    },
  };
  const info = (facts: unknown): void => {
    logged.push(facts);
    told(made);
  };
  const logger: Logger = { ...silentLogger, info };
  const encryptor = { hash: (text: string) => text } as Encryptor;
  const made = {
    sealer: new AuditSealer(store as AuditStore, encryptor, clock, logger),
    clock,
    asked,
    logged,
    sizes,
    left,
  };
  return made;
}

describe('housekeeping/audit/audit-sealer', () => {
  it('seals until none is left, however many there are', async () => {
    const { sealer, left } = rig({ acme: 60_000 });

    const chains = await sealer.run();

    expect(left).toEqual({ acme: 0 });
    expect(chains).toEqual([{ org: 'acme', added: 60_000, head: { n: 60_000, link: 'l60000' } }]);
  });

  it('gives each organization a turn, and logs the head of its chain after it', async () => {
    const { sealer, asked, logged, sizes } = rig({ acme: 2_500, other: 3 });

    const chains = await sealer.run();

    expect(chains.map(({ org, added }) => [org, added])).toEqual([
      ['acme', 2_500],
      ['other', 3],
    ]);
    // 3 of `other` wait for one turn of `acme`, not for all that it has.
    expect(asked.indexOf('other')).toBeLessThan(asked.length / 2);
    expect(logged).toEqual([
      { org: 'acme', added: 1_000, head: '1000:l1000' },
      { org: 'other', added: 3, head: '3:l3' },
      { org: 'acme', added: 1_000, head: '2000:l2000' },
      { org: 'acme', added: 500, head: '2500:l2500' },
    ]);
    expect(sizes).toEqual(new Set([50]));
  });

  it('joins the pass that runs, and ends after the batch under way when it is told to stop', async () => {
    const begun = ({ sealer }: Rig): void => void sealer.stop();
    const { sealer, asked, left } = rig({ acme: 1_000, other: 1_000 }, { begun });

    const running = sealer.run();
    expect(sealer.run()).toBe(running);

    expect(await running).toHaveLength(1);
    expect(asked).toEqual(['acme']);
    expect(left).toEqual({ acme: 950, other: 1_000 });
  });

  it('leaves what is left after some minutes to the next pass, so that its results are seen', async () => {
    const told = ({ clock }: Rig): void => clock.advance(PASS_MS / 2);
    const { sealer, left } = rig({ acme: 5_000 }, { told });

    await sealer.run();
    expect(left).toEqual({ acme: 3_000 });
    await sealer.run();
    expect(left).toEqual({ acme: 1_000 });
  });

  it('deletes old acts batch by batch until none is left', async () => {
    let left = 120;
    const asked: unknown[] = [];
    const deleteActs: AuditStore['deleteActs'] = async (limit, { now, days, key }) => {
      asked.push([limit, now, days, key.id]);
      const deleted = Math.min(limit, left);
      left -= deleted;
      return deleted;
    };
    const clock = new ManualClock();
    const encryptor = { hash: (text: string) => text } as Encryptor;
    const sealer = new AuditSealer({ deleteActs } as AuditStore, encryptor, clock, silentLogger);

    expect(await sealer.deleteActs(500)).toBe(120);
    expect(asked).toEqual(Array(3).fill([50, clock.now(), 500, 'forgehand audit']));
  });
});
