import { createHmac } from 'node:crypto';
import { Random } from './world/random.js';
import { waitsForApproval } from '../../src/core/state-table.js';
import { hashOf } from '../../src/core/ids.js';
import { HOOK_SECRET, POISON, type HookId, type RunningBot } from './bot.js';
import { rowOf } from './doubles/feed-row.js';
import { aimedAt } from './points.js';
import { START_MS, type World } from './world/world.js';

/** What happens at the forge in one run, all of it out of the seed. */
export interface Scenario {
  readonly seed: number;
  readonly profile: 'gitea' | 'core';
  readonly skewsMs: readonly number[];
  /** Processes live so long before they take what another died with. */
  readonly aloneAfterMs: number;
  /** A rule that somebody takes out of the files, and when. */
  readonly disabled: { readonly rule: string; readonly atMs: number } | null;
  readonly plays: Plays;
  begin(world: World): void;
  tell(world: World, made: { branch: string; repoId: string }): void;
}

/** Parts of the bot that cost much: a seed plays some of them, or none. */
export interface Plays {
  /** The feed is read. What is not delivered is then told by it alone. */
  readonly polls: boolean;
  /** Pushes that a canary answers, and a person who promotes it. */
  readonly stages: boolean;
  readonly policies: boolean;
  /** An outsider spends their budget, so that the rest of what they cause is held until the end of the run. */
  readonly outsiders: boolean;
}

/** Points of parts, by the beginning of their names: who aims at one has its part played. */
const POINTS_OF_PARTS: Readonly<Record<Exclude<keyof Plays, 'outsiders'>, readonly string[]>> = {
  polls: ['cursors.', 'inbox.storeEntries', 'inbox.knownEntries', 'forge.listOrgFeed'],
  stages: ['rollouts.'],
  policies: ['plans.'],
};
const ODDS_OF_PARTS: Readonly<Record<keyof typeof POINTS_OF_PARTS, number>> = {
  polls: 0.15,
  stages: 0.2,
  policies: 0.1,
};

const PEOPLE = [
  { id: 3, login: 'ann' },
  { id: 4, login: 'ben' },
];
const BOT = { id: 5, login: 'forgehand' };
const FAMILIES = [
  'label',
  'label',
  'milestone',
  'milestone',
  'mirror',
  'branch',
  'branch',
  'steps',
  'many',
  'asked',
  'other',
] as const;
/** A person looks so often at what waits for consent. */
const LOOKS_EVERY_MS = 3_000;
/** Until then things happen and go wrong; afterwards everything must come to its end. */
export const CALM_AFTER_MS = 45_000;
export const OVER_AFTER_MS = 45 * 60_000;
const RESENT_AFTER_MS = 5_000;
const ALONE_AFTER_MS = 10_000;
/** As production has it, three deaths take over a minute, and afterwards nobody is killed any more. */
const ALONE_AFTER_MS_AT_QUARANTINE = 1_500;

