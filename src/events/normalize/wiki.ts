import { z } from 'zod';
import { type EventFact, Misfit, factKeyOf } from '../event-fact.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventRepository } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { type Family, repositoryShape, userShape } from '../family.js';
import { actorOf, textOf, definedFields } from '../read-fields.js';
import { tableOf } from '../../core/table.js';

const wikiShape = z.object({
  action: z.string().min(1),
  page: z.string().min(1),
  comment: z.string().nullish(),
  repository: repositoryShape,
  sender: userShape,
});

const KIND_OF: Readonly<Record<string, EventKind>> = tableOf({
  created: 'wiki.created',
  edited: 'wiki.edited',
  deleted: 'wiki.deleted',
});

/** Pages of a wiki. `comment` here is a text: the message of the change. */
export const wikiFamily: Family = {
  deliveries: { wiki: { owns: ['page', 'comment'], shape: wikiShape, actions: Object.keys(KIND_OF), read: readWiki } },
};

function readWiki(body: JsonObject, repo: EventRepository | null): EventFact | Misfit {
  const kind = KIND_OF[textOf(body.action)];
  if (!repo || !kind) return new Misfit('no wiki event');
  return {
    kind,
    factKey: factKeyOf(repo.id, kind, textOf(body.page)),
    factAt: null,
    actor: actorOf(body.sender),
    repo,
    data: definedFields({ action: body.action, page: body.page, message: textOf(body.comment) || undefined }),
  };
}
