import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { AlertSender } from './observability/alert-sender.js';
import { ControlSocket, startAdminListeners } from './api/admin-listeners.js';
import type { AdminListeners } from './api/admin-listeners.js';
import { buildControlServer } from './api/control-server.js';
import { explainListenError } from './api/explain-listen-error.js';
import type { Control } from './api/operations/index.js';
import { AppModule, type AppParts } from './app.module.js';
import { CONTROL, type Serves } from './api/api.module.js';
import type { Readiness } from './api/health.controller.js';
import type { AppConfig, Role } from './config/app-config.js';
import { RevisionKeeper } from './rules/revisions/revision-keeper.js';
import { systemClock } from './core/clock.js';
import type { FlushFailed } from './core/flush.js';
import { silentLogger, type Logger } from './core/logger.js';
import { makePrivate } from './core/private-files.js';
import { formatProblem } from './core/problem.js';
import { openStores } from './store/open-stores.js';
import type { Stores } from './store/open-stores.js';
import { Executor } from './pipeline/execute/executor.js';
import { Sweep } from './pipeline/recover/sweep.js';
import { ConnectedForges } from './forge/connected-forges.js';
import { ArchiveInbox } from './housekeeping/archive-inbox.js';
import { JobRunner } from './housekeeping/jobs/job-runner.js';
import { CapabilityCheck } from './rules/requirements/capability-check.js';
import { RuleVerdicts } from './rules/sources/rule-verdicts.js';
import { Scheduler } from './housekeeping/scheduler.js';
import { TrustedProxies } from './webhooks/client-address.js';
import { fastifyLimits } from './webhooks/server-limits.js';
import { PollLoop } from './polling/poll-loop.js';
import { ArrivalToIntents } from './pipeline/decide.js';
import { CountedSecurityLog } from './observability/counted-security-log.js';
import { Metrics } from './observability/metrics.js';
import { NestLogAdapter } from './observability/logger.js';
import { RATE_LIMIT_BROADCAST, type RateLimitBroadcast } from './forge/http/rate-limit-broadcast.port.js';
import { WAKE_QUEUE } from './pipeline/wake-queue.port.js';
import type { WakeQueue } from './pipeline/wake-queue.port.js';

export interface StartOptions {
  role: Role;
  logger: Logger;
  /**
   * The disk did not confirm a write: end the process before anything else is done. Optional: without it, the store answers nothing more.
   */
  onFlushFailed?: (error: FlushFailed) => void;
}

export interface RunningBot {
  /** `http://host:port` of the webhook endpoint; null for roles without one. */
  readonly webhookUrl: string | null;
  /** Where else it listens, for people: `control …`, `metrics …`. */
  readonly places: readonly string[];
  /** Stop taking, finish what runs, close everything. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * A stop has ten seconds in all, as supervisors give it: reads under way may take the first of these, calls that change something the
 * second, requests of others and the queue the third. What is not done then is taken up by the next process.
 */
const READ_GRACE_MS = 2_000;
const WORK_GRACE_MS = 5_500;
const CLOSE_GRACE_MS = 1_000;
/** Longest wait for the forges before the endpoint opens. */
const CONNECT_WAIT_MS = 2_000;
const ROOM_ASKED_EVERY_MS = 5_000;
/**
 * One of each is not for the organization that has all the others, where the queue knows whose work it is. Arrivals that wait at the same time are
 * decided in one transaction, however many.
 */
const WORKERS_PER_TOPIC = { arrival: 9, event: 5, intent: 17, upkeep: 5 } as const;

/**
 * Start the bot in this process: lock and store, tables, parts, forges, rules, listeners, loops; in that order, so that nothing is
 * acknowledged before it can be stored, and no control order is taken before it can be carried out.
 * @throws UserError, InvalidFile, StoreUnavailable with what to do about it
 */
export async function startBot(config: AppConfig, { role, logger, onFlushFailed }: StartOptions): Promise<RunningBot> {
  const bot = new Bot(config, role, logger, onFlushFailed);
  try {
    await bot.start();
  } catch (error) {
    await bot.close();
    throw error;
  }
  return bot;
}

/** The control API over the store for the time of one command, when no bot runs. */
export async function openControl(config: AppConfig): Promise<{ server: FastifyInstance; close: () => Promise<void> }> {
  const bot = new Bot(config, 'all', silentLogger);
  try {
    return { server: await bot.openForCommand(), close: () => bot.close() };
  } catch (error) {
    await bot.close();
    throw error;
  }
}

/** One process of the bot, from its start to its stop; what was opened is closed in the opposite order. */
class Bot implements RunningBot {
  webhookUrl: string | null = null;
  readonly places: string[] = [];
  private readonly startedAt = systemClock.now();
  private readonly metrics = new Metrics(true);
  private readonly closers: Array<() => Promise<unknown>> = [];
  private closing: Promise<void> | null = null;
  private readonly alerts: AlertSender;
  private readonly security: CountedSecurityLog;
  private control: Control | null = null;
  private isReady = false;
  private room: { askAtMs: number; answer: Promise<boolean> } = { askAtMs: 0, answer: Promise.resolve(true) };

