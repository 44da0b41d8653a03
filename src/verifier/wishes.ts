import { CannotDerive } from './failures.js';
import type { Json, Row } from './handover.js';
import type { Model, ModelRepo, IntentStatus } from './model.js';
import { day, seconds } from './read-forge.js';

/** A write that has to reach the forge, as its ledger shows it. */
export interface Write {
  readonly by: string;
  readonly method: string;
  /** Below the API's base, segments as they are before encoding. */
  readonly path: string;
}

interface Wish {
  readonly by: string;
  readonly action: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Null for what is about the organization or the account. */
  readonly repo: ModelRepo | null;
  readonly org: string;
}

/** What every action does to the model: what is there already, in whatever form, is never written a second time. */
export function grant(model: Model, wish: Wish): Write[] {
  const act = ACTIONS[wish.action];
  if (!act) throw new CannotDerive(`nothing is known here about the action ${wish.action}`);
  if (wish.repo?.info.archived === true) return [];
  return act(model, wish);
}

type Act = (model: Model, wish: Wish) => Write[];

const ACTIONS: Readonly<Record<string, Act>> = {
  'label.ensure': (_model, wish) =>
    add(
      wish,
      theRepo(wish).labels,
      'name',
      {
        name: text(wish, 'name').trim(),
        color: longColor(text(wish, 'color')),
        description: text(wish, 'description'),
        exclusive: wish.params.exclusive === true,
      },
      'labels',
    ),
  'milestone.ensure': (_model, wish) =>
    add(
      wish,
      theRepo(wish).milestones,
      'title',
      {
        title: text(wish, 'title').trim(),
        state: text(wish, 'state') || 'open',
        description: text(wish, 'description'),
        due: dayOf(wish.params.due_on),
      },
      'milestones',
    ),
  'push_mirror.ensure': (_model, wish) => {
    const repo = theRepo(wish);
    if (repo.info.private === true && wish.params.private !== true) return [];
    const address = text(wish, 'remote_address');
    if (repo.mirrors.some(({ value }) => bare(value.address) === bare(address))) return [];
    repo.mirrors.push({
      by: wish.by,
      value: {
        address,
        interval: seconds(text(wish, 'interval') || '8h'),
        onCommit: wish.params.sync_on_commit === true,
      },
    });
    return [write(wish, 'POST', `/repos/${at(repo)}/push_mirrors`)];
  },
  'branch.create': (_model, wish) => {
    const repo = theRepo(wish);
    const name = text(wish, 'new_branch_name');
    if (repo.branches.has(name)) return [];
    const base = text(wish, 'old_ref_name') || String(repo.info.default_branch);
    repo.branches.set(name, { by: wish.by, value: repo.tags.get(base) ?? repo.branches.get(base)?.value ?? null });
    return [write(wish, 'POST', `/repos/${at(repo)}/branches`)];
  },
  'release.update': (_model, wish) => {
    const repo = theRepo(wish);
    const release = repo.releases.find(({ value }) =>
      text(wish, 'id') === '' ? value.tag_name === wish.params.tag : String(value.id) === text(wish, 'id'),
    );
    if (!release) throw new CannotDerive(`${wish.by} is about a release that is not known`);
    const { id: _id, tag: _tag, ...wanted } = wish.params;
    const different = Object.entries(wanted).filter(([field, value]) => lines(release.value[field]) !== lines(value));
    if (different.length === 0) return [];
    repo.releases = repo.releases.map((one) =>
      one === release
        ? { by: wish.by, value: { ...release.value, ...(Object.fromEntries(different) as Record<string, Json>) } }
        : one,
    );
    return [write(wish, 'PATCH', `/repos/${at(repo)}/releases/${String(release.value.id)}`)];
  },
  'org_variable.set': (model, wish) => {
    const name = text(wish, 'name').toUpperCase();
    const variable = model.orgVariables.get(name);
    const wanted = {
      value: text(wish, 'value'),
      description: text(wish, 'description') || (variable?.value.description ?? ''),
    };
    if (variable?.value.value === wanted.value && variable.value.description === wanted.description) return [];
    model.orgVariables.set(name, { by: wish.by, value: wanted });
    return [write(wish, variable ? 'PUT' : 'POST', `/orgs/${wish.org}/actions/variables/${name}`)];
  },
  'user_variable.create': (model, wish) => {
    const name = text(wish, 'name').toUpperCase();
    if (model.accountVariables.has(name)) return [];
    model.accountVariables.set(name, {
      by: wish.by,
      value: { value: text(wish, 'value'), description: text(wish, 'description') },
    });
    return [write(wish, 'POST', `/user/actions/variables/${name}`)];
  },
  'user_settings.update': (model, wish) => {
    const different = Object.entries(wish.params).filter(
      ([name, value]) => (model.accountSettings.get(name)?.value ?? '') !== value,
    );
    for (const [name, value] of different) model.accountSettings.set(name, { by: wish.by, value: value as Json });
    return different.length === 0 ? [] : [write(wish, 'PATCH', '/user/settings')];
  },
  'repo.create_for_user': (model, wish) => {
    const [owner, name] = [text(wish, 'username'), text(wish, 'name')];
    const fullName = `${owner}/${name}`;
    if (model.repos.has(fullName.toLowerCase())) return [];
    const branch = text(wish, 'default_branch') || 'main';
    const info = {
      full_name: fullName,
      name,
      owner: { login: owner },
      private: wish.params.private === true,
      description: text(wish, 'description'),
      default_branch: branch,
      archived: false,
      fork: false,
      mirror: false,
      template: wish.params.template === true,
    };
    const branches = new Map(wish.params.auto_init === true ? [[branch, { by: wish.by, value: null }]] : []);
    model.repos.set(fullName.toLowerCase(), {
      info,
      labels: [],
      milestones: [],
      mirrors: [],
      branches,
      tags: new Map(),
      releases: [],
    });
    return [write(wish, 'POST', `/admin/users/${owner}/repos`)];
  },
};

