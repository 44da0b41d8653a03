import type { Unfit } from '../rules/language/revision.js';
import { say } from './reasons.js';
import { givenOf, inBoth, textsOf } from './support/unfit.js';
import type { Given } from './define-action.js';
import { defineEnsuringAction, changed, refused, unchanged } from './define-action.js';
import { optional, texts } from './support/params.js';
import {
  askPerson,
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { isSameSetting } from './support/compare.js';
import { orMissing, whereOffered } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';

const MAX_TOPICS = 25;
const TOPICS = { what: 'topics' };

const topics = (summary: string) =>
  optional(
    texts({
      summary,
      max: MAX_TOPICS,
      check: (topic) =>
        /^[a-z0-9][-.a-z0-9]{0,34}$/.test(topic) ? null : 'must be lower-case letters, digits, - and ., at most 35',
    }),
  );

interface SeenTopics {
  /** Null = the repository is gone. */
  readonly topics: readonly string[] | null;
}

/** The list as a whole was sent: it is there, or the next call computes it anew from what is there. */
const topicsRecovery = defineRecovery<unknown, SeenTopics>({
  reads: ['listTopics'],
  mayRead: [],
  settle: 'whole',
  absolute: true,

  async read({ forge, target }) {
    const found = await whereOffered(forge.listTopics, (list) => orMissing(list(placeOf(target))));
    return found === undefined ? null : { topics: found === null ? null : (found.topics ?? []) };
  },

  decide: decideTopics,
});

function decideTopics({ snapshot, seen }: RecoveryFacts<unknown, SeenTopics>): Verdict {
  if (seen === null) return askPerson(say('found.unreadable', { ...TOPICS, then: 'nothing' }));
  if (seen.topics === null) return settledAs('refused', say('found.gone', { what: 'repository' }));
  const goal = snapshot?.['goal'];
  return Array.isArray(goal) && isSameSetting('topics', goal, [...seen.topics])
    ? done(say('found.as-wanted', TOPICS))
    : resend(say('found.not-yet', TOPICS));
}

function unfit(given: Given): Unfit | null {
  const isGiven = (name: string): boolean => given[name] !== undefined && textsOf(given, name)?.length !== 0;
  if (given['set'] !== undefined && (isGiven('add') || isGiven('remove')))
    return { reason: say('params.alone', { param: 'set' }), param: 'set' };
  if (given['set'] === undefined && !isGiven('add') && !isGiven('remove'))
    return { reason: say('params.none', { names: ['add', 'remove', 'set'] }), hint: 'add: [NAME]' };
  return inBoth(given, 'add', 'remove');
}

/** The forge takes the whole list: what is there is read, and kept unless the rule says otherwise. */
export const ensureTopics = defineEnsuringAction({
  name: 'topics.ensure',
  summary: 'Make sure the repository has, or does not have, these topics',
  target: 'repository',
  params: {
    add: topics('topics it has'),
    remove: topics('topics it has not'),
    set: topics('the only topics it has; alone'),
  },
  operations: ['replaceTopics', 'listTopics'],
  whereOffered: [],
  power: 'topics.ensure',
  right: RIGHTS.repositoryAdmin,
  naturalKey: 'add',
  // One key per repository: the forge takes the list as a whole.
  keyOf: () => 'topics',
  object: () => null,
  names: () => [],
  unfit,
  raises: [],
  example: { add: ['managed'] },

  recover: topicsRecovery,

  async ensure({ target, forge, remember }, { add = [], remove = [], set }) {
    const where = { owner: target.owner, repo: target.name };
    const wrong = unfit(givenOf({ add, remove, set }));
    if (wrong) return refused(wrong.reason);
    const before = (await forge.listTopics(where)).topics ?? [];
    const goal = [...new Set(set ?? [...before.filter((topic) => !remove.includes(topic)), ...add])].sort();
    if (goal.length > MAX_TOPICS) return refused(say('cannot.hold-topics', { most: MAX_TOPICS, count: goal.length }));
    const added = goal.filter((topic) => !before.includes(topic));
    const removed = before.filter((topic) => !goal.includes(topic));
    if (added.length + removed.length === 0) return unchanged(say('found.as-wanted', TOPICS));
    remember({ goal });
    await forge.replaceTopics({ ...where, body: { topics: goal } });
    return changed(say('made.topics', { added, removed }));
  },
});
