import type { NewEntry } from '../core/arrival.js';
import type { EventRepository } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import type { Binding } from './bind-tenant.js';
import { bindRow, TenantMismatch } from './bind-tenant.js';
import { type EventFact, Misfit, factKeyOf } from './event-fact.js';
import type { FeedRow } from './family.js';
import { ROW_READERS } from './normalize/index.js';
import { normalizeListed } from './normalize/listed.js';
import { readTaskRow } from './normalize/task.js';
import { withReadLists } from './read-lists.js';
import { readBody, actorOf, firstTime, idOf, objectOf, repositoryOf, textOf, definedFields } from './read-fields.js';

/**
 * The events that a feed row or a task row tells: one, but for a pushed or deleted tag (the push, and the tag's creation or deletion, which
 * are two deliveries as well). Pure.
 *
 * A task row does not name its repository: the poller writes it beside the row's own fields, under `repository`. What a list shows tells
 * guesses (`normalize/listed.ts`): the state held says which of them are events.
 */
export function normalizeEntry(entry: Pick<NewEntry, 'org' | 'source' | 'text' | 'textHash'>): EventFact[] | Misfit {
  const row = readBody(entry.text);
  if (row instanceof Misfit) return row;
  // Null when the server cannot load it any more: nothing that a rule could act on.
  if (!repositoryOf(entry.source === 'feed' ? row.repo : row.repository))
    return new Misfit('the row names no repository', 'no_repository');
  const binding = bindRow(entry.org, entry.source, row);
  if (binding instanceof TenantMismatch) return binding;
  const read = factsOfRow(entry, row, binding);
  if (read instanceof Misfit) return read;
  const facts = read.map(withReadLists);
  return binding.movedTo === null ? facts : facts.map((fact) => ({ ...fact, hasMoved: true as const }));
}

function factsOfRow(
  { source, textHash }: Pick<NewEntry, 'source' | 'textHash'>,
  row: JsonObject,
  { repo, repoId }: Binding,
): EventFact[] | Misfit {
  if (source === 'lists') return normalizeListed(row, repoId ?? '', repo);
  return source === 'feed'
    ? normalizeFeedRow(row, repoId ?? '', repo, textHash)
    : normalizeTaskRow(row, repoId ?? '', repo, textHash);
}

function normalizeFeedRow(
  row: JsonObject,
  repoId: string,
  repo: EventRepository | null,
  textHash: string,
): EventFact[] | Misfit {
  const common = { factAt: firstTime(row.created), actor: actorOfRow(row), repo };
  const opType = textOf(row.op_type);
  const feed: FeedRow = { row, opType, repoId, refName: textOf(row.ref_name), content: textOf(row.content), common };
  const reader = ROW_READERS.get(opType);
  const facts = reader?.(feed);
  if (facts && !(facts instanceof Misfit)) return facts;
  const why = facts instanceof Misfit ? facts.reason : 'nobody knows this op_type';
  const { repo: _, act_user: __, ...rest } = row;
  return [
    {
      kind: 'unrecognized',
      factKey: factKeyOf(repoId, 'unrecognized', opType, idOf(row.id) || textHash),
      ...common,
      data: definedFields({ op_type: opType, reason: why, row: rest }),
    },
  ];
}

function normalizeTaskRow(
  row: JsonObject,
  repoId: string,
  repo: EventRepository | null,
  textHash: string,
): EventFact[] | Misfit {
  const { repository: _, ...own } = row;
  const fact = readTaskRow(own, repoId, repo);
  if (!(fact instanceof Misfit)) return [fact];
  return [
    {
      kind: 'unrecognized',
      factKey: factKeyOf(repoId, 'unrecognized', 'task', idOf(own.id) || textHash, textOf(own.status)),
      factAt: firstTime(own.updated_at),
      actor: null,
      repo,
      data: definedFields({ reason: fact.reason, row: own }),
    },
  ];
}

/** `act_user` may be null for an administrator; its id stands in the row in any case. */
function actorOfRow(row: JsonObject): EventFact['actor'] {
  const user = actorOf(row.act_user);
  if (user) return user;
  const id = idOf(row.act_user_id);
  return id === '' || id === '0' ? null : { id, login: textOf(objectOf(row.act_user)?.login) };
}