/** Fields of a row, by the parameter that states them. */
const STATED: Readonly<Record<string, string>> = {
  color: 'color',
  description: 'description',
  exclusive: 'exclusive',
  state: 'state',
  due_on: 'due',
};

/** Names are no keys at the forge: whoever bears the name already and is as wanted is left as it is. Nothing in the demo has to be edited. */
function add(wish: Wish, list: IntentStatus<Row>[], key: string, row: Row, folder: string): Write[] {
  const named = (name: unknown): Row[] =>
    list.map(({ value }) => value).filter((value) => String(value[key]).trim() === name);
  const bearers = named(row[key]);
  const fits = (value: Row): boolean =>
    Object.entries(STATED).every(([param, field]) => wish.params[param] === undefined || value[field] === row[field]);
  if (bearers.length > 0 && (wish.params.keep === true || bearers.some(fits))) return [];
  const earlier = [wish.params.renamed_from ?? []].flat().flatMap(named);
  if (bearers.length + earlier.length > 0)
    throw new CannotDerive(`${String(row[key])} is there otherwise, and what an edit makes of it is not known here`);
  list.push({ by: wish.by, value: row });
  return [write(wish, 'POST', `/repos/${at(theRepo(wish))}/${folder}`)];
}

function write({ by }: Wish, method: string, path: string): Write {
  return { by, method, path };
}

function theRepo({ repo, by }: Wish): ModelRepo {
  if (!repo) throw new CannotDerive(`${by} is about no repository`);
  return repo;
}

function at(repo: ModelRepo): string {
  return String(repo.info.full_name);
}

function text({ params }: Wish, name: string): string {
  const value = params[name];
  return value === undefined || value === null ? '' : String(value);
}

function longColor(color: string): string {
  const hex = color.replace(/^#/, '').toLowerCase();
  return hex.length === 3 ? [...hex].map((digit) => digit + digit).join('') : hex;
}

function dayOf(value: unknown): string | null {
  return day(value instanceof Date ? value.toISOString() : ((value ?? null) as Json));
}

/** Addresses name the same place with or without a slash or `.git` at the end. */
export function bare(address: unknown): string {
  return String(address).toLowerCase().replace(/\/+$/, '');
}

function lines(value: unknown): string {
  return typeof value === 'string' ? value.replace(/\r\n/g, '\n') : String(value ?? '');
}
