import { ForgeError, type ForgeErrorKind } from '../../src/core/errors.js';
import { Secret } from '../../src/core/secret.js';
import {
  buildForgeClient,
  type AnyForgeCall,
  type CallOptions,
  type ForgeClient,
} from '../../src/forge/forge-client.js';
import { isWrite, operationOf, type OperationName } from '../../src/forge/operations.js';

type Fields = Record<string, unknown>;

interface FakeRepository extends Fields {
  id: string;
  name: string;
  full_name: string;
  owner: { login: string };
  private: boolean;
  labels: Fields[];
  milestones: Fields[];
  statuses: Fields[];
  mirrors: Fields[];
  releases: Fields[];
  /** Name to commit. */
  branches: Map<string, string>;
  tags: Map<string, string>;
  files: Map<string, string>;
}

interface Fault {
  operation: OperationName;
  error: ForgeError;
  /** The effect happens all the same: the answer is lost. */
  afterEffect: boolean;
}

export interface Write {
  operation: OperationName;
  args: Readonly<Record<string, unknown>>;
}

/**
 * A forge in memory with the semantics that matter to actions: no uniqueness of labels, milestones and mirrors, upper-cased variable
 * names, colours and intervals written in its own way, addresses without user info, 409 for branches, repositories and user variables.
 * Profile `core` offers the 20 operations alone.
 */
export class FakeForge {
  readonly client: ForgeClient;
  /** Effects, in order. */
  readonly writes: Write[] = [];
  readonly calls: OperationName[] = [];
  /** Page that each call asked for; undefined where it asked for none. */
  readonly pages: unknown[] = [];
  readonly repositories = new Map<string, FakeRepository>();
  readonly orgLabels: Fields[] = [];
  readonly orgVariables = new Map<string, { value: string; description: string }>();
  readonly userVariables = new Map<string, { value: string; description: string }>();
  settings: Fields = {
    full_name: '',
    website: '',
    description: '',
    location: '',
    language: '',
    theme: 'gitea-auto',
    diff_view_style: '',
    hide_email: false,
    hide_activity: false,
  };
  private readonly faults: Fault[] = [];
  private nextId = 100;
  /** Called at each write right before its effect. */
  onWrite: ((operation: OperationName) => void | Promise<void>) | null = null;

  constructor(readonly profile: 'gitea' | 'core' = 'gitea') {
    this.client = buildForgeClient((name) => (args, options) => this.call(name, args, options));
  }

  offers = (name: OperationName): boolean => this.profile === 'gitea' || operationOf(name).n !== undefined;

  addRepository(name: string, over: Partial<FakeRepository> = {}): FakeRepository {
    const repository: FakeRepository = {
      id: '7',
      name,
      full_name: `acme/${name}`,
      owner: { login: 'acme' },
      private: false,
      default_branch: 'main',
      archived: false,
      labels: [],
      milestones: [],
      statuses: [],
      mirrors: [],
      releases: [],
      branches: new Map([['main', 'a'.repeat(40)]]),
      tags: new Map(),
      files: new Map(),
      ...over,
    };
    this.repositories.set(repository.full_name.toLowerCase(), repository);
    return repository;
  }

  /** The next call of this operation fails so; `afterEffect` = the effect happens, the answer is lost. */
  failNext(
    operation: OperationName,
    kind: ForgeErrorKind,
    facts: { status?: number; retryAfterS?: number; afterEffect?: boolean; message?: string } = {},
  ): void {
    const { afterEffect = false, message, ...rest } = facts;
    const told = { ...rest, ...(message === undefined ? {} : { forgeMessage: message }) };
    this.faults.push({
      operation,
      afterEffect,
      error: new ForgeError(kind, `${operation}: ${kind} on purpose`, { operation, ...told }),
    });
  }

