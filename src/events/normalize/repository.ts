import { z } from 'zod';
import { type EventFact, Misfit, factKeyOf } from '../event-fact.js';
import type { EventRepository } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { type Family, ownerShape, repositoryShape, userShape } from '../family.js';
import { actorOf, firstTime, idOf, objectOf, textOf, definedFields } from '../read-fields.js';

const ACTIONS = ['created', 'deleted', 'renamed'] as const;

const repositoryEventShape = z.object({
  action: z.string().min(1),
  repository: repositoryShape,
  // The owner in User shape, also when the owner is a person: every body of this event type has it.
  organization: ownerShape,
  sender: userShape,
});

const forkShape = z.object({ forkee: repositoryShape, repository: repositoryShape, sender: userShape });

/** Repositories that appear, change their name or owner, go, or are forked. Renames and transfers are told by the feed alone (until Gitea 1.28). */
export const repositoryFamily: Family = {
  deliveries: {
    repository: { owns: [], shape: repositoryEventShape, actions: ACTIONS, read: readRepository },
    fork: { owns: ['forkee'], shape: forkShape, read: readFork },
  },
  rows: {
    create_repo: (feed) => [
      {
        kind: 'repository.created',
        factKey: factKeyOf(feed.repoId, 'repository.created'),
        ...feed.common,
        data: { action: 'created' },
      },
    ],
    rename_repo: (feed) => [renamed(feed.repoId, feed.content, feed.common)],
    transfer_repo: (feed) => [
      {
        kind: 'repository.transferred',
        factKey: factKeyOf(feed.repoId, 'repository.transferred', feed.content),
        ...feed.common,
        data: { action: 'transferred', from: feed.content },
      },
    ],
    star_repo: (feed) => [
      {
        kind: 'repository.starred',
        factKey: factKeyOf(feed.repoId, 'repository.starred', feed.common.actor?.id ?? ''),
        ...feed.common,
        data: {},
      },
    ],
    watch_repo: (feed) => [
      {
        kind: 'repository.watched',
        factKey: factKeyOf(feed.repoId, 'repository.watched', feed.common.actor?.id ?? ''),
        ...feed.common,
        data: {},
      },
    ],
  },
};

function readRepository(body: JsonObject, repo: EventRepository | null): EventFact | Misfit {
  if (!repo) return new Misfit('no repository');
  const common = { factAt: null, actor: actorOf(body.sender), repo };
  switch (body.action) {
    case 'created':
      return {
        kind: 'repository.created',
        factKey: factKeyOf(repo.id, 'repository.created'),
        ...common,
        factAt: firstTime(objectOf(body.repository)?.created_at),
        data: { action: 'created' },
      };
    case 'deleted':
      return {
        kind: 'repository.deleted',
        factKey: factKeyOf(repo.id, 'repository.deleted'),
        ...common,
        data: { action: 'deleted' },
      };
    default: {
      const from = textOf(objectOf(objectOf(body.changes)?.name)?.from);
      return renamed(repo.id, from, common);
    }
  }
}

function renamed(repoId: string, from: string, common: Pick<EventFact, 'factAt' | 'actor' | 'repo'>): EventFact {
  return {
    kind: 'repository.renamed',
    factKey: factKeyOf(repoId, 'repository.renamed', from),
    ...common,
    data: { action: 'renamed', from, changes: { name: { from } } },
  };
}

/** `forkee` is the original and `repository` the new fork (the other way round than elsewhere): the event belongs to the original. */
function readFork(body: JsonObject, original: EventRepository | null): EventFact | Misfit {
  const fork = objectOf(body.repository);
  if (!original || !fork) return new Misfit('no repository');
  return {
    kind: 'repository.forked',
    factKey: factKeyOf(original.id, 'repository.forked', idOf(fork.id)),
    factAt: firstTime(fork.created_at),
    actor: actorOf(body.sender),
    repo: original,
    data: definedFields({ fork }),
  };
}
