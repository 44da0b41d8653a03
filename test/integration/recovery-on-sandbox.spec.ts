import { afterEach, describe, expect, it } from '@jest/globals';
import type { Intent } from '../../src/core/run.js';
import type { Fault } from '../../src/sandbox/faults/fault-plan.js';
import { useFaultPlan } from '../../src/sandbox/faults/fault-route.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { until } from '../services/until.js';
import type { EffectRig } from '../builders/effect-rig.js';
import { rigOn } from './support/rig-on-sandbox.js';
import { saying, sentenceOf } from '../builders/reasons.js';

/** A second label or milestone would be taken; a second edit of a published release would tell people twice. */
const WAIT_WITHOUT_A_READ = ['label.ensure', 'milestone.ensure', 'release.update'];

const FAULTS: ReadonlyArray<readonly [string, Fault]> = [
  ['a reset before the effect', { kind: 'reset', when: 'before' }],
  ['a reset after the effect', { kind: 'reset', when: 'after' }],
  ['a 502 before the effect', { kind: 'status', when: 'before', status: 502, body: 'html' }],
  ['a 500 after the effect', { kind: 'status', when: 'after', status: 500, body: 'json' }],
  ['a cut body', { kind: 'cut', framed: true }],
  ['a page in place of JSON', { kind: 'wrong-type', as: 'html' }],
  ['an effect that comes after the answer', { kind: 'late', ms: [20, 60], answer: 'status' }],
];

const open: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
});

/** Work and read, with time passing, until the intent has ended or waits. */
async function bringToEnd(rig: EffectRig, sandbox: Sandbox, id: string): Promise<Intent> {
  for (let n = 0; n < 8; n += 1) {
    // What is late has come before the settle time is over: that is what the settle time is.
    await until(async () =>
      sandbox.parts.ledger.entries.every(
        ({ fault, appliedAt, operation }) => fault !== 'late' || appliedAt !== null || operation === null,
      ),
    );
    const intent = await rig.recover(id);
    if (!['planned', 'unknown', 'sent', 'claimed'].includes(intent.state)) return intent;
    await rig.work(id);
  }
  return rig.recover(id);
}

describe.each(['gitea', 'core'] as const)('integration/recovery-on-sandbox: %s', (profile) => {
  it.each(FAULTS)('comes through %s with one effect of each write', async (_, fault) => {
    const { rig, repo, wishes, sandbox } = await rigOn(profile, open);
    const ends: string[] = [];
    for (const [action, params] of wishes) {
      useFaultPlan(sandbox.parts, {
        seed: 1,
        calls: [{ name: fault.kind, on: 'writes', percent: 100, at_most: 1, fault }],
      });
      const from = sandbox.parts.ledger.entries.length;
      const first = await rig.want(action, params, { repo });
      const end = await bringToEnd(rig, sandbox, first.id);
      const calls = sandbox.parts.ledger.entries
        .slice(from)
        .filter(({ method }) => method !== 'GET' && method !== 'HEAD');
      const effects = calls.filter(({ applied }) => applied.length > 0).length;
      expect(calls[0]?.fault).toBe(fault.kind);

      const waits = profile === 'core' && WAIT_WITHOUT_A_READ.includes(action);
      const isWell = waits ? end.state === 'waiting' && calls.length === 1 : ['done', 'unchanged'].includes(end.state);
      ends.push(isWell ? action : `${action}: ${end.state} after ${calls.length} calls (${sentenceOf(end.reason)})`);
      // Where nothing can be read, absolute values may be sent twice; one name never stands twice.
      if (profile === 'gitea') expect({ action, effects }).toEqual({ action, effects: 1 });
    }

    expect(ends).toEqual(wishes.map(([action]) => action));
  });
});

describe('integration/recovery-on-sandbox: what the forge never allows', () => {
  it('ends refused, with the words of the forge, where a branch of that name is not allowed', async () => {
    const { rig, repo, sandbox } = await rigOn('gitea', open);
    const made = await fetch(`${sandbox.apiUrl}/repos/acme/app/branch_protections`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${sandbox.admin.login}:${sandbox.admin.password}`)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ rule_name: 'release/**', enable_push: false }),
    });
    expect(made.status).toBe(201);

    let intent = await rig.want('branch.create', { new_branch_name: 'release/9', old_ref_name: 'main' }, { repo });
    for (let n = 0; n < 8 && intent.state !== 'refused'; n += 1) {
      rig.clock.advance(900_000);
      intent = await rig.recover(intent.id);
      await rig.work(intent.id);
    }

    expect(intent).toMatchObject({
      state: 'refused',
      attempts: 3,
      reason: saying(expect.stringContaining('branch release/9 is protected from changes')),
    });
  });
});
