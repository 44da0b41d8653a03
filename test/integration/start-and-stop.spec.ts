import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DataSource, type MigrationInterface } from 'typeorm';
import { AdminListening, ControlSocket } from '../../src/api/admin-listeners.js';
import { reachBot } from '../../src/cli/reach-bot.js';
import type { AppConfig } from '../../src/config/app-config.js';
import { readConfig } from '../../src/config/read-config.js';
import { silentLogger, type Logger } from '../../src/core/logger.js';
import { ConnectedForges } from '../../src/forge/connected-forges.js';
import { ArchiveInbox } from '../../src/housekeeping/archive-inbox.js';
import { IntervalJobs } from '../../src/housekeeping/interval-jobs.cron.js';
import { JobRunner } from '../../src/housekeeping/jobs/job-runner.js';
import { Scheduler } from '../../src/housekeeping/scheduler.js';
import { startBot, type RunningBot } from '../../src/main.js';
import { AlertSender } from '../../src/observability/alert-sender.js';
import { CountedSecurityLog } from '../../src/observability/counted-security-log.js';
import { DecideTurns } from '../../src/pipeline/decide/decide-turns.js';
import { Executor } from '../../src/pipeline/execute/executor.js';
import { StorePoll } from '../../src/pipeline/store-poll.js';
import { PollLoop } from '../../src/polling/poll-loop.js';
import { Lines } from '../../src/queue/lines.js';
import { CapabilityCheck } from '../../src/rules/requirements/capability-check.js';
import { RevisionKeeper } from '../../src/rules/revisions/revision-keeper.js';
import { RuleChecks } from '../../src/pipeline/answer/rule-checks.js';
import { RuleVerdicts } from '../../src/rules/sources/rule-verdicts.js';
import { WebhookListener } from '../../src/webhooks/webhook-listener.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';

/** Nobody answers there, and the bot starts all the same. */
const NO_FORGE = { apiUrl: 'http://127.0.0.1:9/api/v1' };

let dir: string;
let steps: string[];
let bot: RunningBot | null;
/** What a test does between the call of a step and what it does. */
let meanwhile: Record<string, (...given: unknown[]) => Promise<unknown>>;

/** Note when a method is called, and when what it promises has come. */
function watch<Of extends object>(of: Of, method: keyof Of & string, step: string): void {
  const original = of[method] as (...given: unknown[]) => unknown;
  const spied = jest.spyOn(of as Record<string, (...given: unknown[]) => unknown>, method);
  spied.mockImplementation(function (this: unknown, ...given) {
    steps.push(step);
    const before = meanwhile[step];
    const result = before ? before(...given).then(() => original.apply(this, given)) : original.apply(this, given);
    return result instanceof Promise ? result.finally(() => steps.push(`${step}: done`)) : result;
  });
}

/** The template of a built store has all tables: this one is pending in any store. */
class Pending1999999999999 implements MigrationInterface {
  async up(): Promise<void> {}
  async down(): Promise<void> {}
}

function openTheStore(): void {
  const initialize = DataSource.prototype.initialize;
  jest.spyOn(DataSource.prototype, 'initialize').mockImplementation(async function (this: DataSource) {
    steps.push('open the store');
    const dataSource = await initialize.call(this);
    dataSource.migrations.push(new Pending1999999999999());
    steps.push('open the store: done');
    return dataSource;
  });
}

const STARTS: ReadonlyArray<() => void> = [
  () => watch(ControlSocket, 'hold', 'lock'),
  openTheStore,
  () => watch(DataSource.prototype, 'runMigrations', 'migrate'),
  () => watch(AdminListening.prototype, 'onModuleInit', 'listen for operators'),
  () => watch(ConnectedForges.prototype, 'start', 'forges'),
  () => watch(RevisionKeeper.prototype, 'start', 'rules'),
  () => watch(WebhookListener.prototype, 'onApplicationBootstrap', 'listen for deliveries'),
  () => watch(Lines.prototype, 'serve', 'take rings'),
  () => watch(StorePoll.prototype, 'start', 'poll'),
  () => watch(IntervalJobs.prototype, 'onApplicationBootstrap', 'timers'),
];

