// npm run bench -- housekeeping: what it costs to keep an organization as its policy says, and what events wait for meanwhile.
import { fork, type ChildProcess } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { callingAs } from '../../src/core/caller.js';
import { Secret } from '../../src/core/secret.js';
import { connectForge } from '../../src/forge/connected-forges.js';
import { createForgeClient } from '../../src/forge/http/create-forge-client.js';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { aBot, type TestBot } from '../../test/integration/support/a-bot.js';
import { goalLine, short } from '../support/figures.js';
import { readOptions } from '../support/options.js';
import type { Counted, Order, Ready } from './forge.js';

const HELP = `npm run bench -- housekeeping [options]

  --repos N      repositories that the policy is about (default 1000)
  --idle N       repositories of the organization that is polled and quiet (default 200)
  --waiting N    calls of housekeeping that wait (default 10000)
  --effects N    effects of events that are timed meanwhile, one every two seconds (default 40)
`;
const {
  repos: REPOS,
  idle: IDLE,
  waiting: WAITING,
  effects: EFFECTS,
} = readOptions(HELP, { repos: 1000, idle: 200, waiting: 10_000, effects: 40 });
const [LABELS, MILESTONES, MIRRORS] = [12, 2, 1];
const WANTED = LABELS + MILESTONES + MIRRORS;
const POLLS = 5;
const RATE_PER_S = 5;
const EFFECT_EVERY_MS = 2_000;

const POLICY = `version: 1
org: acme
policies:
  - id: standard
    schedule: "0 0 29 2 *"
    subjects: { repos: ["*"] }
    labels:
${Array.from({ length: LABELS }, (_, n) => `      - { name: kind/${n}, color: "#d73a${String(n).padStart(2, '0')}" }`).join('\n')}
    milestones: [{ title: backlog }, { title: later }]
    push_mirrors: [{ remote_address: "https://mirror.example.org/\${{ repo.name }}.git", interval: 8h }]
`;

/** The forge's process. */
class Forge {
  private constructor(
    private readonly child: ChildProcess,
    readonly ready: Ready,
  ) {}

  static async start(): Promise<Forge> {
    const child = fork(fileURLToPath(new URL('forge.ts', import.meta.url)), {
      env: { ...process.env, REPOS: String(REPOS), IDLE: String(IDLE) },
      execArgv: process.execArgv,
    });
    return new Forge(child, await answerOf<Ready>(child));
  }

  async ask(order: Order): Promise<Counted> {
    const answer = answerOf<Counted>(this.child);
    this.child.send(order);
    return answer;
  }

  stop(): void {
    this.child.disconnect();
  }
}

function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error('the forge ended'));
    child.once('exit', onExit);
    child.once('message', (answer) => {
      child.off('exit', onExit);
      resolve(answer as Answer);
    });
  });
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);
const list = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ') || 'none';

interface Pass {
  readonly reads: Record<string, number>;
  readonly writes: Record<string, number>;
  readonly seconds: number;
}

function aWholeBot(forge: Forge, org: string, feedEveryS: number, policy: string): Promise<TestBot> {
  return aBot({
    config: {
      forges: [
        {
          id: 'main',
          base_url: forge.ready.apiUrl,
          auth: { type: 'token', token: { env: 'BENCH_TOKEN' } },
          rate_per_s: 1000,
          concurrency: 8,
        },
      ],
      orgs: [
        {
          name: org,
          forge: 'main',
          hooks: [],
          rules: { path: './rules' },
          trusted: true, // nobody approves the first plan of the policy
          feed: { every_s: feedEveryS },
          tasks: { calls_per_poll: org === 'acme' ? 0 : 5 },
          mirror_hosts: ['mirror.example.org'],
        },
      ],
      store: { url: 'embedded:./data' },
      server: { host: '127.0.0.1', port: 0 },
    },
    files: { 'rules/rules.yaml': policy },
    env: { BENCH_TOKEN: forge.ready.token },
  });
}

