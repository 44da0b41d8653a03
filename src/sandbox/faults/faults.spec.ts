import { afterEach, describe, expect, it } from '@jest/globals';
import { makeOrganization } from '../resources/organization.js';
import { makeRepository } from '../resources/repository.js';
import { makeToken } from '../resources/token.js';
import { makeUser } from '../resources/user.js';
import { type Sandbox, startSandbox } from '../start-sandbox.js';
import { useFaultPlan } from './fault-route.js';
import { CallFaults } from './call-faults.js';
import { faultPlanSchema, type Fault } from './fault-plan.js';

let sandbox: Sandbox;

afterEach(() => sandbox?.close());

/** A repository `acme/app`; every creation of a label meets the fault. */
async function aFaultyForge(fault: Fault | null, latency?: object) {
  sandbox = await startSandbox();
  const { world, admin } = sandbox.parts;
  const olga = makeUser(world, { login: 'olga' });
  const org = makeOrganization(world, { name: 'acme', owner: olga });
  makeRepository(world, admin, { owner: org, name: 'app', files: { 'README.md': '# app\n' } });
  const token = makeToken(world, olga, 'all', ['all']).value;
  const plan = { seed: 1, latency, calls: fault ? [{ name: 'it', on: ['createLabel'], percent: 100, fault }] : [] };
  useFaultPlan(sandbox.parts, faultPlanSchema.parse(plan));
  const post = async (): Promise<{ status: number; text: string; pieces: number; headers: Headers }> => {
    const answer = await fetch(`${sandbox.apiUrl}/repos/acme/app/labels`, {
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      body: '{"name":"bug","color":"#ff0000"}',
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body ?? []) pieces.push(piece as Uint8Array);
    return {
      status: answer.status,
      text: Buffer.concat(pieces).toString(),
      pieces: pieces.length,
      headers: answer.headers,
    };
  };
  const entry = () => sandbox.parts.ledger.entries.at(-1);
  return { post, entry, labels: () => [...world.labels.values()].filter(({ name }) => name === 'bug').length };
}

describe('sandbox/faults', () => {
  it('cuts the connection before the effect, or after it', async () => {
    const before = await aFaultyForge({ kind: 'reset', when: 'before' });
    await expect(before.post()).rejects.toThrow();
    expect(before.labels()).toBe(0);
    expect(before.entry()).toMatchObject({ fault: 'it', applied: [], status: null, answeredAt: null });
    await sandbox.close();

    const after = await aFaultyForge({ kind: 'reset', when: 'after' });
    await expect(after.post()).rejects.toThrow();
    expect(after.labels()).toBe(1);
    expect(after.entry()).toMatchObject({
      fault: 'it',
      applied: [{ kind: 'label', what: 'created' }],
      status: null,
      answeredAt: null,
    });
  });

  it('answers another status before the effect, or after it', async () => {
    const before = await aFaultyForge({ kind: 'status', status: 503, when: 'before', body: 'html' });
    expect(await before.post()).toMatchObject({ status: 503, text: expect.stringContaining('Bad Gateway') as unknown });
    expect(before.labels()).toBe(0);
    await sandbox.close();

    const after = await aFaultyForge({ kind: 'status', status: 500, when: 'after', body: 'json' });
    expect(await after.post()).toMatchObject({ status: 500 });
    expect(after.labels()).toBe(1);
  });

  it('applies a late call although its caller was let go, and waits for it when it is closed', async () => {
    const late = await aFaultyForge({ kind: 'late', ms: [300, 300], answer: 'status' });

    expect((await late.post()).status).toBe(504);
    expect(late.labels()).toBe(0);
    await sandbox.close();

    expect(late.labels()).toBe(1);
    const entry = late.entry();
    expect(Date.parse(entry?.appliedAt ?? '')).toBeGreaterThan(Date.parse(entry?.answeredAt ?? ''));
  });

  it('cuts a body on the wire, or under a length that fits', async () => {
    const wire = await aFaultyForge({ kind: 'cut', framed: false });
    await expect(wire.post()).rejects.toThrow();
    expect(wire.labels()).toBe(1);
    await sandbox.close();

    const framed = await aFaultyForge({ kind: 'cut', framed: true });
    const { status, text } = await framed.post();
    expect(status).toBe(201);
    expect(() => JSON.parse(text) as unknown).toThrow();
  });

  it.each(['html', 'list', 'texts', 'null', 'empty'] as const)('answers %s in place of the object', async (as) => {
    const forge = await aFaultyForge({ kind: 'wrong-type', as });

    const { status, text } = await forge.post();

    expect(status).toBe(201);
    expect(text).not.toContain('"bug"');
    expect(forge.labels()).toBe(1);
  });

  it('drips a body in small pieces', async () => {
    const forge = await aFaultyForge({ kind: 'slow', ms: 300 });

    const { status, text, pieces } = await forge.post();

    expect(status).toBe(201);
    expect(text).toContain('"bug"');
    expect(pieces).toBeGreaterThan(5);
  });

  it('sends elsewhere, and asks to wait in every way', async () => {
    const redirect = await aFaultyForge({ kind: 'redirect', status: 307 });
    const moved = await redirect.post();
    expect([moved.status, moved.headers.get('location')]).toEqual([307, '/api/v1/repos/acme-elsewhere/app/labels']);
    expect(redirect.labels()).toBe(0);
    await sandbox.close();

    for (const [wish, told] of [
      [undefined, null],
      [3, '3'],
      ['absurd', '31536000'],
    ] as const) {
      const limited = await aFaultyForge({ kind: 'rate-limit', retry_after: wish });
      const { status, headers } = await limited.post();
      expect([status, headers.get('retry-after'), limited.labels()]).toEqual([429, told, 0]);
      await sandbox.close();
    }
  });

  it('makes calls as slow as planned, and notes when their caller was answered', async () => {
    const forge = await aFaultyForge(null, { before_ms: [60, 60], after_ms: [60, 60] });

    await forge.post();
    await new Promise((resolve) => setImmediate(resolve));

    const { receivedAt = '', appliedAt, answeredAt } = forge.entry() ?? {};
    expect(Date.parse(appliedAt ?? '') - Date.parse(receivedAt)).toBeGreaterThanOrEqual(50);
    expect(Date.parse(answeredAt ?? '') - Date.parse(appliedAt ?? '')).toBeGreaterThanOrEqual(50);
  });

  it('takes a plan over its control route, and counts what was hit', async () => {
    const { post } = await aFaultyForge(null);
    const steer = async (method: string, body?: object): Promise<unknown> =>
      (
        await fetch(`${sandbox.url}/_sandbox/faults`, {
          method,
          headers: { authorization: `Bearer ${sandbox.controlToken}` },
          ...(body ? { body: JSON.stringify(body) } : {}),
        })
      ).json();

    expect(
      await steer('POST', { calls: [{ name: 'no', percent: 100, fault: { kind: 'status', when: 'sometimes' } }] }),
    ).toMatchObject({
      message: expect.stringContaining('calls.0.fault.when') as unknown,
    });
    await steer('POST', {
      calls: [{ name: 'no', percent: 100, at_most: 1, fault: { kind: 'status', when: 'before' } }],
    });
    expect([(await post()).status, (await post()).status]).toEqual([500, 201]);
    expect(await steer('GET')).toMatchObject({ hits: { no: 1 } });
    await steer('DELETE');
    expect(await steer('GET')).toMatchObject({ plan: null, hits: {} });
  });
});

describe('sandbox/faults/call-faults', () => {
  const plan = faultPlanSchema.parse({
    seed: 5,
    callers: ['bot'],
    calls: [
      { name: 'a', percent: 20, fault: { kind: 'reset', when: 'after' } },
      { name: 'b', percent: 5, fault: { kind: 'late', ms: [3000, 4500] } },
    ],
  });
  const call = { operation: 'createLabel', isWrite: true, caller: 'bot' };

  it('gives the n-th call of an operation the same fate under the same seed, whatever else is called', () => {
    const [one, other] = [new CallFaults(), new CallFaults()];
    one.use(plan);
    other.use(plan);

    const alone = Array.from({ length: 200 }, () => one.meet(call));
    const among = Array.from({ length: 200 }, () => {
      other.meet({ ...call, operation: 'createMilestone' });
      return other.meet(call);
    });

    expect(among).toEqual(alone);
    expect(alone.filter(({ name }) => name === 'a').length).toBeGreaterThan(20);
    for (const { lateMs } of alone.filter(({ name }) => name === 'b')) expect(lateMs).toBeGreaterThanOrEqual(3000);
  });

  it('leaves reads and other callers alone', () => {
    const faults = new CallFaults();
    faults.use(plan);

    const fates = Array.from({ length: 100 }, (_, n) =>
      faults.meet(n % 2 === 0 ? { ...call, caller: 'admin' } : { ...call, operation: 'listLabels', isWrite: false }),
    );

    expect(fates.filter(({ name }) => name !== null)).toEqual([]);
  });

  it('refuses two faults of one name, and more than a hundred percent', () => {
    const two = [...plan.calls, ...plan.calls];

    expect(faultPlanSchema.safeParse({ calls: two }).success).toBe(false);
    expect(
      faultPlanSchema.safeParse({
        calls: [
          { name: 'x', percent: 60, fault: plan.calls[0]?.fault },
          { name: 'y', percent: 60, fault: plan.calls[0]?.fault },
        ],
      }).success,
    ).toBe(false);
  });
});
