import type { Overload } from './overload/overload-report.js';
import type { PowerCuts } from './power/power-goal.js';
import type { Storm } from './storm.js';
import type { Deployment } from './rig/fleet.js';
import type { Kind } from './workload.js';

export const GOALS = ['G1', 'G2', 'G3', 'G4', 'G5', 'G6', 'G13', 'G14', 'power'] as const;
export type Goal = (typeof GOALS)[number];
/** Goals whose runs are storms; the others have rigs of their own. */
export type StormGoal = Exclude<Goal, 'G13' | 'G14' | 'power'>;

/** `slice` is a smoke run of a goal by itself (the tests run a storm of all of them, see `shortStorm`), `ci` is the goal's own count for a machine of two cores; the full count is `ci` so many times over. */
export type Size = 'slice' | 'ci';

/** Every call takes about 300 ms, so that a kill finds some on their way. */
const LATENCY = { before_ms: [50, 250], after_ms: [50, 250] } as const;
/** Slices make few kills: their calls stay open longer, also on a busy machine. */
const LONG_LATENCY = { before_ms: [200, 400], after_ms: [200, 400] } as const;
export const SETTLE_S = 6;
/** Latest effect; shorter than the settle time. */
const LATE_MS = [3_000, 4_500];
const ALL_NINE: readonly Kind[] = [
  'branch',
  'mirror',
  'release',
  'label',
  'milestone',
  'orgvar',
  'uservar',
  'settings',
  'repo',
];
/** Verbs beyond the nine: what one of them does twice is a commit too many, a branch that somebody made anew, or people who are told twice. */
const FURTHER: readonly Kind[] = ['gone', 'update', 'issue', 'message'];
/** Verbs about pull requests, of which the forge must confirm that somebody asked. */
const ABOUT_PULLS: readonly Kind[] = ['port', 'queue', 'unqueue', 'approve'];
/** That somebody asked must be known at the forge, which tells of it by itself. */
const BY_FORGE = { dropPercent: 0, blackoutMs: 0 };
const MIXED: readonly Kind[] = [
  'labels',
  'milestone',
  'branch',
  'mirror',
  'uservar',
  'label',
  'release',
  'repo',
  'orgvar',
];

/** One call in five is answered wrongly after its effect, one in twenty has its effect late. */
const WRONG_ANSWERS = [
  { name: 'reset after', percent: 4, fault: { kind: 'reset', when: 'after' } },
  { name: '500 after', percent: 3, fault: { kind: 'status', status: 500, when: 'after' } },
  { name: '502 page after', percent: 3, fault: { kind: 'status', status: 502, when: 'after', body: 'html' } },
  { name: 'cut', percent: 3, fault: { kind: 'cut' } },
  { name: 'cut under its length', percent: 3, fault: { kind: 'cut', framed: true } },
  { name: 'wrong body', percent: 4, fault: { kind: 'wrong-type', as: 'html' } },
  { name: 'late', percent: 3, fault: { kind: 'late', ms: LATE_MS } },
  { name: 'late, 504 at once', percent: 2, fault: { kind: 'late', ms: LATE_MS, answer: 'status' } },
];

/** The same shares in few classes, so that few calls meet each of them. */
const FEW_WRONG_ANSWERS = [
  { name: 'reset after', percent: 10, fault: { kind: 'reset', when: 'after' } },
  { name: 'cut under its length', percent: 10, fault: { kind: 'cut', framed: true } },
  { name: 'late', percent: 10, fault: { kind: 'late', ms: LATE_MS } },
];

