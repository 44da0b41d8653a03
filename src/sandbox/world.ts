import { type Clock, systemClock } from '../core/clock.js';
import { rfc3339 } from './render/time.js';
import type { Change, Happening, Listener, Told } from './happening.js';
import { GITEA_QUIRKS, type ServerQuirks } from './quirks.js';
import type { Id, Seconds } from './basics.js';
import {
  GHOST,
  type OAuthApplication,
  type OAuthGrant,
  type Organization,
  type PackageVersion,
  type Team,
  type Token,
  type Owner,
  type User,
  type Variable,
  type OAuthCode,
  type WebSession,
} from './entities/people.js';
import type {
  FeedRow,
  BranchProtection,
  Hook,
  Label,
  Milestone,
  PushMirror,
  Release,
  Repository,
  CommitStatus,
} from './entities/repository.js';
import type { Comment, Issue, Reaction, Review } from './entities/issue.js';
import type { Runner, Task, WorkflowJob, WorkflowRun } from './entities/run.js';

export type * from './basics.js';
export { UNITS, MODES, atLeast, higherOf, NO_SHA } from './basics.js';
export { ACTIONS_USER, NO_PERSON } from './entities/people.js';
export type * from './entities/people.js';
export type * from './entities/repository.js';
export type * from './entities/issue.js';
export type * from './entities/run.js';
export type { Change, Happening, Listener, Told } from './happening.js';

export interface WorldOptions {
  clock?: Clock;
  /** IANA name; the zone in which answers tell times. Default UTC. */
  timeZone?: string;
  /** First id of every kind; a number above 2^53 shows who loses digits. Default 1n. */
  firstId?: Id;
  /** Default: those of the newest recorded Gitea. */
  quirks?: ServerQuirks;
}

/** Every kind of object with ids of its own; owners share one, so do comments and review comments, as on a real server. */
type IdKind =
  | 'owner'
  | 'team'
  | 'repo'
  | 'label'
  | 'milestone'
  | 'issue'
  | 'pull'
  | 'comment'
  | 'review'
  | 'status'
  | 'release'
  | 'asset'
  | 'hook'
  | 'mirror'
  | 'variable'
  | 'package'
  | 'token'
  | 'oauth application'
  | 'oauth grant'
  | 'run'
  | 'job'
  | 'task'
  | 'runner'
  | 'feed';

/** What a world is made of, by the names of its fields; objects are shared with it, not copied. */
export interface WorldState {
  // oxlint-disable-next-line local/no-participle-names -- a name in state files
  readonly kept: Readonly<Record<string, unknown>>;
  readonly lastIds: ReadonlyMap<IdKind, Id>;
  readonly lastHappening: number;
}

/**
 * Everything the sandbox forge knows, in memory. Resources read and write the maps directly; they tell what they did with `happened`
 * (the act, for feed and deliveries) and `changed` (the objects, for the ledger).
 */
export class World {
  readonly owners = new Map<Id, Owner>();
  /** Ids of owners that were deleted: what they wrote is shown as the ghost's. */
  // oxlint-disable-next-line local/no-participle-names -- a name in state files
  readonly gone = new Set<Id>();
  readonly teams = new Map<Id, Team>();
  readonly tokens = new Map<Id, Token>();
  readonly oauthApplications = new Map<Id, OAuthApplication>();
  readonly oauthGrants = new Map<Id, OAuthGrant>();
  /** By the code itself. */
  readonly oauthCodes = new Map<string, OAuthCode>();
  /** The key that signs tokens, in PEM; none until the first is signed. */
  readonly oauthKeys: string[] = [];
  /** By the value of the cookie. */
  readonly webSessions = new Map<string, WebSession>();
  readonly variables = new Map<Id, Variable>();
  readonly packages = new Map<Id, PackageVersion>();
  readonly repos = new Map<Id, Repository>();
  readonly protections: BranchProtection[] = [];
  readonly labels = new Map<Id, Label>();
  readonly milestones = new Map<Id, Milestone>();
  readonly issues = new Map<Id, Issue>();
  readonly comments = new Map<Id, Comment>();
  readonly reactions: Reaction[] = [];
  readonly reviews = new Map<Id, Review>();
  readonly statuses: CommitStatus[] = [];
  readonly releases = new Map<Id, Release>();
  readonly hooks = new Map<Id, Hook>();
  readonly pushMirrors = new Map<Id, PushMirror>();
  readonly runs = new Map<Id, WorkflowRun>();
  readonly jobs = new Map<Id, WorkflowJob>();
  readonly tasks = new Map<Id, Task>();
  readonly runners = new Map<Id, Runner>();
  readonly feed: FeedRow[] = [];
  /** Lower-case old name -> owner. */
  readonly ownerRedirects = new Map<string, Id>();
  /** `ownerId/lower-case old name` -> repository. */
  readonly repoRedirects = new Map<string, Id>();

  /** Where the server says it is: absolute links of deliveries and of answers without a Host. Set when it listens. */
  rootUrl = 'http://127.0.0.1';
  timeZone: string;
  clock: Clock;
  readonly quirks: ServerQuirks;

