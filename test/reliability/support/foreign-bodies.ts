import type { Json, JsonObject } from '../../../src/core/json.js';
import { isJsonObject, parseJson, stringifyJson } from '../../../src/core/json.js';
import { OWNER_PLACES } from '../../../src/events/owner-places.js';
import { SAMPLE_BODIES } from '../../builders/sample-bodies.js';
import { readRecordedActs, SERVERS } from '../../deliveries/recorded-shapes.js';
import { jsonTextOf } from '../../recordings-tool/act-file.js';

export const OURS = 'acme';
export const VICTIM = 'victim';
export const VICTIM_ID = 990_037;
const VICTIM_OWNER_ID = 990_032;

/** What an organization is told: a delivery by its event type, or a polled row by its source. */
export interface Arriving {
  readonly server: string;
  readonly type: string;
  readonly body: JsonObject;
}

/** One body with something of another organization at one place. */
export interface ForeignBody extends Arriving {
  /** For people: where, and what. */
  readonly title: string;
  /** The only thing that is wrong is a number, in a body that says the number once: no reader of the body can see it. */
  readonly isLoneNumber: boolean;
}

const own = { id: 32, login: OURS, full_name: 'Acme Corp' };
const ownRepository = { id: 37, name: 'app', full_name: `${OURS}/app`, owner: own, private: false };
const victimRepository = {
  id: VICTIM_ID,
  name: 'strongbox',
  full_name: `${VICTIM}/strongbox`,
  owner: { id: VICTIM_OWNER_ID, login: VICTIM },
  private: true,
};

/** One body of every product, type and set of places: the others differ in what stands between the places. */
export function recordedArrivals(): Arriving[] {
  const found = new Map<string, Arriving>();
  const add = (arriving: Arriving): void => {
    const key = [arriving.server.replace(/-.*/, ''), arriving.type, ...placesOf(arriving.body)].join(' ');
    if (!found.has(key)) found.set(key, arriving);
  };
  for (const [server] of SERVERS) {
    for (const act of readRecordedActs(server)) {
      for (const delivery of act.deliveries)
        add({ server, type: delivery.event_type, body: objectIn(jsonTextOf(delivery)) });
      for (const row of act.feed ?? []) add({ server, type: 'feed', body: objectIn(stringifyJson(row)) });
      for (const row of act.tasks ?? [])
        add({ server, type: 'tasks', body: objectIn(stringifyJson({ ...row, repository: ownRepository })) });
    }
  }
  const issue = {
    id: 5,
    number: 1,
    state: 'open',
    created_at: '2026-11-20T19:34:37Z',
    repository: { id: 37, name: 'app', owner: OURS, full_name: `${OURS}/app` },
  };
  add({
    server: 'core',
    type: 'feed',
    body: {
      id: 1,
      op_type: 'create_issue',
      content: '1|x',
      repo_id: 37,
      repo: ownRepository,
      created: '2026-11-20T19:34:37Z',
    },
  });
  add({
    server: 'core',
    type: 'lists',
    body: { list: 'issues', since: '2026-11-20T00:00:00Z', repository: ownRepository, object: issue },
  });
  for (const [type, body] of Object.entries(SAMPLE_BODIES)) add({ server: 'sample', type, body });
  return [...found.values()];
}

/** Paths of the places that name an owner or a repository, as a reader of the recordings would list them; `[]` for items of lists. */
export function placesOf(body: JsonObject): string[] {
  const paths = new Set<string>();
  const walk = (value: Json, path: string, key: string, isInRepository: boolean): void => {
    const isNamed =
      /^(repository|repo|forkee|parent|owner|organization)$/.test(key) &&
      (isJsonObject(value) || (typeof value === 'string' && value !== ''));
    const isId = /^(repo|repository)_id$/.test(key) && value !== null;
    if ((isNamed && !(isInRepository && key === 'owner')) || isId) paths.add(path);
    if (Array.isArray(value)) for (const item of value) walk(item, `${path}[]`, key, false);
    else if (isJsonObject(value))
      for (const [name, part] of Object.entries(value))
        walk(part, path === '' ? name : `${path}.${name}`, name, isNamed && key !== 'owner');
  };
  walk(body, '', '', false);
  return [...paths].sort();
}

/** Places that no server is known to tell, where something of another organization may hide. */
const HIDDEN = [
  'repository',
  'organization',
  'run.repository',
  'package.owner',
  'package.repository',
  'release.repository',
  'comment.repository',
  'issue.repository',
  'pull_request.base.repo',
  'workflow_run.repository',
  'commit.repository',
  'sender.organization',
  'changes.repository',
  'extra.deep.repo',
  'base_repository',
];

