import { RIGHTS } from '../core/rights.js';
import { defineAction } from './define-action.js';
import { topicsRecovery } from './topics-ensure.recovery.js';
import { changed, refused, unchanged } from './support/outcome.js';
import { optional, texts } from './support/params.js';

const MAX_TOPICS = 25;

const topics = (summary: string) =>
  optional(
    texts({
      summary,
      max: MAX_TOPICS,
      check: (topic) =>
        /^[a-z0-9][-.a-z0-9]{0,34}$/.test(topic) ? null : 'must be lower-case letters, digits, - and ., at most 35',
    }),
  );

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
  raises: [],
  example: { add: ['managed'] },

  recover: topicsRecovery,

  async ensure({ target, forge, remember }, { add = [], remove = [], set }) {
    const where = { owner: target.owner, repo: target.name };
    if (set !== undefined && add.length + remove.length > 0) return refused('set stands alone: it is the whole list');
    if (set === undefined && add.length + remove.length === 0) return refused('none of add, remove and set is given');
    const both = add.filter((topic) => remove.includes(topic));
    if (both.length > 0) return refused(`${both.join(', ')} cannot be both added and removed`);
    const before = (await forge.listTopics(where)).topics ?? [];
    const goal = [...new Set(set ?? [...before.filter((topic) => !remove.includes(topic)), ...add])].sort();
    if (goal.length > MAX_TOPICS)
      return refused(`a repository has at most ${MAX_TOPICS} topics, this would be ${goal.length}`);
    const told = [
      ...goal.filter((topic) => !before.includes(topic)).map((topic) => `+${topic}`),
      ...before.filter((topic) => !goal.includes(topic)).map((topic) => `-${topic}`),
    ];
    if (told.length === 0) return unchanged('the topics are as wanted');
    remember({ goal });
    await forge.replaceTopics({ ...where, body: { topics: goal } });
    return changed(`topics ${told.join(' ')}`);
  },
});
