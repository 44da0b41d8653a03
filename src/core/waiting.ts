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
  /** What to do about it, with `{first}`, the oldest that waits, and `{behind}`; null = nothing: it goes on by itself. */
  readonly todo: string | null;
  /** `by plan`: somebody wanted it so: the operator, the author of the rule, or a person. `passes`: common in a bot at work, for some seconds. */
  readonly how: 'by plan' | 'passes' | null;
}

function row(what: string, todo: string | null, how: Row['how'] = null): Row {
  return { what, todo, how };
}

const READ_AGAIN = 'the bot tries again; look at the forge when it lasts';

/**
 * The one table of waiting reasons: every way in which something is not decided or not done since something else is in the way. The code is the same in
 * every release; the store finds who waits by it.
 */
export const WAITING = {
  'effect.read': row(
    'steps aside: a read fails for its object',
    'look at its object on the forge; after 8 tries or a day it is dead: forgehand retry {first}',
  ),
  'effect.cause': row(
    'steps aside: the forge does not say who caused it',
    'look at the object of its event on the forge; after a day it is dead',
  ),
  'effect.outcome': row('steps aside: the outcome of its call is unknown, and the bot reads it', null),
  'effect.person': row(
    'steps aside: a person must say what became of its call',
    'look at the forge, then: forgehand resolve {first} --exists, or forgehand resolve {first} --absent',
  ),
  'effect.object': row('writes or names the object of an effect that stepped aside', 'forgehand explain {behind}'),
  'effect.key': row('the same effect of another run is under way', 'forgehand explain {behind}', 'passes'),
  'effect.step': row('an earlier step of its run has not ended', 'forgehand explain {behind}', 'passes'),
  'effect.order': row('an earlier effect of its repository has not ended', 'forgehand explain {behind}', 'passes'),
  'effect.retry': row('its last try failed; it is tried again in its place', READ_AGAIN, 'passes'),
  'effect.revision': row(
    'this process may not know the newest rules; another one decides whether it is still wanted',
    'forgehand status: every process must have loaded the rules',
    'passes',
  ),
  'effect.turn': row('is due, and no worker has taken it', 'forgehand doctor; start a worker, or more of them'),
  'effect.approval': row('waits for an approval', 'forgehand approve {first}', 'by plan'),
  'effect.budget': row(
    'a budget is spent',
    'it goes on when there is room; orgs[].budgets sets how many effects an hour may have',
    'by plan',
  ),
  'effect.pause': row('is paused', 'forgehand resume {behind}', 'by plan'),
  'effect.queue': row('waits in a merge queue', null, 'by plan'),
  'effect.others': row('waits for what others do, such as an approval or a check of a pull request', null, 'by plan'),
  'forge.limits': row('the forge asked the bot to wait (429)', 'it goes on when that time is over', 'passes'),
  'forge.silent': row('the forge does not answer', 'look at the forge and the network; forgehand doctor --fresh'),
  'forge.refuses': row(
    'the forge refuses the credentials of the bot',
    'make a new token and put it into the config; forgehand doctor --fresh says what it needs',
  ),
  'arrival.turn': row('an arrival is not read yet', 'forgehand doctor; start a worker, or more of them'),
  'work.crashed': row(
    'a process ended over it; the bot takes it up again alone',
    'nothing yet: after three deaths it is quarantined',
  ),
  'work.quarantined': row('is quarantined: processes ended over it', 'report it, then: forgehand release {first}'),
  'event.read': row('an event cannot be decided: the forge does not answer what its rules read', READ_AGAIN),
  'event.order': row('an earlier event of the same object is not decided', 'forgehand explain {behind}', 'passes'),
  'event.rules': row(
    'no revision of the rules is active',
    'forgehand doctor and forgehand check say what is wrong with the rules',
  ),
  'event.turn': row('an event is not decided yet', 'forgehand doctor; start a worker, or more of them'),
  'run.window': row('a run gathers others of its key (coalesce)', null, 'by plan'),
  'run.answer': row('the answer to a person waits for what they asked for', null, 'by plan'),
  'run.check': row('a pull request waits for the check of its rules', null),
  'run.field': row('a run waits for the delivery that tells what its rule needs', null),
  'run.read': row('a run cannot be decided: the forge does not answer what its rule reads', READ_AGAIN),
  'run.open': row('a run is not decided yet', 'forgehand explain {first}'),
  'tick.read': row('an occurrence of a schedule cannot be decided: the forge does not answer', READ_AGAIN),
  'tick.rules': row(
    'no revision of the rules is active',
    'forgehand doctor and forgehand check say what is wrong with the rules',
  ),
  'tick.turn': row('an occurrence of a schedule is not decided yet', 'forgehand schedules; start a worker'),
  'plan.approval': row('a plan waits for an approval', 'forgehand approve {behind}', 'by plan'),
  'plan.approved': row('a plan is approved and not applied', 'forgehand apply {behind}'),
  'policy.frozen': row('a freeze window holds a policy or a schedule', null, 'by plan'),
  'policy.cap': row('a policy wants more than its cap allows', 'forgehand plan --policy {behind}'),
  'rule.limit': row(
    'a rule was over limits.runs_per_hour: what it held is not decided again by itself',
    'forgehand explain {first}; forgehand replay decides its event again',
  ),
} as const satisfies Readonly<Record<string, Row>>;

export type WaitingCode = keyof typeof WAITING;

/** Whether it is common in a bot at work, for some seconds. */
export function passes(code: WaitingCode): boolean {
  return WAITING[code].how === 'passes';
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
  const { what, todo, how } = WAITING[code];
  return {
    code,
    org,
    what,
    since,
    behind,
    because: reason && textOf(reason),
    todo:
      todo
        ?.replaceAll('{first}', () => ids[0] ?? '')
        .replaceAll('{behind}', () => behind ?? '')
        .trim() ?? null,
    byPlan: how === 'by plan',
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
    const group = groups.get(key);
    const ids = group ? group.ids : [];
    groups.set(key, {
      ...one,
      since: group?.since ?? one.since,
      ids: ids.length < IDS_SHOWN ? [...ids, id] : ids,
      count: (group?.count ?? 0) + 1,
    });
  }
  return [...groups.values()];
}