export function scenarioOf(seed: number): Scenario {
  const plan = new Random(seed * 2);
  // A stream of its own, so that what is added here changes nothing of the rest.
  const more = new Random(seed + 1_000_000_007);
  const outside = new Random(seed + 2_000_000_011);
  const aim = aimedAt(seed);
  const processes = 1 + plan.below(3);
  const isAtIssue = aim.startsWith('forge.getIssue') || aim.startsWith('forge.listOrgFeed');
  const parts = Object.entries(POINTS_OF_PARTS).map(([part, points]) => {
    const isPlayed = more.chance(ODDS_OF_PARTS[part as keyof typeof POINTS_OF_PARTS]);
    return [part, isPlayed || points.some((point) => aim.startsWith(point))];
  });
  const plays = { ...(Object.fromEntries(parts) as Omit<Plays, 'outsiders'>), outsiders: outside.chance(0.2) };
  const profile = plan.chance(0.2) && !isAtIssue && !aim.startsWith('plans.') ? 'core' : 'gitea';
  const disabled = plan.chance(0.3)
    ? { rule: plan.pick(['label', 'milestone', 'steps']), atMs: START_MS + plan.between(5_000, 30_000) }
    : null;
  // Where repositories cannot be found by their number, a name is all there is.
  const isRenamed = profile === 'gitea' && plan.chance(0.2);
  return {
    seed,
    profile,
    // Within the skew that a deployment may have; one of them may be far off.
    skewsMs: Array.from({ length: processes }, () =>
      plan.chance(0.3) ? plan.between(-40_000, 40_000) : plan.between(-50, 50),
    ),
    aloneAfterMs: aim.startsWith('deadly.quarantine') ? ALONE_AFTER_MS_AT_QUARANTINE : ALONE_AFTER_MS,
    disabled,
    plays,
    begin: (world) => {
      for (let slot = 0; slot < processes; slot += 1) world.start(slot);
      const deliveries = 4 + plan.below(9);
      for (let n = 0; n < deliveries; n += 1) {
        const body = push(plan, n);
        const atMs = START_MS + plan.between(50, 30_000);
        world.time.at(null, atMs, () => happens(world, 'push', body, { isRepaired: plan.chance(0.5) }));
        if (plan.chance(0.3))
          world.time.at(null, atMs + plan.between(1, 8_000), () => deliver(world, 'push', body, false, 'app'));
      }
      if (plays.stages) {
        for (let n = 0; n < 5; n += 1) {
          const body = push(more, 700 + n, 'tried');
          world.time.at(null, START_MS + more.between(50, 30_000), () =>
            happens(world, 'push', body, { isRepaired: true }),
          );
        }
        if (more.chance(0.5) || aim.startsWith('rollouts.add'))
          world.time.at(null, START_MS + more.between(10_000, 40_000), () => promote(world));
      }
      if (isRenamed) {
        const atMs = START_MS + plan.between(2_000, 20_000);
        world.time.at(null, atMs, () => world.forge.rename('8', 'lib-renamed'));
        // A target's name is read at most ten seconds before its use; nobody stands still for longer than twelve.
        world.time.at(null, atMs + 24_000, () => world.forge.takeName('lib', '99'));
        world.time.at(null, atMs + 24_500, () => happens(world, 'push', push(plan, 900), { isRepaired: true }));
      }
      if (plan.chance(0.4) || isAtIssue) tellIssue(world, plan, more, 1 + plan.below(2));
      if (plan.chance(0.1) || aimedAt(seed).startsWith('deadly.')) {
        const body = push(plan, 800, plan.pick([POISON.arrival, POISON.event]));
        world.time.at(null, START_MS + plan.between(50, 20_000), () =>
          happens(world, 'push', body, { isRepaired: true, isShown: false }),
        );
      }
      if (plays.outsiders) comeFromOutside(world, outside);
      world.time.after(null, LOOKS_EVERY_MS, () => lookAtConsents(world));
      if (plays.policies) {
        world.time.after(null, LOOKS_EVERY_MS, () => lookAtPlans(world));
        for (let n = more.below(3); n > 0; n -= 1)
          world.time.at(null, START_MS + more.between(5_000, 40_000), () => askForPlan(world));
      }
      world.time.at(null, START_MS + CALM_AFTER_MS, () => (world.isCalm = true));
    },
    tell: (world, { branch, repoId }) => {
      const body = JSON.stringify({
        ref: branch,
        ref_type: 'branch',
        sha: 'a'.repeat(40),
        repository: repositoryOf(repoId),
        sender: BOT,
      });
      world.time.after(null, plan.between(5, 2_000), () => happens(world, 'create', body, { isRepaired: true }));
    },
  };
}

/** An issue that is closed and opened again some times, quickly: its events are under way at the same time. */
function tellIssue(world: World, plan: Random, more: Random, number: number): void {
  const tellings = 2 + plan.below(4);
  const repository = repositoryOf('7');
  const sender = plan.pick(PEOPLE);
  let atMs = START_MS + plan.between(50, 25_000);
  for (let n = 0; n < tellings; n += 1) {
    const [action, state] = n % 2 === 0 ? ['closed', 'closed'] : ['reopened', 'open'];
    const updated_at = new Date(Math.floor(atMs / 1_000) * 1_000 + n * 1_000).toISOString().replace('.000', '');
    const issue = {
      id: 100 + number,
      number,
      title: 'one',
      state,
      labels: [{ id: 1 + n, name: `told-${n}` }],
      updated_at,
      closed_at: n % 2 === 0 ? updated_at : null,
    };
    const body = JSON.stringify({ action, number, issue, repository, sender });
    world.time.at(null, atMs, () => {
      world.forge.issues.set(number, { state, sinceMs: world.time.nowMs });
      happens(world, 'issues', body, { isRepaired: true });
    });
    // A second hook tells it once more: whether it still is so has to be asked.
    if (more.chance(0.4))
      world.time.at(null, atMs + more.between(1, 1_500), () => deliver(world, 'issues', body, false, 'app'));
    atMs += plan.between(1, 600);
  }
}

/** Somebody who is no member closes issues, each of which wants more of a repository than their budget has left. */
function comeFromOutside(world: World, outside: Random): void {
  for (let n = 0; n < 4; n += 1) {
    const number = 50 + n;
    const atMs = START_MS + outside.between(50, 15_000);
    const at = new Date(Math.floor(atMs / 1_000) * 1_000).toISOString().replace('.000', '');
    const issue = {
      id: 100 + number,
      number,
      title: 'from outside',
      state: 'closed',
      labels: [],
      updated_at: at,
      closed_at: at,
    };
    const body = JSON.stringify({
      action: 'closed',
      number,
      issue,
      repository: repositoryOf('7'),
      sender: { id: 66, login: 'eve' },
    });
    world.time.at(null, atMs, () => {
      world.forge.issues.set(number, { state: 'closed', sinceMs: world.time.nowMs });
      happens(world, 'issues', body, { isRepaired: true });
    });
  }
  const look = (): void => {
    world.judge.looksAtOrder();
    world.time.after(null, LOOKS_EVERY_MS, look);
  };
  world.time.after(null, LOOKS_EVERY_MS, look);
}

