import { z } from 'zod';
import type { JsonObject } from './json.js';
import { textOf, type Reason } from './reason.js';
import { count, fields, maybeText, text, texts, time, type Shape } from './schema.js';

/** What is not decided or not done since something else is in the way, as the store tells it. */
export interface Waiting {
  readonly code: WaitingCode;
  readonly org: string;
  /** Ids of what waits, the oldest first: some of them, where there are many. */
  readonly ids: readonly string[];
  readonly count: number;
  readonly since: Date;
  /** Id or name of what stands before it; null = the reason says it all. */
  readonly behind: string | null;
  /** Why what stands before it does; null = nothing more is known. */
  readonly reason: Reason | null;
}

interface Row {
  /** What waits, and for what. */
  readonly what: string;
  /** What to do about it; null = nothing: it goes on by itself. */
  readonly todo: ((waiting: Waiting) => string) | null;
  /** Somebody wanted it so: the operator, the author of the rule, or a person. */
  readonly byPlan?: true;
  /** Common in a bot at work, for some seconds. */
  readonly passes?: true;
}

const first = ({ ids: [id = ''] }: Waiting): string => id;
const READ_AGAIN = 'the bot tries again; look at the forge when it lasts';

/**
 * The one table of waiting reasons: every way in which something is not decided or not done since something else is in the way. The code is the same in
 * every release; the store finds who waits by it.
 */
export const WAITING = {
  'effect.read': {
    what: 'steps aside: a read fails for its object',
    todo: (waiting) =>
      `look at its object on the forge; after 8 tries or a day it is dead: forgehand retry ${first(waiting)}`,
  },
  'effect.cause': {
    what: 'steps aside: the forge does not say who caused it',
    todo: () => 'look at the object of its event on the forge; after a day it is dead',
  },
  'effect.outcome': { what: 'steps aside: the outcome of its call is unknown, and the bot reads it', todo: null },
  'effect.person': {
    what: 'steps aside: a person must say what became of its call',
    todo: (waiting) =>
      `look at the forge, then: forgehand resolve ${first(waiting)} --exists, or forgehand resolve ${first(waiting)} --absent`,
  },
  'effect.object': {
    what: 'writes or names the object of an effect that stepped aside',
    todo: ({ behind }) => `forgehand explain ${behind ?? ''}`,
  },
  'effect.key': {
    passes: true,
    what: 'the same effect of another run is under way',
    todo: ({ behind }) => `forgehand explain ${behind ?? ''}`,
  },
  'effect.step': {
    passes: true,
    what: 'an earlier step of its run has not ended',
    todo: ({ behind }) => `forgehand explain ${behind ?? ''}`,
  },
  'effect.order': {
    passes: true,
    what: 'an earlier effect of its repository has not ended',
    todo: ({ behind }) => `forgehand explain ${behind ?? ''}`,
  },
  'effect.retry': { passes: true, what: 'its last try failed; it is tried again in its place', todo: () => READ_AGAIN },
  'effect.revision': {
    passes: true,
    what: 'this process may not know the newest rules; another one decides whether it is still wanted',
    todo: () => 'forgehand status: every process must have loaded the rules',
  },
  'effect.turn': {
    what: 'is due, and no worker has taken it',
    todo: () => 'forgehand doctor; start a worker, or more of them',
  },
  'effect.approval': {
    what: 'waits for an approval',
    todo: (waiting) => `forgehand approve ${first(waiting)}`,
    byPlan: true,
  },
  'effect.budget': {
    what: 'a budget is spent',
    todo: () => 'it goes on when there is room; orgs[].budgets sets how many effects an hour may have',
    byPlan: true,
  },
  'effect.pause': { what: 'is paused', todo: ({ behind }) => `forgehand resume${behind ?? ''}`, byPlan: true },
  'effect.others': {
    what: 'waits for what others do, such as an approval or a check of a pull request',
    todo: null,
    byPlan: true,
  },
  'forge.limits': {
    passes: true,
    what: 'the forge asked the bot to wait (429)',
    todo: () => 'it goes on when that time is over',
  },
  'forge.silent': {
    what: 'the forge does not answer',
    todo: () => 'look at the forge and the network; forgehand doctor',
  },
  'forge.refuses': {
    what: 'the forge refuses the credentials of the bot',
    todo: () => 'make a new token and put it into the config; forgehand doctor says what it needs',
  },
  'arrival.turn': {
    what: 'an arrival is not read yet',
    todo: () => 'forgehand doctor; start a worker, or more of them',
  },
  'work.crashed': {
    what: 'a process ended over it; the bot takes it up again alone',
    todo: () => 'nothing yet: after three deaths it is quarantined',
  },
  'work.quarantined': {
    what: 'is quarantined: processes ended over it',
    todo: (waiting) => `report it, then: forgehand release ${first(waiting)}`,
  },
  'event.read': {
    what: 'an event cannot be decided: the forge does not answer what its rules read',
    todo: () => READ_AGAIN,
  },
  'event.order': {
    passes: true,
    what: 'an earlier event of the same object is not decided',
    todo: ({ behind }) => `forgehand explain ${behind ?? ''}`,
  },
  'event.rules': {
    what: 'no revision of the rules is active',
    todo: () => 'forgehand doctor and forgehand check say what is wrong with the rules',
  },
  'event.turn': {
    what: 'an event is not decided yet',
    todo: () => 'forgehand doctor; start a worker, or more of them',
  },
  'run.window': { what: 'a run gathers others of its key (coalesce)', todo: null, byPlan: true },
  'run.answer': { what: 'the answer to a person waits for what they asked for', todo: null, byPlan: true },
  'run.check': { what: 'a pull request waits for the check of its rules', todo: null },
  'run.field': { what: 'a run waits for the delivery that tells what its rule needs', todo: null },
  'run.read': {
    what: 'a run cannot be decided: the forge does not answer what its rule reads',
    todo: () => READ_AGAIN,
  },
  'run.open': { what: 'a run is not decided yet', todo: (waiting) => `forgehand explain ${first(waiting)}` },
  'tick.read': {
    what: 'an occurrence of a schedule cannot be decided: the forge does not answer',
    todo: () => READ_AGAIN,
  },
  'tick.rules': {
    what: 'no revision of the rules is active',
    todo: () => 'forgehand doctor and forgehand check say what is wrong with the rules',
  },
  'tick.turn': {
    what: 'an occurrence of a schedule is not decided yet',
    todo: () => 'forgehand schedules; start a worker',
  },
  'plan.approval': {
    what: 'a plan waits for an approval',
    todo: ({ behind }) => `forgehand approve ${behind ?? ''}`,
    byPlan: true,
  },
  'plan.approved': {
    what: 'a plan is approved and not applied',
    todo: ({ behind }) => `forgehand apply ${behind ?? ''}`,
  },
  'policy.frozen': { what: 'a freeze window holds a policy or a schedule', todo: null, byPlan: true },
  'policy.cap': {
    what: 'a policy wants more than its cap allows',
    todo: ({ behind }) => `forgehand plan --policy ${behind ?? ''}`,
  },
  'rule.limit': {
    what: 'a rule was over limits.runs_per_hour: what it held is not decided again by itself',
    todo: (waiting) => `forgehand explain ${first(waiting)}; forgehand replay decides its event again`,
  },
} as const satisfies Readonly<Record<string, Row>>;

