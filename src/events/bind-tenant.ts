import type { EventRepository } from '../core/event.js';
import type { Json, JsonObject } from '../core/json.js';
import { isJsonObject } from '../core/json.js';
import { Misfit } from './event-fact.js';
import type { PlaceRole, PlacesOfType } from './owner-places.js';
import { OWNER_PLACES, PLACES_IN_REPOSITORY, UNKNOWN_TYPE } from './owner-places.js';
import { idOf, repositoryOf } from './read-fields.js';

/** Why an arrival does not belong to the organization whose hook or poll brought it. */
type MismatchCode =
  /** An own place names another owner. */
  | 'tenant_other_owner'
  /** An own place names another number than the organization has. */
  | 'tenant_other_number'
  /** An own place names the number of the organization and another name. */
  | 'tenant_renamed'
  /** Two spellings in one own place, or two own places, name different things. */
  | 'tenant_contradiction'
  /** An own place names nothing that can be compared. */
  | 'tenant_unreadable'
  /** No own place names anything. */
  | 'tenant_missing';

/** The arrival must not act for this organization. The reason holds no text of the body but the path of the place. */
export class TenantMismatch extends Misfit {
  constructor(
    code: MismatchCode,
    /** Path of the place that does not fit. */
    readonly place: string,
    reason: string,
    /** What the place names instead, as told; empty where it names nothing. For the security log alone. */
    readonly named = '',
  ) {
    super(reason, code);
  }
}

export interface Binding {
  /** The repository that the event is about, and the only one that may become target or lookup. Null: the event is about none of ours. */
  readonly repo: EventRepository | null;
  /** Names the repository in fact keys, also where it moved away. Null: the event is about no repository. */
  readonly repoId: string | null;
  /** The owner to whom a repository of a polled row moved. Null: it did not move. */
  readonly movedTo: string | null;
}

type PolledSource = 'feed' | 'tasks' | 'lists';

/**
 * Bind a delivery to the organization of its hook: every own place of the body must name that organization, and all of them one repository. Pure.
 * @param number of the organization, as the forge told it; null = not known
 * @param body as `readBody` gives it
 */
export function bindDelivery(
  org: string,
  number: string | null,
  eventType: string,
  body: JsonObject,
): Binding | TenantMismatch {
  const type = deliveryPlaces(eventType) ?? UNKNOWN_TYPE;
  const places = findPlaces(body, type, type !== UNKNOWN_TYPE);
  return bind({ org, number }, type, places, body, false);
}

/**
 * Bind a polled row to the organization that was polled. The forge tells rows itself, with the repository as it is now: one that names another
 * owner, and nothing else against it, moved away. Its event is kept, about no repository of ours.
 */
export function bindRow(org: string, source: PolledSource, row: JsonObject): Binding | TenantMismatch {
  const type = OWNER_PLACES.get(source) ?? UNKNOWN_TYPE;
  return bind({ org, number: null }, type, findPlaces(row, type, true), row, true);
}

/** Names of accounts are ASCII and compared without regard to ASCII case; letters that merely look or fold alike are others. */
function isSameName(a: string, b: string): boolean {
  return a === b || asciiLower(a) === asciiLower(b);
}

/** A row's kind is no event type, whatever a header says. */
function deliveryPlaces(eventType: string): PlacesOfType | undefined {
  return isPolledSource(eventType) ? undefined : OWNER_PLACES.get(eventType);
}

function isPolledSource(word: string): word is PolledSource {
  return word === 'feed' || word === 'tasks' || word === 'lists';
}

type Naming = 'repository' | 'owner' | 'id';

interface Place {
  readonly path: string;
  readonly naming: Naming;
  readonly value: Json;
}

/** What one own place says. */
interface Named {
  readonly path: string;
  readonly owners: readonly string[];
  readonly ownerId: string;
  readonly repoId: string;
  readonly fullName: string;
}

function bind(
  { org, number }: { readonly org: string; readonly number: string | null },
  type: PlacesOfType,
  places: readonly Place[],
  body: JsonObject,
  isPolled: boolean,
): Binding | TenantMismatch {
  const all: Named[] = [];
  for (const place of places) {
    const named = read(place);
    if (named instanceof TenantMismatch) return named;
    all.push(named);
  }
  const wrong = twoOwners(all);
  if (wrong) return wrong;
  const others = all.flatMap(({ path, owners, ownerId }) =>
    owners.filter((name) => !isSameName(name, org)).map((name) => ({ path, name, ownerId })),
  );
  const [other] = others;
  if (other && !isPolled)
    return number !== null && isRenaming(others, number)
      ? new TenantMismatch('tenant_renamed', other.path, `${other.path} calls the organization otherwise`, other.name)
      : new TenantMismatch(
          'tenant_other_owner',
          other.path,
          `${other.path} names another owner than the organization of the hook`,
          other.name,
        );
  const stranger = number === null ? undefined : all.find(({ ownerId }) => ownerId !== '' && ownerId !== number);
  if (stranger)
    return new TenantMismatch(
      'tenant_other_number',
      stranger.path,
      `${stranger.path} names an organization of the same name with another number`,
      stranger.ownerId,
    );
  const apart = twoRepositories(all, isPolled);
  if (apart) return apart;
  const main =
    repositoryOf(valueAt(body, type.main)) ??
    (type === UNKNOWN_TYPE ? repositoryOf(valueAt(body, 'run.repository')) : null);
  if (!main && !(type.owner !== undefined && all.some(({ owners }) => owners.length > 0)))
    return new TenantMismatch('tenant_missing', type.main, `${type.main} names no repository`);
  return { repo: other ? null : main, repoId: main?.id ?? null, movedTo: other?.name ?? null };
}