/** Some of everything. */
export const EVERY_FAULT = [
  { name: 'reset before', percent: 1, fault: { kind: 'reset', when: 'before' } },
  { name: 'reset after', percent: 1, fault: { kind: 'reset', when: 'after' } },
  { name: '503 before', percent: 1, fault: { kind: 'status', status: 503, when: 'before' } },
  { name: '500 after', percent: 1, fault: { kind: 'status', status: 500, when: 'after' } },
  { name: 'late', percent: 1, fault: { kind: 'late', ms: LATE_MS } },
  { name: 'late, in hand', percent: 1, fault: { kind: 'late', ms: LATE_MS, answer: 'hold' } },
  { name: 'cut', percent: 1, fault: { kind: 'cut' } },
  { name: 'wrong body', percent: 1, fault: { kind: 'wrong-type', as: 'texts' } },
  { name: 'slow', percent: 0.5, fault: { kind: 'slow', ms: 4_000 } },
  { name: '429 with a time', percent: 1, fault: { kind: 'rate-limit', retry_after: 2 } },
  { name: '429 without', percent: 0.5, at_most: 6, fault: { kind: 'rate-limit' } },
];

interface Counts {
  readonly slice: number;
  readonly ci: number;
}

const counts = (slice: number, ci: number): Counts => ({ slice, ci });

/** Runs that make up the full count. */
export const SEGMENTS: Readonly<Record<Goal, number>> = {
  G1: 5,
  G2: 10,
  G3: 7,
  G4: 10,
  G5: 5,
  G6: 3,
  G13: 1,
  G14: 5,
  power: 1,
};

export function deploymentsOf(goal: Goal): readonly Deployment[] {
  return goal === 'G5' || goal === 'G6' ? ['distributed'] : ['embedded', 'distributed'];
}

/** The storms of a goal; each is a run of its own with a fresh forge. */
export function stormsOf(goal: StormGoal, deployment: Deployment, size: Size, seed: number): Storm[] {
  const common = {
    goal,
    seed,
    deployment,
    profile: 'gitea' as const,
    settleS: SETTLE_S,
    backlog: 150,
    isAboutCalls: false,
  };
  const n = (of: Counts): number => of[size];
  // In a slice deliveries shall still come in while its stores are away.
  const backlog = n(counts(40, common.backlog));
  switch (goal) {
    case 'G1':
      return [
        {
          ...common,
          backlog: 2_000,
          deliveries: n(counts(200, 5_000)),
          kinds: ['label'],
          receiverKills: n(counts(4, 200)),
          webs: 1,
          workers: 1,
        },
      ];
    case 'G2': {
      const storm = {
        ...common,
        isAboutCalls: true,
        latency: size === 'slice' ? LONG_LATENCY : LATENCY,
        kinds: ['labels'] as const,
      };
      return [
        { ...storm, deliveries: n(counts(60, 3_000)), kills: n(counts(5, 100)) },
        // Where nothing can be read back: sent at most once, and a person is asked.
        ...(size === 'slice' && deployment === 'distributed'
          ? []
          : [
              {
                ...storm,
                profile: 'core' as const,
                kinds: ['labels', 'milestone'] as const,
                deliveries: n(counts(30, 400)),
                kills: n(counts(2, 20)),
              },
              // Nothing at the forge refuses a second issue: only its mark tells that it is there; and nothing tells of a message.
              {
                ...storm,
                kinds: ['issue', 'message'] as const,
                deliveries: n(counts(20, 200)),
                kills: n(counts(2, 20)),
              },
            ]),
      ];
    }
    case 'G3':
      return [
        {
          ...common,
          deliveries: 9 * n(counts(15, 300)),
          kinds: ALL_NINE,
          faults: size === 'slice' ? FEW_WRONG_ANSWERS : WRONG_ANSWERS,
        },
        {
          ...common,
          deliveries: FURTHER.length * n(counts(20, 150)),
          kinds: FURTHER,
          faults: size === 'slice' ? FEW_WRONG_ANSWERS : WRONG_ANSWERS,
        },
        {
          ...common,
          deliveries: ABOUT_PULLS.length * n(counts(15, 100)),
          kinds: ABOUT_PULLS,
          byForge: BY_FORGE,
          faults: size === 'slice' ? FEW_WRONG_ANSWERS : WRONG_ANSWERS,
        },
        {
          ...common,
          profile: 'core',
          deliveries: 2 * n(counts(40, 300)),
          kinds: ['label', 'milestone'],
          faults: size === 'slice' ? FEW_WRONG_ANSWERS : WRONG_ANSWERS,
        },
      ];
    case 'G4':
      return [
        {
          ...common,
          deliveries: n(counts(300, 2_000)),
          kinds: ['label'],
          byForge: { dropPercent: 50, blackoutMs: n(counts(5_000, 20_000)) },
        },
      ];
    case 'G5':
      return [
        {
          ...common,
          backlog,
          kinds: MIXED,
          latency: size === 'slice' ? LONG_LATENCY : LATENCY,
          deliveries: n(counts(108, 2_000)),
          redisFlushes: n(counts(2, 5)),
          redisKills: n(counts(2, 5)),
          kills: n(counts(2, 5)),
          isAboutCalls: true,
          workers: 2,
        },
      ];
    case 'G6':
      return [
        {
          ...common,
          backlog,
          kinds: MIXED,
          latency: size === 'slice' ? LONG_LATENCY : LATENCY,
          deliveries: n(counts(108, 1_667)),
          postgresRestarts: n(counts(3, 10)),
          kills: n(counts(2, 4)),
          isAboutCalls: true,
          workers: 2,
        },
      ];
  }
}

