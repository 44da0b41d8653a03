import type { Unfit } from '../rules/language/catalogue.js';
import { say } from './reasons.js';
import { inBoth, textsOf } from './support/unfit.js';
import type { WrittenParams } from './define-action.js';
import { defineAction, changed, refused, there, toWrite } from './define-action.js';
import { optional, texts } from './support/params.js';
import { orMissing } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';

const MAX_TOPICS = 25;
const TOPICS = { what: 'topics' };

const topics = (summary: string) =>
  optional(
    texts(summary, {
      max: MAX_TOPICS,
      check: (topic) =>
        /^[a-z0-9][-.a-z0-9]{0,34}$/.test(topic) ? null : 'must be lower-case letters, digits, - and ., at most 35',
    }),
  );

function unfit(inputs: WrittenParams): Unfit | null {
  const isGiven = (name: string): boolean => inputs[name] !== undefined && textsOf(inputs, name)?.length !== 0;
  if (inputs['set'] !== undefined && (isGiven('add') || isGiven('remove')))
    return { reason: say('params.alone', { param: 'set' }), param: 'set' };
  if (inputs['set'] === undefined && !isGiven('add') && !isGiven('remove'))
    return { reason: say('params.none', { names: ['add', 'remove', 'set'] }), hint: 'add: [NAME]' };
  return inBoth(inputs, 'add', 'remove');
}

/** The forge takes the whole list: what is there is read, and kept unless the rule says otherwise. */
export const ensureTopics = defineAction({
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
  about: () => TOPICS,

  async look({ forge, place, call }) {
    const seen = await (call ? orMissing(forge.listTopics(place)) : forge.listTopics(place));
    return { now: seen && (seen.topics ?? []) };
  },

  compare({ wanted: { add = [], remove = [], set }, seen: { now } }) {
    if (now === null) return refused(say('found.gone', { what: 'repository' }));
    const goal = [...new Set(set ?? [...now.filter((topic) => !remove.includes(topic)), ...add])].sort();
    if (goal.length > MAX_TOPICS) return refused(say('cannot.hold-topics', { most: MAX_TOPICS, count: goal.length }));
    const added = goal.filter((topic) => !now.includes(topic));
    const removed = now.filter((topic) => !goal.includes(topic));
    if (added.length + removed.length === 0) return there(say('found.as-wanted', TOPICS));
    return toWrite({ goal, added, removed }, { remember: { goal } });
  },

  async write({ forge, place }, _, { goal, added, removed }) {
    await forge.replaceTopics({ ...place, body: { topics: goal } });
    return changed(say('made.topics', { added, removed }));
  },

  recover: { absolute: true },
});
