import { Metrics } from '../../../src/observability/metrics.js';
import type { AddressInfo } from 'node:net';
import pLimit from 'p-limit';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { aConfig } from '../../builders/a-config.js';
import { systemClock } from '../../../src/core/clock.js';
import type { EventKind } from '../../../src/core/event-kinds.js';
import type { JsonObject } from '../../../src/core/json.js';
import { silentLogger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import type { Stores } from '../../../src/store/open-stores.js';
import { Misfit } from '../../../src/events/event-fact.js';
import { deriveFacts, isNews, statedObjectOf } from '../../../src/events/derive/derive-facts.js';
import { deduplicateInto } from '../../../src/events/deduplicate.js';
import { idOf, objectOf } from '../../../src/events/read-fields.js';
import { readDelivery } from '../../../src/events/normalize-delivery.js';
import { normalizeDelivery } from '../../builders/normalize-delivery.js';
import { normalizeEntry } from '../../../src/events/normalize-entry.js';
import { entryKinds } from '../../../src/events/pairing-table.js';
import { createForgeClient } from '../../../src/forge/http/create-forge-client.js';
import { HookHistory } from '../../../src/polling/gaps/hook-history.js';
import { GapKeeper } from '../../../src/polling/gaps/gap-keeper.js';
import { decideArrival } from '../../builders/decide-all.js';
import { FeedPoller } from '../../../src/polling/feed-poller.js';
import { ForgeOwners } from '../../../src/forge/forge-owners.js';
import { KnownRepositories } from '../../../src/polling/known-repositories.js';
import { TaskPoller } from '../../../src/polling/task-poller.js';
import { makeWebhookApp } from '../../builders/webhook-app.js';
import { performAct } from '../../../src/sandbox/acts/perform-act.js';
import { seededRandom } from '../../../src/core/seeded-random.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { ManualClock } from '../../fakes/manual-clock.js';

export interface LossOptions {
  /** Deliveries the forge makes, at least. */
  readonly facts: number;
  readonly seed: number;
  /** Virtual seconds between two acts; default 1. */
  readonly actEveryS?: number;
  /** Empty tables. */
  readonly stores: Stores;
}

export interface LossReport {
  readonly seed: number;
  /** Deliveries made of kinds that rows can tell, and those among them that never arrived: dropped on the way, or sent while the bot was down. */
  readonly visible: number;
  readonly dropped: number;
  readonly whileDown: number;
  /** Fact keys: without an event when two polls had passed since their act; with more than one event. */
  readonly late: readonly string[];
  readonly doubled: readonly string[];
  /** Fact keys of injected gaps that the ledger does not list, and of those that it lists and nobody made. */
  readonly untold: readonly string[];
  readonly invented: readonly string[];
  readonly byClass: Readonly<Record<string, number>>;
  /** Deliveries among the visible ones that task rows tell. */
  readonly ofTasks: number;
  /** Pages of the feed per poll while nothing was new. */
  readonly idlePages: number;
}

const ORG = 'acme';
const SECRET = 'a-secret-of-the-hook';
const POLL_S = 60;
const DOWN_S = 600;
const START = '2026-11-20T12:00:00Z';

/**
 * An organization at work in virtual time, an act every second or so; half of the deliveries are dropped at random, and for ten minutes in the middle the
 * bot is down. The forge, the endpoint, the store, the deciding, both pollers and the ledger are the real ones; the clock alone is ours.
 */
export async function loseDeliveries({ facts, seed, stores, actEveryS = 1 }: LossOptions): Promise<LossReport> {
  const clock = new ManualClock(START);
  const sandbox = await startSandbox({ profile: 'gitea', clock });
  let bot = await Bot.start(stores, sandbox, clock, 0);
  try {
    await sandbox.parts.deliveries.settled();
    return await play({
      facts,
      seed,
      actEveryS,
      stores,
      sandbox,
      clock,
      bot: () => bot,
      restart: async () => (bot = await Bot.start(stores, sandbox, clock, bot.port)),
    });
  } finally {
    await bot.stop();
    await sandbox.close();
  }
}

interface Stage {
  facts: number;
  seed: number;
  actEveryS: number;
  stores: Stores;
  sandbox: Sandbox;
  clock: ManualClock;
  bot: () => Bot;
  restart: () => Promise<Bot>;
}

async function play({ facts, seed, actEveryS, stores, sandbox, clock, bot, restart }: Stage): Promise<LossReport> {
  const random = seededRandom(seed);
  const acts = new Acts(sandbox, () => random.next());
  await prepare(sandbox, bot().port);
  // The first poll ever: what stands there is history.
  clock.advance(5_000);
  await bot().poll();
  const { deliveries, world } = sandbox.parts;
  const newest = (): number => deliveries.history().at(-1)?.n ?? 0;
  const first = newest();
  deliveries.faults.dropPercent(50, seed);
  const seen = new Map<string, number>();
  const made: Made[] = [];
  /** Jobs that ran when the task list was read: no other start is ever told by a row. */
  const runningAtPoll = new Set<string>();
  const visit = async (): Promise<void> => {
    for (const task of world.tasks.values()) if (task.state === 'running') runningAtPoll.add(String(task.jobId));
    polls += 1;
    await bot().work();
    await count(stores, polls, seen);
  };
  let [polls, downUntil, hasBeenDown] = [0, 0, false];
  for (let second = 1; newest() - first < facts || polls < 3 || downUntil >= second; second += 1) {
    clock.advance(1_000);
    if (second % actEveryS === 0) await acts.next();
    await deliveries.settled();
    // The history keeps the last of them alone: what is new stands at its end.
    note(deliveries.history().slice(-(newest() - first - made.length) || Number.MAX_SAFE_INTEGER), made, polls);
    const isDown = downUntil > second;
    if (!hasBeenDown && newest() - first > facts / 2) {
      [hasBeenDown, downUntil] = [true, second + DOWN_S];
      await bot().stop();
    } else if (hasBeenDown && downUntil === second) await restart();
    if (isDown) continue;
    if (second % 5 === 0) await bot().keeper.beat();
    if (second % POLL_S === 0) await visit();
  }
  for (let n = 0; n < 3; n += 1) {
    clock.advance(POLL_S * 1000);
    await visit();
  }
  const idle = await bot().poll();
  return judge(stores, made, seen, runningAtPoll, { seed, idlePages: idle });
}

interface Made {
  readonly factKey: string;
  readonly kind: EventKind;
  readonly state: string;
  /** Of a job. */
  readonly jobId: string | null;
  /** Polls that had been made when the act happened. */
  readonly polls: number;
}

function note(
  records: ReadonlyArray<{ text: { type: string; json: string }; state: string }>,
  made: Made[],
  polls: number,
): void {
  for (const { text, state } of records) {
    const fact = normalizeDelivery({ org: 'acme', eventType: text.type, text: text.json });
    if (fact instanceof Misfit) throw new Error(`the forge sent a ${text.type} that is none`);
    made.push({
      factKey: fact.factKey,
      kind: fact.kind,
      state,
      polls,
      jobId: idOf(objectOf(fact.data.task)?.job_id) || null,
    });
  }
}

/** When each event was there first, in polls. */
async function count({ inbox }: Stores, polls: number, seen: Map<string, number>): Promise<void> {
  for (const id of await inbox.undecidedEvents(100_000)) if (!seen.has(id)) seen.set(id, polls);
}

async function judge(
  stores: Stores,
  made: readonly Made[],
  seen: ReadonlyMap<string, number>,
  runningAtPoll: ReadonlySet<string>,
  report: Pick<LossReport, 'seed' | 'idlePages'>,
): Promise<LossReport> {
  const visibleIn = entryKinds();
  const isTold = ({ kind, jobId }: Made): boolean =>
    visibleIn.get(kind) === 'feed' ||
    kind === 'task.finished' ||
    (kind === 'task.started' && jobId !== null && runningAtPoll.has(jobId));
  const visible = made.filter(isTold);
  const events = new Map<string, number[]>();
  for (const [id, polls] of seen) {
    const key = (await stores.inbox.event(id))?.factKey ?? '';
    events.set(key, [...(events.get(key) ?? []), polls]);
  }
  const wanted = new Map<string, Made[]>();
  for (const one of visible) wanted.set(one.factKey, [...(wanted.get(one.factKey) ?? []), one]);
  const late = [...wanted].filter(([key, times]) => {
    const came = [...(events.get(key) ?? [])].sort((a, b) => a - b);
    return times.some(({ polls }, n) => (came[n] ?? Number.POSITIVE_INFINITY) > polls + 2);
  });
  const doubled = [...wanted].filter(([key, times]) => (events.get(key) ?? []).length > times.length);
  const lost = visible.filter(({ state }) => state !== 'sent').map(({ factKey }) => factKey);
  const gaps = await stores.gaps.gaps({ limit: 1_000_000 });
  const told: string[] = [];
  for (const { eventId, entryKey } of gaps)
    told.push(eventId ? ((await stores.inbox.event(eventId))?.factKey ?? '') : `row ${entryKey}`);
  const byClass: Record<string, number> = {};
  for (const gap of gaps) byClass[gap.class] = (byClass[gap.class] ?? 0) + 1;
  return {
    ...report,
    visible: visible.length,
    ofTasks: visible.filter(({ jobId }) => jobId !== null).length,
    dropped: visible.filter(({ state }) => state === 'dropped').length,
    whileDown: visible.filter(({ state }) => state === 'failed').length,
    late: late.map(([key]) => key),
    doubled: doubled.map(([key]) => key),
    untold: minus(lost, told),
    invented: minus(told, lost),
    byClass,
  };
}

/** What one list has more than the other, each as often as it has it more. */
function minus(all: readonly string[], without: readonly string[]): string[] {
  const left = [...without];
  return all.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

async function prepare(sandbox: Sandbox, port: number): Promise<void> {
  for (const given of [{ user: 'olga' }, { org: ORG, owner: 'olga' }, { repo: `${ORG}/app`, auto_init: true }])
    await control(sandbox, 'given', given);
  const workflow =
    'on: workflow_dispatch\njobs:\n  build:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make\n';
  const files = { '.gitea/workflows/ci.yaml': workflow };
  await performAct(sandbox.parts, {
    as: 'olga',
    act: 'push',
    params: { repo: `${ORG}/app`, commits: [{ message: 'a workflow', files }] },
  });
  const events = [
    'push',
    'create',
    'delete',
    'issues',
    'issue_comment',
    'pull_request',
    'release',
    'repository',
    'workflow_job',
  ];
  await control(sandbox, 'hooks', { org: ORG, url: `http://127.0.0.1:${port}/webhooks/acme`, secret: SECRET, events });
}

async function control({ url, controlToken }: Sandbox, route: string, body: object): Promise<JsonObject> {
  const headers = { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/_sandbox/${route}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${route}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as JsonObject;
}

/** Acts of one job's life, one after the other. */
const JOB_LIFE = ['workflow.dispatch', 'job.claim', 'job.finish'] as const;

/** People at work: issues opened, talked about and closed, branches, tags, releases, pushes, repositories; and a runner. */
class Acts {
  private n = 0;
  private jobActs = 0;
  private readonly open: number[] = [];
  private issues = 0;

  constructor(
    private readonly sandbox: Sandbox,
    private readonly random: () => number,
  ) {}

  async next(): Promise<void> {
    this.n += 1;
    const repo = `${ORG}/app`;
    const dice = Math.floor(this.random() * 10);
    const number = this.open[0];
    if (dice <= 1 || (dice <= 3 && number === undefined)) {
      await this.do('issue.open', { repo, title: `Issue ${this.n}` });
      this.open.push((this.issues += 1));
    } else if (dice === 2) await this.do('comment.create', { repo, number: number ?? 0, body: `Comment ${this.n}` });
    else if (dice === 3) await this.do('issue.close', { repo, number: this.open.shift() ?? 0 });
    else if (dice === 4) await this.do('branch.create', { repo, branch: `b${this.n}` });
    else if (dice === 5) await this.do('tag.create', { repo, tag: `v${this.n}` });
    else if (dice === 6) await this.do('release.publish', { repo, tag: `r${this.n}`, name: `Release ${this.n}` });
    else if (dice >= 8) {
      await this.do(JOB_LIFE[this.jobActs % JOB_LIFE.length] ?? 'job.finish', { repo });
      this.jobActs += 1;
    } else await this.do('push', { repo, commits: [{ message: `push ${this.n}`, files: { 'a.txt': `${this.n}\n` } }] });
  }

  private async do(act: string, params: JsonObject): Promise<void> {
    await performAct(this.sandbox.parts, { as: 'olga', act, params });
  }
}

/** The bot's part that is looked at: endpoint, deciding, pollers, ledger. A restart makes all but the store anew. */
class Bot {
  private constructor(
    readonly port: number,
    readonly keeper: GapKeeper,
    private readonly app: NestFastifyApplication,
    private readonly stores: Stores,
    private readonly feed: FeedPoller,
    private readonly tasks: TaskPoller,
    private readonly clock: ManualClock,
  ) {}

  static async start(stores: Stores, sandbox: Sandbox, clock: ManualClock, port: number): Promise<Bot> {
    const queue = { ring: () => undefined };
    const { inbox, cursors } = stores;
    const hook = { id: 'acme', org: ORG, forge: 'main', secrets: [new Secret(SECRET)], authorizations: [] };
    const deps = { hooks: [hook], inbox, queue, logger: silentLogger, clock };
    const app = await makeWebhookApp(deps, { port });
    await app.init();
    const { login: username, password } = sandbox.admin;
    const client = createForgeClient({
      baseUrl: sandbox.apiUrl,
      auth: { type: 'basic', username, password: new Secret(password) },
      caFile: null,
      proxy: null,
      concurrency: 4,
      ratePerS: 1000,
      clock: systemClock,
      logger: silentLogger,
    });
    const polled = { forge: 'main', org: ORG };
    const common = {
      inbox,
      cursors,
      queue,
      clock,
      logger: silentLogger,
      startedAt: new Date(Date.parse(START) + 5_000),
      client,
    };
    const feed = new FeedPoller(common, polled);
    const offers = (): boolean => true;
    const owners = new ForgeOwners({ get: () => ({ client, offers }) }, stores.seenRepositories, aConfig({}), clock);
    const repositories = new KnownRepositories({ client, offers, owners, clock }, polled);
    const tasks = new TaskPoller({ ...common, offers, repositories, callsPerPoll: 5 }, polled);
    const keeper = new GapKeeper(
      aConfig({
        orgs: [{ forge: polled.forge, name: polled.org, feed: { everyS: POLL_S, graceS: POLL_S }, hooks: [{}] }],
      }),
      stores.gaps,
      cursors,
      {
        read: async () => ({
          hooks: [
            {
              active: true,
              events: ['push', 'create', 'issues', 'issue_comment', 'release', 'workflow_job'],
              branchFilter: '',
            },
          ],
          at: clock.now(),
        }),
      },
      new HookHistory(stores.knownFacts),
      { serverOf: () => ({ product: 'gitea', version: '1.27.0' }) },
      { stretchOf: () => 1 },
      clock,
      silentLogger,
      { raise: () => {}, resolve: () => {} },
      new Metrics(),
    );
    const bot = new Bot((app.getHttpServer().address() as AddressInfo).port, keeper, app, stores, feed, tasks, clock);
    await keeper.beat();
    return bot;
  }

  /** One poll, and all that follows from what arrived. */
  async work(): Promise<void> {
    await this.poll();
    await this.keeper.pass();
  }

  /** @returns pages of the feed that were read */
  async poll(): Promise<number> {
    const { pages } = await this.feed.poll();
    await this.tasks.poll();
    const atOnce = pLimit(8);
    const deps = {
      inbox: this.stores.inbox,
      queue: { ring: () => undefined },
      clock: this.clock,
      logger: silentLogger,
    };
    for (let due = await deps.inbox.dueArrivals(500); due.length > 0; due = await deps.inbox.dueArrivals(500))
      await Promise.all(
        due.map((id) =>
          atOnce(() =>
            decideArrival(
              {
                ...deps,
                events: { readDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews },
              },
              id,
            ),
          ),
        ),
      );
    return pages;
  }

  async stop(): Promise<void> {
    await this.app.close();
  }
}