/** The storm that runs with the tests: the blows and faults of all goals, a few of each. */
export function shortStorm(deployment: Deployment, seed: number): Storm {
  return {
    goal: deployment === 'embedded' ? 'G1+G2+G3' : 'G1+G2+G3+G5+G6',
    seed,
    deployment,
    profile: 'gitea',
    settleS: SETTLE_S,
    // Deliveries shall still come in while its stores are away.
    backlog: 40,
    isAboutCalls: true,
    latency: LONG_LATENCY,
    faults: FEW_WRONG_ANSWERS,
    kinds: ['labels', ...ALL_NINE, 'issue', 'message'],
    deliveries: 108,
    quietDeliveries: 500,
    receiverKills: 4,
    kills: 3,
    webs: 1,
    ...(deployment === 'embedded'
      ? { workers: 1 }
      : { workers: 2, redisFlushes: 1, redisKills: 1, postgresRestarts: 1 }),
  };
}

/** The flood is ten times what a receiver of this kind is asked for at its busiest. */
export function overloadOf(deployment: Deployment, size: Size, seed: number): Overload {
  const common = { seed, deployment, perSecond: 2_000 };
  // On a busy machine a slice may make no more than thirty calls for the flooding organization.
  if (size === 'slice')
    return { ...common, connections: 128, floodS: 3, quietS: 6, effectEvery: 50, refused: { percent: 50, atMost: 3 } };
  return { ...common, connections: 512, floodS: 30, quietS: 20, effectEvery: 200, refused: { percent: 3, atMost: 8 } };
}

/** Power cuts in one storm of the embedded deployment. */
export function powerCutsOf(size: Size | 'full', seed: number): PowerCuts {
  if (size === 'slice') return { seed, cuts: 9, planted: 2, deliveries: 100 };
  return { seed, cuts: size === 'ci' ? 100 : 500, planted: 10, deliveries: 400 };
}

/** Everything at once, for as long as asked. */
export function bigStorm(deployment: Deployment, seed: number, minutes: number): Storm {
  const per = (perTenMinutes: number): number => Math.max(1, Math.round((perTenMinutes * minutes) / 10));
  const isDistributed = deployment === 'distributed';
  return {
    goal: 'storm',
    seed,
    deployment,
    profile: 'gitea',
    settleS: SETTLE_S,
    deliveries: 1_000_000,
    forMs: minutes * 60_000,
    kinds: ['labels', 'milestone', 'branch', 'mirror', 'uservar', 'label', 'repo', 'issue', 'message'],
    backlog: 120,
    webs: 2,
    workers: 2,
    kills: per(60),
    terms: per(8),
    stops: per(6),
    ...(isDistributed
      ? { receiverKills: per(15), redisFlushes: per(6), redisKills: per(6), postgresRestarts: per(10) }
      : {}),
    toxics: per(5),
    faults: EVERY_FAULT,
    latency: LATENCY,
    isAboutCalls: true,
  };
}