  constructor(
    private readonly config: AppConfig,
    private readonly role: Role,
    private readonly logger: Logger,
    private readonly onFlushFailed: (error: FlushFailed) => void = () => undefined,
  ) {
    const { metrics } = this;
    this.alerts = new AlertSender(logger, metrics, systemClock, config.alerts);
    this.security = new CountedSecurityLog({ logger, metrics, alerts: this.alerts, clock: systemClock });
  }

  async start(): Promise<void> {
    const server = this.controlServer('socket');
    const socket = await ControlSocket.hold(this.config.control, server);
    if (socket) {
      this.closers.push(() => socket.close());
      this.places.push(`control ${socket.path}`);
    }
    for (const warning of this.config.warnings)
      this.logger.warn({ file: warning.file, line: warning.line, col: warning.col }, formatProblem(warning));
    const stores = await this.openStores();
    const app = await this.nestApp(stores);
    this.control = app.get<Control>(CONTROL);
    const listeners = await this.listeners(stores);
    this.places.push(...listeners.places);
    // Before anything watches or waits: a start that fails later must end as well.
    this.closers.push(() => this.stopWork(app));
    if (this.role !== 'web') {
      await this.connect(app.get(ConnectedForges));
      await app.get(RevisionKeeper).start();
    }
    await this.listen(app);
    await this.work(app);
    this.isReady = true;
    this.logger.info({ role: this.role, webhooks: this.webhookUrl, places: this.places }, 'forgehand started');
  }

  /** Everything made, nothing started but what a command needs. */
  async openForCommand(): Promise<FastifyInstance> {
    const server = this.controlServer('command');
    // The embedded store belongs to one process: this command is that process while it runs.
    const socket = this.config.store.kind === 'embedded' ? await ControlSocket.hold(this.config.control, server) : null;
    if (socket) this.closers.push(() => socket.close());
    const parts = this.parts(await this.openStores(), 'command', { missing: async () => [] });
    const app = await NestFactory.createApplicationContext(await AppModule.of(parts), { logger: false });
    this.closeWith(app);
    this.control = app.get<Control>(CONTROL);
    this.closers.push(async () => app.get(RevisionKeeper).stop());
    await app.get(RevisionKeeper).start();
    return server;
  }

  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private async closeAll(): Promise<void> {
    this.isReady = false;
    for (const close of this.closers.reverse())
      await close().catch((error: unknown) => this.logger.warn({ error }, 'a module did not stop cleanly'));
    this.logger.info({ role: this.role }, 'forgehand stopped');
  }

  private controlServer(place: 'socket' | 'command'): FastifyInstance {
    const { metrics, logger, security, config } = this;
    return buildControlServer({
      service: () => this.control,
      metrics,
      logger,
      security,
      now: () => systemClock.now(),
      place,
      token: config.control.token,
    });
  }

  private async openStores(): Promise<Stores> {
    const { config, logger, alerts, security, onFlushFailed } = this;
    this.closers.push(() => alerts.close());
    this.closers.push(async () => security.close());
    this.keepPrivate();
    const stores = await openStores(config.store, { logger, onFlushFailed });
    this.closers.push(() => stores.close());
    await stores.migrate();
    return stores;
  }

  private parts(stores: Stores, serves: Serves, readiness: Readiness): AppParts {
    const { config, logger, metrics, alerts, security, startedAt, onFlushFailed } = this;
    // A command needs neither the endpoint nor the timers of a role.
    const role = serves === 'command' ? 'worker' : this.role;
    return {
      config,
      process: { role, startedAt, onFlushFailed },
      clock: systemClock,
      logger,
      metrics,
      alerts,
      security,
      stores,
      serves,
      readiness,
    };
  }

  /** What this process keeps on the disk is for its own user, and for the group that the config names. */
  private keepPrivate(): void {
    const { store, retention } = this.config;
    const group = store.kind === 'embedded' ? (store.group ?? null) : null;
    process.umask(group === null ? 0o077 : 0o027);
    const folders = [
      ...(store.kind === 'embedded' ? [store.dir] : []),
      ...(retention.archive ? [retention.archive] : []),
    ];
    for (const folder of folders) {
      const mended = makePrivate(folder, group);
      if (mended.length > 0)
        this.logger.warn(
          { folder, count: mended.length, first: mended[0] },
          'files could be read or written by others: their mode bits were mended',
        );
    }
  }