  private async call(
    name: OperationName,
    args: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<unknown> {
    this.calls.push(name);
    this.pages.push(args['page']);
    if (!this.offers(name))
      throw new ForgeError('not-offered', `${name}: this forge does not offer the operation`, {
        operation: name,
        status: 404,
      });
    await options?.beforeSend?.();
    const fault = this.takeFault(name);
    if (fault && !fault.afterEffect) throw fault.error;
    const handle = this.handlers[name];
    if (!handle) throw new Error(`the fake forge has no ${name}`);
    if (isWrite(name)) await this.onWrite?.(name);
    const answer = await handle(args);
    if (isWrite(name)) this.writes.push({ operation: name, args });
    if (fault) throw fault.error;
    const list = Array.isArray(answer) ? answer : null;
    options?.onReply?.({ status: 200, totalCount: null, listed: list?.length ?? null });
    return answer;
  }

  private takeFault(operation: OperationName): Fault | undefined {
    const index = this.faults.findIndex((fault) => fault.operation === operation);
    return index < 0 ? undefined : this.faults.splice(index, 1)[0];
  }

  private readonly handlers: Partial<Record<OperationName, (args: Readonly<Record<string, unknown>>) => unknown>> = {
    getSelf: () => ({ id: '1', login: 'forgehand' }),
    getRepo: (args) => this.repo(args, 'getRepo'),
    getRepoById: ({ id }) =>
      [...this.repositories.values()].find((repository) => repository.id === String(id)) ?? refuse('getRepoById', 404),
    listOrgRepos: (args) => page([...this.repositories.values()], args),
    adminCreateRepo: ({ username, body }) => {
      const { name, ...rest } = body as Fields & { name: string };
      const full = `${String(username)}/${name}`;
      if (this.repositories.has(full.toLowerCase())) refuse('adminCreateRepo', 409);
      return this.addRepository(name, {
        private: false,
        ...rest,
        id: this.id(),
        full_name: full,
        owner: { login: String(username) },
      });
    },

    getBranch: (args) => {
      const sha = this.repo(args, 'getBranch').branches.get(String(args['branch']));
      return sha ? { name: args['branch'], commit: { id: sha } } : refuse('getBranch', 404);
    },
    createBranch: (args) => {
      const { branches, tags } = this.repo(args, 'createBranch');
      const { new_branch_name: name, old_ref_name: from = 'main' } = args['body'] as Record<string, string | undefined>;
      if (branches.has(name ?? '') || tags.has(name ?? '')) refuse('createBranch', 409);
      const sha = branches.get(from) ?? tags.get(from) ?? (/^[0-9a-f]{40}$/.test(from) ? from : null);
      if (!sha) throw new ForgeError('unknown', 'createBranch: status 500', { operation: 'createBranch', status: 500 });
      branches.set(name ?? '', sha);
      return { name, commit: { id: sha } };
    },

    listStatuses: (args) => page(this.repo(args, 'listStatuses').statuses, args),
    createStatus: (args) => {
      const { state, ...rest } = args['body'] as Fields;
      const made = { ...rest, status: state, id: this.id() };
      this.repo(args, 'createStatus').statuses.push(made);
      return made;
    },

    listLabels: (args) => page(this.repo(args, 'listLabels').labels, args),
    listOrgLabels: (args) => page(this.orgLabels, args),
    createLabel: (args) => {
      const { color, ...rest } = args['body'] as Fields & { color: string };
      const digits = color.replace('#', '').toLowerCase();
      const made = { exclusive: false, is_archived: false, description: '', ...rest, color: digits, id: this.id() };
      this.repo(args, 'createLabel').labels.push(made);
      return made;
    },

    updateLabel: (args) => {
      const { color, ...rest } = args['body'] as Fields & { color?: string };
      const label =
        this.repo(args, 'updateLabel').labels.find(({ id }) => id === String(args['id'])) ?? refuse('updateLabel', 404);
      // What is left out is set back, as a server does with this one field.
      return Object.assign(label, {
        is_archived: false,
        ...rest,
        ...(color === undefined ? {} : { color: color.replace('#', '').toLowerCase() }),
      });
    },
    deleteLabel: (args) => {
      const repository = this.repo(args, 'deleteLabel');
      repository.labels = repository.labels.filter(({ id }) => id !== String(args['id']));
      return undefined;
    },

    listMilestones: (args) => {
      const { state = 'open', name = '' } = args as Record<string, string | undefined>;
      const all = this.repo(args, 'listMilestones').milestones;
      return page(
        all.filter(
          (m) =>
            (state === 'all' || m['state'] === state) && String(m['title']).toLowerCase().includes(name.toLowerCase()),
        ),
        args,
      );
    },
    createMilestone: (args) => {
      const { title = '', state = 'open', due_on = null, ...rest } = args['body'] as Fields;
      const made = {
        description: '',
        ...rest,
        title: String(title).trim(),
        state,
        due_on: due_on === null ? null : toBerlin(String(due_on)),
        id: this.id(),
      };
      this.repo(args, 'createMilestone').milestones.push(made);
      return made;
    },

    updateMilestone: (args) => {
      const { title, due_on = null, ...rest } = args['body'] as Fields;
      const milestone =
        this.repo(args, 'updateMilestone').milestones.find(({ id }) => id === String(args['id'])) ??
        refuse('updateMilestone', 404);
      const due = due_on === null ? null : `${toBerlin(String(due_on)).slice(0, 10)}T23:59:59+01:00`;
      return Object.assign(milestone, rest, title ? { title } : {}, { due_on: due });
    },
    deleteMilestone: (args) => {
      const repository = this.repo(args, 'deleteMilestone');
      repository.milestones = repository.milestones.filter(({ id }) => id !== String(args['id']));
      return undefined;
    },

    listPushMirrors: (args) => page(this.repo(args, 'listPushMirrors').mirrors, args),
    createPushMirror: (args) => {
      const { remote_address: address = '', interval = '', sync_on_commit = false } = args['body'] as Fields;
      if (interval === '') refuse('createPushMirror', 400);
      const shown = String(address).replace(/\/\/[^/@]*@/, '//');
      const made = {
        remote_name: `remote_mirror_${this.id()}`,
        remote_address: shown,
        interval: goDuration(String(interval)),
        sync_on_commit,
        last_error: '',
        last_update: null,
      };
      this.repo(args, 'createPushMirror').mirrors.push(made);
      return made;
    },

    getTag: (args) => {
      const sha = this.repo(args, 'getTag').tags.get(String(args['tag'])) ?? refuse('getTag', 404);
      return { name: String(args['tag']), commit: { sha } };
    },
    getRelease: (args) => this.release(args, (release) => release['id'] === String(args['id'])),
    getReleaseByTag: (args) => this.release(args, (release) => release['tag_name'] === args['tag']),
    listReleases: (args) => page(this.repo(args, 'listReleases').releases, args),
    updateRelease: (args) => {
      const release = this.release(args, (found) => found['id'] === String(args['id']));
      for (const [name, value] of Object.entries(args['body'] as Fields)) if (value !== '') release[name] = value;
      return release;
    },

    getOrgVariable: (args) => this.variable(this.orgVariables, args, 'getOrgVariable'),
    updateOrgVariable: (args) => this.setVariable(this.orgVariables, args, 'updateOrgVariable', 'must-exist'),
    createOrgVariable: (args) => this.setVariable(this.orgVariables, args, 'createOrgVariable', 'must-be-new'),
    getUserVariable: (args) => this.variable(this.userVariables, args, 'getUserVariable'),
    createUserVariable: (args) => this.setVariable(this.userVariables, args, 'createUserVariable', 'must-be-new'),

    getUserSettings: () => ({ ...this.settings }),
    updateUserSettings: ({ body }) => Object.assign(this.settings, body),

    getFiles: (args) => {
      const { files } = args['body'] as { files: string[] };
      const known = this.repo(args, 'getFiles').files;
      return files.map((path) =>
        known.has(path)
          ? { path, type: 'file', encoding: 'base64', content: Buffer.from(known.get(path) ?? '').toString('base64') }
          : null,
      );
    },
    getContents: (args) => {
      const text = this.repo(args, 'getContents').files.get(String(args['filepath']));
      return text === undefined
        ? refuse('getContents', 404)
        : { path: args['filepath'], type: 'file', encoding: 'base64', content: Buffer.from(text).toString('base64') };
    },
  };

  /** Further answers, for operations that a single test is about. */
  answer(operation: OperationName, handle: AnyForgeCall): void {
    this.handlers[operation] = handle;
  }

  private repo(args: Readonly<Record<string, unknown>>, operation: OperationName): FakeRepository {
    return (
      this.repositories.get(`${String(args['owner'])}/${String(args['repo'])}`.toLowerCase()) ?? refuse(operation, 404)
    );
  }

  private release(args: Readonly<Record<string, unknown>>, fits: (release: Fields) => boolean): Fields {
    return this.repo(args, 'getRelease').releases.find(fits) ?? refuse('getRelease', 404);
  }

  private variable(
    variables: FakeForge['orgVariables'],
    args: Readonly<Record<string, unknown>>,
    operation: OperationName,
  ): Fields {
    const name = String(args['variablename']).toUpperCase();
    const found = variables.get(name) ?? refuse(operation, 404);
    return { name, data: new Secret(found.value), description: found.description };
  }

  private setVariable(
    variables: FakeForge['orgVariables'],
    args: Readonly<Record<string, unknown>>,
    operation: OperationName,
    rule: 'must-exist' | 'must-be-new',
  ): undefined {
    const name = String(args['variablename']).toUpperCase();
    const { value, description = '' } = args['body'] as { value: string | Secret; description?: string };
    if (rule === 'must-exist' && !variables.has(name)) refuse(operation, 404);
    if (rule === 'must-be-new' && variables.has(name)) refuse(operation, 409);
    const text = value instanceof Secret ? value.reveal() : value;
    variables.set(name, { value: text.replace(/\r\n/g, '\n'), description });
    return undefined;
  }

  private id(): string {
    return String(this.nextId++);
  }
}

function refuse(operation: OperationName, status: number): never {
  throw new ForgeError('refused', `${operation}: refused with status ${status}`, { operation, status });
}

/** Pages of at most three, so that a caller who stops at the first one is found out. */
function page<Item>(items: readonly Item[], args: Readonly<Record<string, unknown>>): Item[] {
  const number = Math.max(Number(args['page'] ?? 1), 1);
  return items.slice((number - 1) * 3, number * 3);
}

function goDuration(text: string): string {
  const match = /^(\d+)(h|m)$/.exec(text);
  if (!match) return text === '0' ? '0s' : text;
  return match[2] === 'h' ? `${match[1]}h0m0s` : `${match[1]}m0s`;
}

/** Servers tell times in their own zone. */
function toBerlin(time: string): string {
  return `${new Date(Date.parse(time) + 3_600_000).toISOString().slice(0, 19)}+01:00`;
}