/** Until no intent is open and the forge has been left alone for a while. */
async function passOf(forge: Forge, bot: TestBot, beganMs: number, atLeast: number): Promise<Pass> {
  const total: { reads: Record<string, number>; writes: Record<string, number> } = { reads: {}, writes: {} };
  let lastMs = performance.now();
  for (;;) {
    const fresh = await forge.ask({ is: 'count' });
    for (const kind of ['reads', 'writes'] as const)
      for (const [name, count] of Object.entries(fresh[kind])) total[kind][name] = (total[kind][name] ?? 0) + count;
    if (sum(fresh.reads) + sum(fresh.writes) > 0) lastMs = performance.now();
    const status = await bot.reach.call('status');
    const open = (['planned', 'claimed', 'sent', 'unknown'] as const).reduce(
      (count, state) => count + status.intents[state],
      0,
    );
    if (open === 0 && sum(total.writes) >= atLeast && performance.now() - lastMs > 3_000) break;
    await wait(250);
  }
  return { ...total, seconds: (lastMs - beganMs) / 1000 };
}

function tell(name: string, { reads, writes, seconds }: Pass): void {
  console.log(`${name}: ${sum(reads) + sum(writes)} calls in ${short(seconds)} s (load ${loadavg()[0]?.toFixed(1)})`);
  console.log(`  reads ${sum(reads)}: ${list(reads)}`);
  console.log(`  writes ${sum(writes)}: ${list(writes)}`);
}

/** Reads that the forge was asked for about the policy, without those of connecting and of looking at what it offers. */
const ofPolicy = ({ reads }: Pass): number =>
  ['listOrgRepos', 'listLabels', 'listOrgLabels', 'listMilestones', 'listPushMirrors', 'getRepoById'].reduce(
    (total, name) => total + (reads[name] ?? 0),
    0,
  );

async function passes(forge: Forge): Promise<void> {
  await forge.ask({ is: 'count' });
  let beganMs = performance.now();
  const bot = await aWholeBot(forge, 'acme', 86_400, POLICY);
  try {
    const first = await passOf(forge, bot, beganMs, REPOS * WANTED);
    tell(`first pass, ${REPOS} repositories`, first);
    const again = async (name: string, atLeast: number): Promise<Pass> => {
      beganMs = performance.now();
      await bot.reach.call('runSchedule', { org: 'acme', schedule: 'standard' });
      const pass = await passOf(forge, bot, beganMs, atLeast);
      tell(name, pass);
      return pass;
    };
    const second = await again('second pass, nothing to change', 0);
    await forge.ask({ is: 'spoil-a-label' });
    const third = await again('third pass, one label is gone', 1);
    // The list of repositories; of each its labels, milestones and mirrors; what is made is looked for once more right before.
    const pages = Math.ceil(REPOS / 50);
    const whole = pages + 3 * REPOS;
    console.log(
      goalLine({
        name: 'housekeeping-first-reads (per object made, at most)',
        wanted: { atMost: (whole + READS_BEFORE_A_WRITE * REPOS * WANTED) / (REPOS * WANTED) },
        measured: ofPolicy(first) / (REPOS * WANTED),
      }),
    );
    console.log(
      goalLine({
        name: 'housekeeping-first-writes (beyond what was missing)',
        wanted: { atMost: 0 },
        measured: sum(first.writes) - REPOS * WANTED,
      }),
    );
    console.log(
      goalLine({
        name: `housekeeping-second-reads (of ${whole} needed, more at most)`,
        wanted: { atMost: 0 },
        measured: ofPolicy(second) - whole,
      }),
    );
    console.log(
      goalLine({ name: 'housekeeping-second-writes (at most)', wanted: { atMost: 0 }, measured: sum(second.writes) }),
    );
    console.log(
      goalLine({ name: 'housekeeping-drift-writes (at most)', wanted: { atMost: 1 }, measured: sum(third.writes) }),
    );
    console.log(
      goalLine({
        name: 'housekeeping-drift-reads (beyond those of the second pass, at most)',
        wanted: { atMost: READS_BEFORE_A_WRITE + 1 },
        measured: ofPolicy(third) - whole,
      }),
    );
  } finally {
    await bot.close();
  }
}

/** The list that tells whether the object is there; for a label those of the organization too, and the repository's name of now. */
const READS_BEFORE_A_WRITE = 2;

const FEED_EVERY_S = 1;