/** All of them give one new name, and the number of the organization where they give one. */
function isRenaming(
  others: ReadonlyArray<{ readonly name: string; readonly ownerId: string }>,
  number: string,
): boolean {
  const [first] = others;
  return (
    first !== undefined &&
    others.some(({ ownerId }) => ownerId === number) &&
    others.every(({ name, ownerId }) => isSameName(name, first.name) && (ownerId === '' || ownerId === number))
  );
}

/** One place names two owners. */
function twoOwners(all: readonly Named[]): TenantMismatch | null {
  for (const { path, owners } of all) {
    const differing = owners.find((name) => !isSameName(name, owners[0] ?? ''));
    if (differing !== undefined) return contradiction(path, `${path} names two owners`, differing);
  }
  return null;
}

/** Two places name different repositories of one owner, or different owners of one name. */
function twoRepositories(all: readonly Named[], isPolled: boolean): TenantMismatch | null {
  const of = (read: (named: Named) => string, what: string): TenantMismatch | null => {
    const saying = all.filter((named) => read(named) !== '');
    const [first] = saying;
    const differing = first && saying.find((named) => !isSameName(read(named), read(first)));
    return differing
      ? contradiction(differing.path, `${differing.path} and ${first.path} name different ${what}`, read(differing))
      : null;
  };
  // A row may show the repository at two moments, between which it was renamed or moved: its number stays.
  return (
    of(({ repoId }) => repoId, 'repository numbers') ??
    (isPolled
      ? null
      : (of(({ fullName }) => fullName, 'repositories') ?? of(({ ownerId }) => ownerId, 'owner numbers')))
  );
}

function contradiction(path: string, reason: string, named: string): TenantMismatch {
  return new TenantMismatch('tenant_contradiction', path, reason, named);
}

function read(place: Place): Named | TenantMismatch {
  const { path, naming, value } = place;
  const nothing = { path, owners: [], ownerId: '', repoId: '', fullName: '' };
  if (naming === 'id') {
    const id = idOf(value);
    return id === '' ? unreadable(path) : { ...nothing, repoId: id === '0' ? '' : id };
  }
  if (naming === 'owner') {
    const owner = readOwner(value);
    return owner && owner.names.length > 0 ? { ...nothing, owners: owner.names, ownerId: owner.id } : unreadable(path);
  }
  const repository = readRepository(value);
  if (!repository) return unreadable(path);
  const { names, fullName, name, id, ownerId } = repository;
  const [ownerPart = '', namePart = ''] = fullName.split('/');
  if (fullName !== '' && name !== '' && !isSameName(name, namePart))
    return contradiction(path, `${path} names two repositories`, fullName);
  return { path, owners: fullName === '' ? names : [...names, ownerPart], ownerId, repoId: id, fullName };
}

function unreadable(path: string): TenantMismatch {
  return new TenantMismatch('tenant_unreadable', path, `${path} names no repository or owner that can be compared`);
}

interface ReadRepository {
  readonly names: readonly string[];
  readonly ownerId: string;
  readonly fullName: string;
  readonly name: string;
  readonly id: string;
}

/** @returns null when it says neither which repository nor whose, or says it in a form that nobody sends */
function readRepository(value: Json): ReadRepository | null {
  if (typeof value === 'string')
    return FULL_NAME.test(value) ? { names: [], ownerId: '', fullName: value, name: '', id: '' } : null;
  if (!isJsonObject(value)) return null;
  const [fullName, name] = [textIn(value, 'full_name'), textIn(value, 'name')];
  if (fullName === null || name === null || (fullName !== '' && !FULL_NAME.test(fullName))) return null;
  const owner = isAbsent(value.owner) ? { names: [], id: '' } : readOwner(value.owner);
  if (!owner) return null;
  const id = idOf(value.id);
  return id === '' && fullName === '' && owner.names.length === 0
    ? null
    : { names: owner.names, ownerId: owner.id, fullName, name, id };
}

const FULL_NAME = /^[^/]+\/[^/]+$/;

/** Every spelling counts: readers differ in which one they take. */
const OWNER_SPELLINGS = ['login', 'username', 'name'] as const;