/** Every way in which a repository object may name another organization. */
const REPOSITORY_TRICKS: Readonly<Record<string, (repository: JsonObject) => Json>> = {
  'the whole repository': () => victimRepository,
  'the whole repository, owner by name': () => ({ ...victimRepository, owner: { name: VICTIM } }),
  'the whole repository, our owner by name': () => ({ ...victimRepository, owner: { name: OURS } }),
  'the whole repository, our owner by login': () => ({ ...victimRepository, owner: { login: OURS } }),
  'the whole repository, our owner by username': () => ({ ...victimRepository, owner: { username: OURS } }),
  'the whole repository, our owner as a text': () => ({ ...victimRepository, owner: OURS }),
  'the whole repository without an owner': ({ owner: _, ...rest }) => ({
    ...rest,
    id: VICTIM_ID,
    name: 'strongbox',
    full_name: `${VICTIM}/strongbox`,
  }),
  'the owner alone': (repository) => ({ ...repository, owner: { id: VICTIM_OWNER_ID, login: VICTIM } }),
  'the owner as a text': (repository) => ({ ...repository, owner: VICTIM }),
  'a username beside our login': (repository) => ({ ...repository, owner: { ...own, username: VICTIM } }),
  'a name beside our login': (repository) => ({ ...repository, owner: { ...own, name: VICTIM } }),
  'a login that is a list': (repository) => ({ ...repository, owner: { login: [VICTIM] } }),
  'the full name alone': (repository) => ({ ...repository, full_name: `${VICTIM}/strongbox` }),
  'the full name in other letters': (repository) => ({ ...repository, full_name: `${VICTIM.toUpperCase()}/Strongbox` }),
  'a full name of three parts': (repository) => ({ ...repository, full_name: `${OURS}/${VICTIM}/strongbox` }),
  'a full name with a space behind the owner': (repository) => ({
    ...repository,
    full_name: `${OURS} /${String(repository.name ?? 'app')}`,
  }),
  'a full name that folds to ours': (repository) => ({
    ...repository,
    full_name: `a\u0441me/${String(repository.name ?? 'app')}`,
  }),
  'another name beside our full name': (repository) => ({
    ...ownRepository,
    ...repository,
    full_name: `${OURS}/app`,
    name: 'strongbox',
  }),
  'the text of a full name': () => `${VICTIM}/strongbox`,
  'the number alone': (repository) => ({ ...repository, id: VICTIM_ID }),
};

const OWNER_TRICKS: Readonly<Record<string, (owner: JsonObject) => Json>> = {
  'the whole owner': () => ({ id: VICTIM_OWNER_ID, login: VICTIM, username: VICTIM, name: VICTIM }),
  'the login alone': (owner) => ({ ...owner, login: VICTIM }),
  'the username alone': (owner) => ({ ...owner, username: VICTIM }),
  'the name alone': (owner) => ({ ...owner, name: VICTIM }),
  'other letters': () => ({ login: VICTIM.toUpperCase() }),
  'a text': () => VICTIM,
};

const IN_HIDDEN: ReadonlySet<string> = new Set([
  'the whole repository',
  'the owner as a text',
  'the text of a full name',
  'the whole owner',
  'a text',
]);

/** Every recorded body with every trick at every place that it has, that its type may have, and that nobody knows. */
export function* foreignBodies(arrivals: readonly Arriving[]): Generator<ForeignBody> {
  for (const arriving of arrivals) {
    const told = placesOf(arriving.body);
    const listed = Object.keys(OWNER_PLACES.get(arriving.type)?.places ?? {});
    for (const path of new Set([...told, ...listed, ...HIDDEN])) {
      const key = path.slice(path.lastIndexOf('.') + 1).replace('[]', '');
      if (/_id$/.test(key)) {
        yield {
          ...arriving,
          body: withValue(arriving.body, path, () => VICTIM_ID),
          title: `${path}: the number`,
          isLoneNumber: false,
        };
        continue;
      }
      const isHidden = !told.includes(path) && !listed.includes(path);
      const tricks = /^(owner|organization)$/.test(key) ? OWNER_TRICKS : REPOSITORY_TRICKS;
      for (const [trick, change] of Object.entries(tricks)) {
        // No reader looks there: a few spellings show that the place is seen.
        if (isHidden && !IN_HIDDEN.has(trick)) continue;
        const body = withValue(arriving.body, path, (value) =>
          change(isJsonObject(value) ? value : key === 'owner' ? own : ownRepository),
        );
        yield { ...arriving, body, title: `${path}: ${trick}`, isLoneNumber: trick === 'the number alone' };
      }
    }
  }
}

function withValue(body: JsonObject, path: string, change: (value: Json | undefined) => Json): JsonObject {
  const [key = '', ...rest] = path.split('.');
  const name = key.replace('[]', '');
  const inside = (value: Json | undefined): Json =>
    rest.length === 0 ? change(value) : withValue(isJsonObject(value) ? value : {}, rest.join('.'), change);
  if (!key.endsWith('[]')) return { ...body, [name]: inside(body[name]) };
  const items = body[name];
  return { ...body, [name]: Array.isArray(items) && items.length > 0 ? items.map(inside) : [inside(undefined)] };
}

function objectIn(text: string): JsonObject {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new Error('a recorded body is no object');
  return value;
}
