import { z } from 'zod';
import { type EventFact, Misfit, factKeyOf } from '../event-fact.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventRepository } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { type Family, idLike, ownerShape, userShape } from '../family.js';
import { actorOf, firstTime, idOf, objectOf, textOf, definedFields } from '../read-fields.js';
import { tableOf } from '../../core/table.js';

const packageShape = z.object({
  action: z.string().min(1),
  package: z.object({
    id: idLike,
    name: z.string().min(1),
    type: z.string().min(1),
    version: z.string(),
    owner: ownerShape,
  }),
  sender: userShape,
});

const KIND_OF: Readonly<Record<string, EventKind>> = tableOf({
  created: 'package.created',
  deleted: 'package.deleted',
});

/** Packages belong to an owner; the top-level `repository` is always null, the package may name a linked one. */
export const packageFamily: Family = {
  deliveries: { package: { owns: ['package'], shape: packageShape, actions: Object.keys(KIND_OF), read: readPackage } },
};

function readPackage(body: JsonObject, repo: EventRepository | null): EventFact | Misfit {
  const what = objectOf(body.package);
  const kind = KIND_OF[textOf(body.action)];
  if (!what || !kind) return new Misfit('no package event');
  return {
    kind,
    factKey: factKeyOf('-', kind, idOf(what.id)),
    factAt: kind === 'package.created' ? firstTime(what.created_at) : null,
    actor: actorOf(body.sender),
    repo,
    data: definedFields({ action: body.action, package: what }),
  };
}