/** Somebody looks at what waits for consent, and says yes to most of it. */
function lookAtConsents(world: World): void {
  const bot = someBot(world);
  for (const { intent } of world.stores.journal.peek()) {
    if (!bot || !waitsForApproval(intent)) continue;
    const verdict = world.chances.chance(0.7) ? 'given' : 'denied';
    world.time.after(
      bot.process,
      world.chances.between(1, 50),
      () => void bot.consent(intent.id, verdict).catch(() => undefined),
    );
  }
  world.time.after(null, LOOKS_EVERY_MS, () => lookAtConsents(world));
}

/** Somebody looks at the plans that wait for a word, and says yes to most of them. */
function lookAtPlans(world: World): void {
  const bot = someBot(world);
  for (const { hash, state, needsApproval } of world.stores.plans.peek()) {
    if (!bot || state !== 'open' || !needsApproval) continue;
    const verdict = world.chances.chance(0.7) ? 'approved' : 'denied';
    const say = (): void => {
      world.judge.saidToPlan(hash, verdict);
      void bot.decidePlan(hash, verdict).catch(() => undefined);
    };
    world.time.after(bot.process, world.chances.between(1, 50), say);
  }
  world.time.after(null, LOOKS_EVERY_MS, () => lookAtPlans(world));
}

function askForPlan(world: World): void {
  const bot = someBot(world);
  if (bot) world.time.after(bot.process, 1, () => void bot.plan().catch(() => undefined));
}

function promote(world: World): void {
  const bot = someBot(world);
  if (bot) world.time.after(bot.process, 1, () => void bot.promote().catch(() => undefined));
}

function someBot({ bots }: World): RunningBot | undefined {
  return bots.find((one) => one && !one.process.isDead) ?? undefined;
}

function push(plan: Random, n: number, family: string = plan.pick(FAMILIES)): string {
  // Few names, so that several deliveries want the same thing.
  const ref = `refs/heads/${family}/${1 + plan.below(3)}`;
  const repository = repositoryOf(plan.chance(0.6) ? '7' : '8');
  const after = n.toString(16).padStart(40, '1');
  const commits = [{ id: after, added: [], modified: [], removed: [] }];
  const person = plan.pick(PEOPLE);
  return JSON.stringify({
    ref,
    before: 'a'.repeat(40),
    after,
    commits,
    total_commits: 1,
    pusher: person,
    repository,
    sender: person,
  });
}

/** The event tells the name of its time; numbers stay. */
function repositoryOf(id: string): object {
  const name = id === '7' ? 'app' : 'lib';
  return {
    id: Number(id),
    name,
    full_name: `acme/${name}`,
    owner: { id: 32, login: 'acme' },
    private: false,
    default_branch: 'main',
  };
}

/** Something happened at the forge: it is delivered and, where somebody reads it, shown in the feed; there some deliveries are lost on their way. */
function happens(
  world: World,
  type: string,
  text: string,
  { isRepaired, isShown = true }: { isRepaired: boolean; isShown?: boolean },
): void {
  const told = rowOf(type, text);
  world.forge.happened.push(told.fact);
  if (!world.scenario.plays.polls || !isShown) return deliver(world, type, text, isRepaired);
  world.forge.show(told);
  if (!world.chances.chance(0.3))
    world.time.after(null, world.chances.between(1, 20_000) * Number(world.chances.chance(0.2)), () =>
      deliver(world, type, text, false),
    );
}

/** The forge calls a process that is up; it does so once. */
function deliver(world: World, type: string, text: string, isRepaired: boolean, hook: HookId = 'acme'): void {
  const up = world.bots.flatMap((bot) => (bot && !bot.process.isDead ? [bot] : []));
  const again = (): void => {
    if (isRepaired) world.time.after(null, RESENT_AFTER_MS, () => deliver(world, type, text, isRepaired, hook));
  };
  if (up.length === 0) return again();
  const bot = world.chances.pick(up);
  const body = Buffer.from(text);
  const signature = createHmac('sha256', HOOK_SECRET).update(body).digest('hex');
  let isAnswered = false;
  world.time.after(bot.process, world.chances.between(1, 20), () => {
    void bot.receive(
      hook,
      {
        'x-gitea-event': type,
        'x-gitea-event-type': type,
        'x-gitea-delivery': hashOf(hook, text),
        'x-gitea-signature': signature,
      },
      body,
      (status) => {
        isAnswered = status < 300;
        if (isAnswered) world.judge.acked(text);
      },
    );
  });
  // As a second hook, or the feed, would tell it once more.
  world.time.after(null, RESENT_AFTER_MS, () => {
    if (!isAnswered) again();
  });
}
