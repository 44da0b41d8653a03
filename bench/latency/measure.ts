import { setTimeout as wait } from 'node:timers/promises';
import { parseJson } from '../../src/core/json.js';
import type { Deployment } from '../../test/chaos/rig/fleet.js';
import { ForgeProcess } from '../../test/chaos/rig/forge-process.js';
import { Sender } from '../../test/chaos/rig/send.js';
import { keyOf } from '../../test/chaos/workload.js';
import { until } from '../../test/services/until.js';
import { CallCounter } from '../support/call-counter.js';
import { labelDelivery, PER_REPO, startLabelFleet } from '../support/label-fleet.js';

export interface LatencyOrder {
  readonly deployment: Deployment;
  /** Deliveries that are measured. */
  readonly count: number;
  readonly everyMs: number;
  readonly profile: string | null;
}

/** Sent before, in the same rhythm: what a process does only at first is not what a delivery waits for. */
const WARM_UP = 25;
const LONGEST_MS = 60_000;

/** @returns ms from each delivery's first byte to the arrival of its write at the forge */
export async function measureLatency({ deployment, count, everyMs, profile }: LatencyOrder): Promise<number[]> {
  const all = WARM_UP + count;
  const forge = await ForgeProcess.start('gitea', Math.ceil(all / PER_REPO));
  const fleet = await startLabelFleet(deployment, forge, { profile });
  const sender = new Sender(() => fleet.receiver());
  try {
    const counter = new CallCounter(forge);
    await counter.skip();
    const sentAt = new Map<string, number>();
    const under: Array<Promise<void>> = [];
    const began = performance.now();
    for (let n = 0; n < all; n += 1) {
      await wait(Math.max(began + n * everyMs - performance.now(), 0));
      const delivery = labelDelivery(n, forge);
      sentAt.set(keyOf(n), Date.now());
      under.push(sender.deliver(delivery, () => false));
    }
    await Promise.all(under);
    const end = performance.now() + LONGEST_MS;
    await until(async () => {
      await counter.look();
      return counter.effects.length >= all || performance.now() > end;
    }, 100);
    if (counter.effects.length !== all) throw new Error(`${counter.effects.length} of ${all} effects came`);
    const arrivedAt = new Map(
      counter.effects.map(({ body, receivedAt }) => [
        String((parseJson(body ?? '{}') as { name?: string }).name),
        Date.parse(receivedAt),
      ]),
    );
    return Array.from({ length: count }, (_, n) => {
      const key = keyOf(WARM_UP + n);
      return (arrivedAt.get(key) ?? NaN) - (sentAt.get(key) ?? NaN);
    });
  } finally {
    await sender.close();
    // A profile is written at an orderly end.
    if (profile !== null) await fleet.stop();
    await fleet.close();
    await forge.stop();
  }
}