/** Loops: each is told to stop before any is waited for. */
const LOOPS: ReadonlyArray<() => void> = [
  () => watch(ConnectedForges.prototype, 'stop', 'stop reads'),
  () => watch(CapabilityCheck.prototype, 'stop', 'stop checks'),
  () => watch(RevisionKeeper.prototype, 'stop', 'stop rules'),
  () => watch(RuleVerdicts.prototype, 'stop', 'stop verdicts'),
  () => watch(RuleChecks.prototype, 'stop', 'stop rule checks'),
  () => watch(PollLoop.prototype, 'stop', 'stop polls'),
  () => watch(ArchiveInbox.prototype, 'stop', 'stop archive'),
  () => watch(Scheduler.prototype, 'stop', 'stop schedules'),
  () => watch(JobRunner.prototype, 'idle', 'jobs end'),
  () => watch(StorePoll.prototype, 'stop', 'stop poll'),
  () => watch(DecideTurns.prototype, 'stop', 'stop deciding'),
  () => watch(Executor.prototype, 'stop', 'stop calls'),
];

const STOPPED = [
  'stop reads',
  'stop checks',
  'stop rules',
  'stop verdicts',
  'stop rule checks',
  'stop polls',
  'stop archive',
  'stop schedules',
  'jobs end',
  'stop poll',
  'stop deciding',
];

const CLOSES: ReadonlyArray<() => void> = [
  () => watch(AdminListening.prototype, 'beforeApplicationShutdown', 'close to operators'),
  () => watch(WebhookListener.prototype, 'onApplicationShutdown', 'deliveries written'),
  () => watch(Lines.prototype, 'close', 'close the queue'),
  () => watch(DataSource.prototype, 'destroy', 'close the store'),
  () => watch(ControlSocket.prototype, 'close', 'unlock'),
  () => watch(CountedSecurityLog.prototype, 'close', 'end the security log'),
  () => watch(AlertSender.prototype, 'close', 'end alerts'),
];

function configOf(changes: object = {}): AppConfig {
  mkdirSync(join(dir, 'rules'), { recursive: true });
  writeFileSync(join(dir, 'rules', 'empty.yaml'), 'version: 1\n');
  writeFileSync(
    join(dir, 'forgehand.yaml'),
    JSON.stringify({ ...acmeConfig(NO_FORGE), console: { enabled: false }, ...changes }),
    { mode: 0o600 },
  );
  return readConfig(join(dir, 'forgehand.yaml'));
}

const logger: Logger = { ...silentLogger, info: (_facts: unknown, text?: string) => void steps.push(`log: ${text}`) };
const start = async (config: AppConfig): Promise<RunningBot> => (bot = await startBot(config, { role: 'all', logger }));
const position = (step: string): number => {
  expect(steps).toContain(step);
  return steps.indexOf(step);
};