export type WaitingCode = keyof typeof WAITING;

/** Whether it is common in a bot at work, for some seconds. */
export function passes(code: WaitingCode): boolean {
  const { passes: isCommon }: Row = WAITING[code];
  return isCommon === true;
}

/** A waiting reason for people and programs. */
export const shownWaiting = z.object({
  ...fields('code org what', text),
  since: time,
  behind: maybeText.describe('Id or name of what stands before it, as far as there is one.'),
  because: maybeText.describe('Why what stands before it does.'),
  todo: maybeText.describe('What to do; null = it goes on by itself.'),
  byPlan: z.boolean().describe('The operator, the author of the rule or a person wanted it so.'),
  ids: texts.describe('Of what waits, the oldest first; at most five.'),
  count,
});
export type ShownWaiting = Shape<typeof shownWaiting>;

/** Pure. */
export function showWaiting(waiting: Waiting): ShownWaiting {
  const { code, org, since, behind, reason, ids, count: many } = waiting;
  const { what, todo, byPlan }: Row = WAITING[code];
  return {
    code,
    org,
    what,
    since,
    behind,
    because: reason && textOf(reason),
    todo: todo?.(waiting) ?? null,
    byPlan: byPlan === true,
    ids: [...ids],
    count: many,
  };
}

/** In one sentence, without what to do. */
export function sayWaiting({ what, behind, because, count: many }: ShownWaiting): string {
  const stands = behind === null ? '' : ` (${behind})`;
  return `${many === 1 ? '' : `${many}: `}${what}${stands}${because === null ? '' : `: ${because}`}`;
}

/** One thing that waits. */
export type OneWaiting = Omit<Waiting, 'ids' | 'count'> & { readonly id: string };

const IDS_SHOWN = 5;
/** Each needs an order of its own. */
const ONE_BY_ONE: ReadonlySet<WaitingCode> = new Set(['effect.person', 'effect.approval', 'work.quarantined']);

/** What waits for the same thing becomes one, since the oldest of it. Pure. */
export function groupWaiting(all: readonly OneWaiting[]): Waiting[] {
  const groups = new Map<string, Waiting>();
  for (const { id, ...one } of [...all].sort((a, b) => a.since.getTime() - b.since.getTime())) {
    const isAlone = ONE_BY_ONE.has(one.code);
    const params: JsonObject = one.reason?.params ?? {};
    const key = JSON.stringify([one.code, one.org, one.behind, one.reason?.code, params, isAlone ? id : null]);
    const known = groups.get(key);
    const ids = known ? known.ids : [];
    groups.set(key, {
      ...one,
      since: known?.since ?? one.since,
      ids: ids.length < IDS_SHOWN ? [...ids, id] : ids,
      count: (known?.count ?? 0) + 1,
    });
  }
  return [...groups.values()];
}
