import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { didYouMean } from '../../core/did-you-mean.js';
import { UserError } from '../../core/errors.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventRepository, ForgeEvent } from '../../core/event.js';
import { newId } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import type { Ownership, RepositoryOwners } from '../../core/repository-owner.js';
import { factOfObject, kindsOfObject } from '../../events/normalize-object.js';
import { Misfit } from '../../events/event-fact.js';
import { orMissing, type ForgeClient } from '../../forge/forge-client.js';
import { ForgeOwners } from '../../forge/forge-owners.js';
import type { OperationName } from '../../forge/operations.js';
import { Forges, type ForgeAccess } from '../execute/forge-access.js';

/** An issue or pull request of an organization. */
interface NamedObject {
  readonly forge: string;
  readonly org: string;
  /** Without its owner. */
  readonly repo: string;
  readonly number: number;
}

/** An event that was made from an object: it is stored nowhere. */
export interface ObjectEvent {
  readonly event: ForgeEvent;
  readonly ownership: Ownership;
}

/** Makes events from objects as the forge shows them now, for trying rules. Reads alone: nothing is stored. */
@Injectable()
export class ObjectEvents {
  constructor(
    private readonly forges: Forges,
    @Inject(ForgeOwners) private readonly owners: Pick<RepositoryOwners, 'of'>,
    private readonly clock: Clock,
  ) {}

  /**
   * @param as the kind of event; null = the opening of the object
   * @throws UserError NOT_FOUND, NOT_OFFERED, BAD_KIND; ForgeError while the forge cannot be asked
   */
  async make({ forge, org, repo: name, number }: NamedObject, as: string | null): Promise<ObjectEvent> {
    const access = this.forges.get(forge, org);
    if (!access) throw new UserError('NO_SUCH_FORGE', `the config has no forge ${forge}`);
    const { client } = access;
    const missing = (): UserError =>
      new UserError('NOT_FOUND', `the bot finds no ${org}/${name}#${number} at the forge`);
    need(access, 'getRepo', 'getIssue');
    const described = (await orMissing(client.getRepo({ owner: org, repo: name }))) as JsonObject | null;
    const repo = described && repositoryOf(described, org);
    if (!repo) throw missing();
    const ownership = await this.owners.of({ forge, org, id: repo.id, name: repo.name });
    if (ownership.is === 'refused') throw missing();
    const at = { owner: org, repo: repo.name, index: String(number) };
    const issue = (await orMissing(client.getIssue(at))) as JsonObject | null;
    if (!issue) throw missing();
    const isPull = (issue.pull_request ?? null) !== null;
    const kind = kindOf(as, isPull);
    if (isPull) need(access, 'getPull');
    const pull = isPull ? ((await client.getPull(at)) as unknown as JsonObject) : null;
    if (kind === 'comment.created') need(access, 'listComments');
    const comment = kind === 'comment.created' ? await newestComment(client, at, issue) : null;
    const fact = factOfObject(kind, { issue, pull, comment }, repo);
    if (fact instanceof Misfit) throw new UserError('BAD_KIND', `${org}/${name}#${number} as ${kind}: ${fact.reason}`);
    const { factKey, factAt, actor, data } = fact;
    const storedAt = this.clock.now();
    return {
      event: { id: newId(), forge, org, kind, source: 'webhook', factKey, factAt, actor, repo, data, storedAt },
      ownership,
    };
  }
}

const DAY_MS = 24 * 3_600_000;
/** The list of comments has no pages: it is read backwards from the newest change of the object, a longer time at each look. */
const DAYS_BEFORE_CHANGE = [1, 30, 365];

async function newestComment(
  client: Pick<ForgeClient, 'listComments'>,
  at: { readonly owner: string; readonly repo: string; readonly index: string },
  { updated_at: changedAt }: JsonObject,
): Promise<JsonObject | null> {
  const changedMs = Date.parse(String(changedAt));
  if (Number.isNaN(changedMs)) return null;
  for (const days of DAYS_BEFORE_CHANGE) {
    const sinceMs = changedMs - days * DAY_MS;
    const comments = await client.listComments({ ...at, since: new Date(sinceMs).toISOString() });
    // An older one that was edited is told as well.
    const newest = comments.findLast(({ created_at: madeAt }) => Date.parse(String(madeAt)) >= sinceMs);
    if (newest) return newest as unknown as JsonObject;
  }
  return null;
}

function need(access: ForgeAccess, ...names: readonly OperationName[]): void {
  const missing = names.find((name) => !access.offers(name));
  if (missing !== undefined)
    throw new UserError('NOT_OFFERED', `this forge does not offer ${missing}: rules cannot be tried on its objects`);
}

function kindOf(as: string | null, isPull: boolean): EventKind {
  const kinds = kindsOfObject(isPull);
  const kind = kinds.find((one) => one === (as ?? (isPull ? 'pull_request.opened' : 'issue.opened')));
  if (kind) return kind;
  const suggestion = didYouMean(as ?? '', kinds);
  throw new UserError(
    'BAD_KIND',
    `${isPull ? 'a pull request' : 'an issue'} cannot be tried as ${as}; ${suggestion ? `did you mean ${suggestion}? It` : 'it'} can be ${kinds.join(', ')}`,
  );
}

/** As events carry it; null = it has no number or name. */
function repositoryOf(described: JsonObject, org: string): EventRepository | null {
  const { id, name, owner: _, permissions: __, ...details } = described;
  if (typeof id !== 'string' || typeof name !== 'string') return null;
  return { ...details, id, owner: org, name, full_name: `${org}/${name}` };
}