function readOwner(value: Json | undefined): { names: string[]; id: string } | null {
  if (typeof value === 'string') return value === '' ? null : { names: [value], id: '' };
  if (!isJsonObject(value)) return null;
  const names: string[] = [];
  for (const key of OWNER_SPELLINGS) {
    const name = textIn(value, key);
    if (name === null) return null;
    if (name !== '') names.push(name);
  }
  return { names, id: idOf(value.id) };
}

/** '' when absent; null when there is something that is no text. */
function textIn(object: JsonObject, key: string): string | null {
  const value = object[key];
  if (isAbsent(value)) return '';
  return typeof value === 'string' ? value : null;
}

/**
 * The own places of a body: those that the table lists, and of a known type every other place that names an owner or a repository. What stands
 * inside a foreign place belongs to it.
 */
function findPlaces(body: JsonObject, type: PlacesOfType, isKnown: boolean): Place[] {
  const places: Place[] = [];
  const paths = new Map(Object.entries(type.places).map(([path, { role }]): [string, PlaceRole] => [path, role]));
  if (!isKnown) {
    for (const path of paths.keys()) {
      const value = valueAt(body, path);
      if (value !== undefined && !isAbsent(value))
        places.push({ path, naming: namingOf(lastKey(path), value) ?? 'repository', value });
    }
    return places;
  }
  const ends = new Set([...paths.keys()].map(lastKey));
  const walk = (value: Json, path: string, key: string, isInRepository: boolean): void => {
    const role = paths.get(path);
    if (role === 'foreign') return;
    if (isInRepository && Object.hasOwn(PLACES_IN_REPOSITORY, key)) return;
    // The owner inside a repository is read with it.
    const naming =
      isInRepository && key === 'owner'
        ? null
        : isAbsent(value)
          ? null
          : role === 'own'
            ? namingOfListed(key)
            : namingOf(key, value);
    if (naming && !Array.isArray(value)) places.push({ path, naming, value });
    if (Array.isArray(value)) for (const item of value) walk(item, `${path}[]`, key, false);
    else if (isJsonObject(value))
      for (const name in value) {
        const part = value[name] as Json;
        // Most values are texts and numbers that name nothing: of those not even the path is made.
        if (typeof part === 'object' || ends.has(name) || namingOfKey(name) !== null)
          walk(part, path === '' ? name : `${path}.${name}`, name, naming === 'repository');
      }
  };
  walk(body, '', '', false);
  return places;
}

const OWNER_KEYS: ReadonlySet<string> = new Set(['owner', 'organization', 'org', 'repo_owner', 'repository_owner']);
const REPOSITORY_KEY = /(?:^|_)(?:repo|repository)$|^forkee$/i;
const ID_KEY = /(?:^|_)(?:repo|repository)_id$/i;

function namingOfListed(key: string): Naming {
  return ID_KEY.test(key) ? 'id' : OWNER_KEYS.has(key) ? 'owner' : 'repository';
}

/** What a value names by its key or its form; null = neither an owner nor a repository. */
function namingOf(key: string, value: Json): Naming | null {
  const byKey = namingOfKey(key);
  const isText = typeof value === 'string' && value !== '';
  if (byKey === 'id') return typeof value === 'number' || typeof value === 'bigint' || isText ? 'id' : null;
  if (!isText && !isJsonObject(value)) return null;
  return byKey ?? (isJsonObject(value) && looksLikeRepository(value) ? 'repository' : null);
}

/** Bodies of forges have few keys, and those again and again. Others may have any: so many are kept, no more. */
const MOST_KEYS = 2_000;
const MOST_LETTERS = 64;
const namings = new Map<string, Naming | null>();

function namingOfKey(key: string): Naming | null {
  const cachedNaming = namings.get(key);
  if (cachedNaming !== undefined) return cachedNaming;
  const naming = ID_KEY.test(key)
    ? 'id'
    : OWNER_KEYS.has(key.toLowerCase())
      ? 'owner'
      : REPOSITORY_KEY.test(key)
        ? 'repository'
        : null;
  if (namings.size < MOST_KEYS && key.length <= MOST_LETTERS) namings.set(key, naming);
  return naming;
}

/** Accounts have a full name too, beside a login. */
function looksLikeRepository({ full_name: fullName, login, username }: JsonObject): boolean {
  return (
    typeof fullName === 'string' && fullName.includes('/') && typeof login !== 'string' && typeof username !== 'string'
  );
}

function valueAt(body: JsonObject, path: string): Json | undefined {
  let here: Json | undefined = body;
  for (const key of path.split('.')) {
    if (!isJsonObject(here) || !Object.hasOwn(here, key)) return undefined;
    here = here[key];
  }
  return here;
}

function lastKey(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

function isAbsent(value: Json | undefined): boolean {
  return value === null || value === undefined || value === '';
}

function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