  private async nestApp(stores: Stores): Promise<NestFastifyApplication> {
    const { maxBodyBytes, trustedProxies } = this.config.server;
    const proxies = new TrustedProxies(trustedProxies);
    const adapter = new FastifyAdapter({
      ...fastifyLimits(),
      bodyLimit: maxBodyBytes,
      trustProxy: (address: string) => proxies.trusts(address),
      routerOptions: { maxParamLength: 200 },
    });
    const parts = this.parts(stores, 'bot', { missing: () => this.missing(stores) });
    const app = await NestFactory.create<NestFastifyApplication>(await AppModule.of(parts), adapter, {
      logger: new NestLogAdapter(this.logger),
    });
    this.closeWith(app);
    return app;
  }

  /** The listener first, so that nothing new comes in; then the queue, which waits for what runs. */
  private closeWith(app: INestApplicationContext): void {
    this.closers.push(
      async () => app.get<RateLimitBroadcast>(RATE_LIMIT_BROADCAST).close(),
      () => app.get<WakeQueue>(WAKE_QUEUE).close(CLOSE_GRACE_MS),
      () => closeListener(app),
      async () => app.get(CapabilityCheck).stop(),
      async () => app.get(ConnectedForges).stop(0),
    );
  }

  /** A forge that is up is known before the first event is decided; one that does not answer must not keep deliveries out. */
  private async connect(forges: ConnectedForges): Promise<void> {
    const late = new AbortController();
    await Promise.race([
      forges.start(),
      wait(CONNECT_WAIT_MS, undefined, { signal: late.signal }).catch(() => undefined),
    ]);
    late.abort();
  }

  private async listeners(stores: Stores): Promise<AdminListeners> {
    const { config, metrics, logger, security } = this;
    const listeners = await startAdminListeners({
      control: config.control,
      metricsAt: config.metrics,
      service: () => this.control,
      readiness: { missing: () => this.missing(stores) },
      metrics,
      logger,
      security,
      now: () => systemClock.now(),
    });
    this.closers.push(() => listeners.close());
    return listeners;
  }

  private async listen(app: NestFastifyApplication): Promise<void> {
    const { host, port } = this.config.server;
    if (this.role !== 'web' && this.role !== 'all') {
      await app.init();
      return;
    }
    try {
      await app.listen(port, host);
    } catch (error) {
      throw explainListenError(error, 'the webhook endpoint', `${host}:${port}`);
    }
    this.webhookUrl = await app.getUrl();
    this.places.push(`webhooks ${this.webhookUrl}/webhooks/…`);
  }

  /** The loops of the role. */
  private async work(app: INestApplicationContext): Promise<void> {
    if (this.role !== 'worker' && this.role !== 'all') return;
    const [flow, queue] = [app.get(ArrivalToIntents), app.get<WakeQueue>(WAKE_QUEUE)];
    await queue.consume('arrival', WORKERS_PER_TOPIC.arrival, (id) => flow.decideArrival(id));
    await queue.consume('event', WORKERS_PER_TOPIC.event, (id) => flow.decideEvent(id));
    await app.get(Executor).start(WORKERS_PER_TOPIC.intent, WORKERS_PER_TOPIC.upkeep);
    app.get(Sweep).start();
  }

  /** All loops at once: each takes nothing new and finishes what it has in hand, and none waits for another's turn. They stop before what they use is closed. */
  private async stopWork(app: INestApplicationContext): Promise<void> {
    app.get(ConnectedForges).stop(READ_GRACE_MS);
    app.get(CapabilityCheck).stop();
    await Promise.all([
      app.get(RevisionKeeper).stop(),
      app.get(RuleVerdicts).stop(),
      app.get(PollLoop).stop(),
      app.get(ArchiveInbox).stop(),
      app
        .get(Scheduler)
        .stop()
        .then(() => app.get(JobRunner).idle()),
      app.get(Sweep).stop(),
      app.get(Executor).stop(WORK_GRACE_MS),
    ]);
  }

  private async missing(stores: Stores): Promise<string[]> {
    const starting = this.isReady ? [] : ['start or stop under way'];
    if (!(await stores.ping())) return [...starting, 'the store does not answer'];
    return (await this.hasRoom(stores)) ? starting : [...starting, 'the disk of the store is full'];
  }

  /** Anybody may ask whether the bot is ready: the store is asked for room now and then. */
  private async hasRoom(stores: Stores): Promise<boolean> {
    const now = systemClock.monotonicMs();
    if (now >= this.room.askAtMs) this.room = { askAtMs: now + ROOM_ASKED_EVERY_MS, answer: stores.hasRoom() };
    return this.room.answer;
  }
}

/** Requests under way are answered; what is so slow that it would hold the stop up is cut off, and its sender told nothing. */
async function closeListener(app: INestApplicationContext): Promise<void> {
  const server = 'getHttpServer' in app ? (app as NestFastifyApplication).getHttpServer() : null;
  const timer = setTimeout(() => server?.closeAllConnections(), CLOSE_GRACE_MS);
  await app.close();
  clearTimeout(timer);
}
