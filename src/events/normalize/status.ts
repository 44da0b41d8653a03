import { z } from 'zod';
import { type EventFact, Misfit, factKeyOf } from '../event-fact.js';
import type { EventRepository } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { type Family, idLike, repositoryShape, shaText, userShape } from '../family.js';
import { actorOf, firstTime, idOf, definedFields } from '../read-fields.js';

const statusShape = z.object({
  id: idLike,
  sha: shaText,
  context: z.string(),
  state: z.string().min(1),
  repository: repositoryShape,
  sender: userShape,
});

/** Commit statuses (Gitea); workflow jobs write them too, with the workflow token as sender. */
export const statusFamily: Family = {
  deliveries: { status: { owns: ['context'], shape: statusShape, read: readStatus } },
};

function readStatus(body: JsonObject, repo: EventRepository | null): EventFact | Misfit {
  if (!repo) return new Misfit('no repository');
  const { id, sha, context, state, description, target_url, created_at, updated_at, commit } = body;
  return {
    kind: 'status.set',
    factKey: factKeyOf(repo.id, 'status.set', idOf(id)),
    factAt: firstTime(updated_at, created_at),
    actor: actorOf(body.sender),
    repo,
    data: definedFields({
      sha,
      status: definedFields({ id, sha, context, state, description, target_url, created_at, updated_at }),
      commit,
    }),
  };
}