async function polling(forge: Forge): Promise<void> {
  const bot = await aWholeBot(forge, 'quiet', FEED_EVERY_S, 'version: 1\norg: quiet\nrules: []\n');
  try {
    await wait(3_000);
    await forge.ask({ is: 'count' });
    const total: Record<string, number> = {};
    const polled = async (polls: number): Promise<number> => {
      while ((total['listOrgFeed'] ?? 0) < polls) {
        await wait(20);
        for (const [name, count] of Object.entries((await forge.ask({ is: 'count' })).reads))
          total[name] = (total[name] ?? 0) + count;
      }
      return performance.now();
    };
    // From one page to another: both ends of a time that begins anywhere would count.
    const began = await polled(1);
    const first = total['listOrgFeed'] ?? 0;
    const times = ((await polled(first + POLLS)) - began) / 1000 / FEED_EVERY_S;
    const pages = (total['listOrgFeed'] ?? 0) - first;
    const taskLists = total['listActionTasks'] ?? 0;
    console.log(`polling ${IDLE} idle repositories: ${list(total)} in ${short(times)} times feed.every_s`);
    console.log(
      goalLine({
        name: 'polling-feed-pages (in each feed.every_s, at most)',
        wanted: { atMost: 1 },
        measured: pages / times,
      }),
    );
    console.log(
      goalLine({
        name: 'polling-task-lists (for each feed page, at most tasks.calls_per_poll)',
        wanted: { atMost: 5 },
        measured: taskLists / pages,
      }),
    );
  } finally {
    await bot.close();
  }
}

/** One executor before a forge that may be asked five times a second, with all of these calls waiting at the one place that decides. */
async function underPress(forge: Forge): Promise<void> {
  const client = createForgeClient({
    baseUrl: forge.ready.apiUrl,
    auth: { type: 'token', token: new Secret(forge.ready.token) },
    ratePerS: RATE_PER_S,
  });
  const { client: learning, capabilities } = await connectForge(client, { username: null });
  const rig = new EffectRig({ access: { client: learning, offers: (name) => capabilities.offers(name) } });
  const [found] = await learning.listOrgRepos({ org: 'acme', limit: 1 });
  const repo = {
    id: String(found?.id),
    owner: 'acme',
    name: String(found?.name),
    full_name: `acme/${found?.name}`,
    private: false,
  };
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const waiting = callingAs({ priority: 'housekeeping', org: 'acme' }, () =>
    Array.from({ length: WAITING }, () =>
      learning.listMilestones({ owner: 'acme', repo: repo.name }, { signal: stop.signal }).catch(() => undefined),
    ),
  );
  await wait(2_000);
  await forge.ask({ is: 'count' });
  const beganMs = performance.now();
  const took = await Promise.all(
    Array.from({ length: EFFECTS }, async (_, n) => {
      await wait(n * EFFECT_EVERY_MS);
      // Its name of now is asked anew.
      rig.clock.advance(11_000);
      const fromMs = performance.now();
      const { state } = await rig.want('label.ensure', { name: `press/${n}`, color: '#0075ca' }, { repo });
      if (state !== 'done') throw new Error(`an effect ended ${state}`);
      return performance.now() - fromMs;
    }),
  );
  const seconds = (performance.now() - beganMs) / 1000;
  const { reads, writes } = await forge.ask({ is: 'count' });
  stop.abort();
  await Promise.all(waiting);
  const sorted = took.sort((a, b) => a - b);
  const p95 = (sorted[Math.min(Math.ceil(sorted.length * 0.95) - 1, sorted.length - 1)] ?? NaN) / 1000;
  const of = (share: number): string => short((sorted[Math.floor((sorted.length - 1) * share)] ?? NaN) / 1000);
  console.log(
    `${EFFECTS} effects of events while ${WAITING} calls of housekeeping wait at ${RATE_PER_S} calls per s: p50 ${of(0.5)} s, p95 ${short(p95)} s, longest ${of(1)} s`,
  );
  console.log(
    `  meanwhile ${short((reads['listMilestones'] ?? 0) / seconds)} calls per s of housekeeping; in all ${short((sum(reads) + sum(writes)) / seconds)} per s`,
  );
  console.log(goalLine({ name: 'webhook-effects-p95 (s, at most)', wanted: { atMost: 2 }, measured: p95 }));
}

const forge = await Forge.start();
try {
  await underPress(forge);
  await polling(forge);
  await passes(forge);
} finally {
  forge.stop();
}