describe('start and stop', () => {
  beforeEach(() => {
    Object.assign(process.env, { FORGE_TOKEN: 'token', HOOK: 'the secret of the hook' });
    dir = mkdtempSync(join(tmpdir(), 'fh-order-'));
    steps = [];
    bot = null;
    meanwhile = {};
    for (const one of [...STARTS, ...LOOPS, ...CLOSES]) one();
  });
  afterEach(async () => {
    await bot?.close();
    jest.restoreAllMocks();
    rmSync(dir, { recursive: true, force: true });
  });

  it('starts one step after the other, and stops in the opposite order', async () => {
    const config = configOf();
    const answers: string[] = [];
    const askForStatus = async (): Promise<void> => {
      const reach = await reachBot(join(dir, 'forgehand.yaml'));
      expect(reach.running).toBe(true);
      const answer = reach.call('status').then(
        () => 'told',
        (error: Error) => error.message,
      );
      answers.push(await answer);
      await reach.close();
    };
    meanwhile = { migrate: askForStatus };

    await start(config);

    // Nothing is acknowledged before it can be stored, and nothing is worked on before forges and rules are ready.
    expect(steps.filter((step) => !step.startsWith('log: ') || step === 'log: forgehand.started')).toEqual([
      'lock',
      'lock: done',
      'open the store',
      'open the store: done',
      'migrate',
      'migrate: done',
      'listen for operators',
      'listen for operators: done',
      'forges',
      'forges: done',
      'rules',
      'rules: done',
      'listen for deliveries',
      'listen for deliveries: done',
      ...Array.from({ length: 4 }, () => ['take rings', 'take rings: done']).flat(),
      'poll',
      // Those of every process, of one that schedules, and of one that receives.
      ...Array.from({ length: 3 }, () => 'timers'),
      'log: forgehand.started',
    ]);
    // No control order is taken before it can be carried out, and who asks is answered all the same.
    await askForStatus();
    expect(answers).toEqual(['the bot is starting or stopping: try again in a moment', 'told']);

    steps = [];
    meanwhile = {
      'stop calls': async (graceMs) => {
        expect(graceMs).toBe(5_500);
        // No loop waits for the turn of another: all have been told to stop while this one is not done.
        await until(() => STOPPED.every((step) => steps.includes(step)));
      },
    };
    await Promise.all([bot?.close(), bot?.close()]);
    await bot?.close();

    // No loop waits for the turn of another.
    for (const step of STOPPED) expect(position(step)).toBeLessThan(position('stop calls: done'));
    // What closes comes after the end of them all, whichever loop is the last.
    const ends = new Set([...STOPPED, 'stop calls'].map((step) => `${step}: done`));
    const ended = steps.findLastIndex((step) => ends.has(step));
    expect(steps.slice(ended + 1).filter((step) => !step.startsWith('log: '))).toEqual([
      'close to operators',
      'close to operators: done',
      'deliveries written',
      'deliveries written: done',
      // What still reads is cut off.
      'stop reads',
      'close the queue',
      'close the queue: done',
      'close the store',
      'close the store: done',
      'unlock',
      'unlock: done',
      'end the security log',
      'end alerts',
      'end alerts: done',
    ]);
    expect(steps.at(-1)).toBe('log: forgehand.stopped');
  });

  it('closes what it opened, in the opposite order, when the port is taken; and nothing was worked on', async () => {
    const other: Server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const config = configOf({ server: { host: '127.0.0.1', port } });

    await expect(start(config)).rejects.toMatchObject({ code: 'PORT_TAKEN' });

    expect(steps).not.toContain('take rings');
    expect(steps).not.toContain('poll');
    expect(steps).not.toContain('log: forgehand.started');
    const closed = ['close the queue', 'close the store', 'unlock', 'end the security log', 'end alerts'];
    expect(steps.filter((step) => closed.includes(step))).toEqual(closed);
    await new Promise((resolve) => other.close(resolve));

    // The lock is free again. A forge that hangs for ever does not keep deliveries out for ever.
    steps = [];
    meanwhile = { forges: () => new Promise(() => undefined) };
    await start(config);
    expect(position('rules: done')).toBeGreaterThan(position('forges'));
    expect(bot?.webhookUrl).toBe(`http://127.0.0.1:${port}`);
  });

  it('closes the store and the lock when a migration fails; no part was made, and nothing listened', async () => {
    const config = configOf();
    meanwhile = { migrate: () => Promise.reject(new Error('the table is not there')) };

    await expect(start(config)).rejects.toThrow('the table is not there');

    for (const step of ['listen for operators', 'forges', 'rules', 'listen for deliveries', 'close the queue'])
      expect(steps).not.toContain(step);
    const closed = ['close the store', 'unlock', 'end the security log', 'end alerts'];
    expect(steps.filter((step) => closed.includes(step))).toEqual(closed);
    expect(existsSync(join(dir, 'data', 'run', 'control.sock'))).toBe(false);
  });
});
