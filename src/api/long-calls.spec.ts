import { describe, expect, it } from '@jest/globals';
import { UserError } from '../core/errors.js';
import { silentLogger } from '../core/logger.js';
import { tellProgress } from '../core/progress.js';
import { Secret } from '../core/secret.js';
import { silentSecurityLog } from '../core/security-log.js';
import { untilEnded } from '../cli/reach-bot.js';
import { Metrics } from '../observability/metrics.js';
import { buildControlServer } from './control-server.js';
import { LongCalls } from './long-calls.js';
import type { Control } from './operations/index.js';

/** A job that ends when the test says so. */
class Job {
  begun = 0;
  private end: (outcome: Promise<object>) => void = () => {};
  private readonly outcome = new Promise<object>((resolve) => (this.end = resolve));

  readonly run = async (): Promise<never> => {
    this.begun += 1;
    tellProgress(3, 1_000);
    return (await this.outcome) as never;
  };

  done(answer: object): void {
    this.end(Promise.resolve(answer));
  }

  fail(error: Error): void {
    const failure = Promise.reject(error);
    failure.catch(() => undefined);
    this.end(failure);
  }
}

function serve(job: Job) {
  const longCalls = new LongCalls({ monotonicMs: () => performance.now() }, silentLogger);
  const look: Control['operations']['longCall'] = async ({ id, waitMs }, caller) => {
    const { tellCall } = await import('./operations/tell-call.js');
    return tellCall(await longCalls.look(caller, id, waitMs)) as never;
  };
  const server = buildControlServer({
    service: () => ({ operations: { runJob: job.run, longCall: look }, longCalls }) as unknown as Control,
    metrics: new Metrics(),
    logger: silentLogger,
    security: silentSecurityLog,
    now: () => new Date(),
    place: 'socket',
    token: new Secret('canary-control-token-of-32-bytes!!'),
  });
  const ask = async (payload: object = {}) =>
    server.inject({ method: 'POST', url: '/v1/housekeeping/hooks.audit/run', payload });
  const send = async (method: 'GET' | 'POST', url: string) => {
    const { statusCode: status, payload: text } = await server.inject({ method, url });
    return { status, text };
  };
  return { server, ask, send };
}

describe('api/long-calls', () => {
  it('answers at once with an id, tells how far it is, and its answer in the end', async () => {
    const job = new Job();
    const { ask, send } = serve(job);

    const accepted = await ask();
    expect(accepted.statusCode).toBe(202);
    expect(accepted.json()).toEqual({ id: expect.any(String), state: 'running', progress: { done: 3, of: 1_000 } });
    const waiting = untilEnded(send, accepted.payload);
    job.done({ runs: [] });

    expect(JSON.parse((await waiting).text)).toMatchObject({ state: 'done', answer: { runs: [] } });
  });

  it('answers what ends soon as any other call', async () => {
    const job = new Job();
    const { ask } = serve(job);
    job.done({ runs: [] });

    const answer = await ask();
    expect([answer.statusCode, answer.json()]).toEqual([200, { runs: [] }]);
  });

  it('joins the same call while it runs, whatever the reason, and no other', async () => {
    const job = new Job();
    const { ask } = serve(job);

    const [first, second, other] = await Promise.all([ask(), ask({ reason: 'it was slow' }), ask({ org: 'acme' })]);
    const ids = [first, second, other].map((answer) => answer.json<{ id: string }>().id);
    expect([ids[0] === ids[1], ids[0] === ids[2], job.begun]).toEqual([true, false, 2]);
    job.done({ runs: [] });
    await ask();
    expect((await ask()).statusCode).toBe(200);
    expect(job.begun).toBe(4);
  });

  it('tells an error as the call itself would have', async () => {
    const job = new Job();
    const { ask, send } = serve(job);

    const accepted = await ask();
    job.fail(new UserError('NO_SUCH_JOB', 'there is no job'));

    expect(JSON.parse((await untilEnded(send, accepted.payload)).text)).toMatchObject({
      state: 'failed',
      error: 'NO_SUCH_JOB',
      message: 'there is no job',
    });
    expect((await ask()).json()).toEqual({ error: 'NO_SUCH_JOB', message: 'there is no job' });
  });

  it('logs a fault of ours once, whether or not somebody still waits', async () => {
    const logged: unknown[] = [];
    const logger = { ...silentLogger, error: (facts: object) => void logged.push(facts) };
    const calls = new LongCalls({ monotonicMs: () => 0 }, logger);
    const ann = { kind: 'operator', name: 'ann' } as never;
    const fault = new TypeError('a fault of ours');
    let fail: () => void = () => {};
    const failing = new Promise<never>((_, reject) => (fail = () => reject(fault)));

    const ran = await calls.run(ann, 'runJob', {}, () => failing, 0);
    fail();
    if ('call' in ran) await ran.call.ended;
    await new Promise((resolve) => setImmediate(resolve));
    expect(logged).toEqual([{ operation: 'runJob', error: fault }]);

    // In time it is thrown, and logged by whoever answers.
    await expect(calls.run(ann, 'runJob', { n: 2 }, () => Promise.reject(fault), 1_000)).rejects.toBe(fault);
    const told = calls.run(ann, 'runJob', { n: 3 }, () => Promise.reject(new UserError('NO_SUCH_JOB', 'x')), 1_000);
    await expect(told).rejects.toThrow('x');
    expect(logged).toHaveLength(1);
  });

  it('tells nobody but its caller of it', async () => {
    const calls = new LongCalls({ monotonicMs: () => 0 }, silentLogger);
    const caller = (name: string) => ({ kind: 'operator', name }) as never;
    const { id } = calls.begin(caller('ann'), 'runJob', {}, async () => ({ secret: 1 }));

    expect((await calls.look(caller('ann'), id, 1_000)).outcome).toEqual({ answer: { secret: 1 } });
    await expect(calls.look(caller('bob'), id, 0)).rejects.toThrow('there is no call');
  });

  it('keeps answers for an hour, and no more than 200', async () => {
    let now = 0;
    const calls = new LongCalls({ monotonicMs: () => now }, silentLogger);
    const ann = { kind: 'operator', name: 'ann' } as never;
    const begin = async (n: number): Promise<string> => {
      const { id, ended } = calls.begin(ann, 'runJob', { n }, async () => n);
      await ended;
      return id;
    };
    const isKept = (id: string): Promise<boolean> =>
      calls.look(ann, id, 0).then(
        () => true,
        () => false,
      );
    const ids: string[] = [];
    for (let n = 0; n < 202; n += 1) ids.push(await begin(n));

    expect([await isKept(ids[0] ?? ''), await isKept(ids[1] ?? ''), await isKept(ids[201] ?? '')]).toEqual([
      false,
      true,
      true,
    ]);
    now = 3_600_000;
    await begin(999);
    expect(await isKept(ids[201] ?? '')).toBe(false);
  });
});