  readonly #firstId: Id;
  readonly #lastIds = new Map<IdKind, Id>();
  readonly #listeners: Listener[] = [];
  readonly #changeListeners: ((change: Change) => void)[] = [];
  #lastHappening = 0;

  /** @throws RangeError when the time zone is none */
  constructor(options: WorldOptions = {}) {
    this.clock = options.clock ?? systemClock;
    this.timeZone = options.timeZone ?? 'UTC';
    this.#firstId = options.firstId ?? 1n;
    this.quirks = options.quirks ?? GITEA_QUIRKS;
    rfc3339(0, this.timeZone);
  }

  save(): WorldState {
    return {
      kept: Object.fromEntries(this.#fields()),
      lastIds: this.#lastIds,
      lastHappening: this.#lastHappening,
    };
  }

  /** Fill an empty world with what `save` of another gave. Nobody is told. */
  restore({ kept, lastIds, lastHappening }: WorldState): void {
    for (const [name, field] of this.#fields()) refill(field, kept[name] ?? []);
    for (const [kind, id] of lastIds) this.#lastIds.set(kind, id);
    this.#lastHappening = lastHappening;
  }

  /** The fields that hold the state: every map, set and list. */
  #fields(): Array<[string, Collection]> {
    return Object.entries(this).filter((entry): entry is [string, Collection] => isCollection(entry[1]));
  }

  nextId(kind: IdKind): Id {
    const last = this.#lastIds.get(kind);
    const id = last === undefined ? this.#firstId : last + 1n;
    this.#lastIds.set(kind, id);
    return id;
  }

  /** Leaves out ids of a kind, as ids of other owners' objects would. */
  skipIds(kind: IdKind, count: number): void {
    for (let n = 0; n < count; n += 1) this.nextId(kind);
  }

  now(): Seconds {
    return Math.floor(this.clock.now().getTime() / 1000);
  }

  listen(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Tell an act of a person (or of the forge in a person's name) after the state was changed. */
  happened(by: User, happening: Happening): void {
    this.#lastHappening += 1;
    const fact: Told = { ...happening, by, at: this.now(), n: this.#lastHappening };
    for (const listener of this.#listeners) listener(fact);
  }

  onChange(listener: (change: Change) => void): void {
    this.#changeListeners.push(listener);
  }

  /** Tell the ledger that an object was made, changed or removed. */
  changed(kind: string, id: Id | string, what: Change['what']): void {
    for (const listener of this.#changeListeners) listener({ kind, id, what });
  }

  /** Keeps a new object. */
  add<T extends { readonly id: Id }>(kind: string, map: Map<Id, T>, one: T): T {
    map.set(one.id, one);
    this.changed(kind, one.id, 'created');
    return one;
  }

  remove(kind: string, map: Map<Id, unknown>, { id }: { readonly id: Id }): void {
    map.delete(id);
    this.changed(kind, id, 'deleted');
  }

  /** Names of owners are found without regard to case. */
  ownerByName(name: string): Owner | undefined {
    const wanted = name.toLowerCase();
    for (const owner of this.owners.values()) if (owner.login.toLowerCase() === wanted) return owner;
    return undefined;
  }

  userByName(name: string): User | undefined {
    const owner = this.ownerByName(name);
    return owner?.kind === 'user' ? owner : undefined;
  }

  orgByName(name: string): Organization | undefined {
    const owner = this.ownerByName(name);
    return owner?.kind === 'organization' ? owner : undefined;
  }

  repoByName(ownerId: Id, name: string): Repository | undefined {
    const wanted = name.toLowerCase();
    for (const repo of this.repos.values())
      if (repo.ownerId === ownerId && repo.name.toLowerCase() === wanted) return repo;
    return undefined;
  }

  /** @throws Error when the id is unknown: a fault of ours, never of a caller */
  owner(id: Id): Owner {
    return existingOf(this.owners.get(id) ?? (this.gone.has(id) ? GHOST : undefined), 'owner', id);
  }

  user(id: Id): User {
    const owner = this.owner(id);
    if (owner.kind !== 'user') throw new Error(`owner ${id} is no user`);
    return owner;
  }

  repo(id: Id): Repository {
    return existingOf(this.repos.get(id), 'repository', id);
  }

  ownerOf(repo: Repository): Owner {
    return this.owner(repo.ownerId);
  }
}

function existingOf<T>(value: T | undefined, kind: string, id: Id): T {
  if (value === undefined) throw new Error(`no ${kind} ${id}`);
  return value;
}

type Collection = Map<unknown, unknown> | Set<unknown> | unknown[];

function isCollection(value: unknown): value is Collection {
  return value instanceof Map || value instanceof Set || Array.isArray(value);
}

function refill(field: Collection, from: unknown): void {
  if (field instanceof Map) for (const [key, value] of from as Map<unknown, unknown>) field.set(key, value);
  else if (field instanceof Set) for (const value of from as Set<unknown>) field.add(value);
  else for (const value of from as unknown[]) field.push(value);
}
