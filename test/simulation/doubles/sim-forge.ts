import { ForgeError } from '../../../src/core/errors.js';
import { buildForgeClient, type AnyForgeCall, type ForgeClient } from '../../../src/forge/forge-client.js';
import { isWrite, operationOf, type OperationName } from '../../../src/forge/operations.js';
import { FakeForge } from '../../fakes/fake-forge.js';
import type { ShownRow } from './feed-row.js';
import type { SimProcess } from '../world/sim-process.js';
import type { World } from '../world/world.js';

/** One change, as the forge saw it. */
export interface Effect {
  readonly operation: OperationName;
  /** Operation, number of the repository, natural key. */
  readonly key: string;
  readonly repoId: string;
  readonly name: string;
  /** The attempt under which it was sent; null = nobody wrote one down. */
  readonly attemptId: string | null;
  readonly intentId: string | null;
  readonly atMs: number;
}

type Fields = Record<string, unknown>;

/** Operations of this forge beside those of the fake one; what is not among both is not offered. */
const OFFERED = [
  'getRepo',
  'getRepoById',
  'listOrgRepos',
  'getBranch',
  'createBranch',
  'listLabels',
  'listOrgLabels',
  'createLabel',
  'deleteLabel',
  'listMilestones',
  'createMilestone',
  'deleteMilestone',
  'listIssues',
  'getIssue',
  'listOrgFeed',
  'listPushMirrors',
  'createPushMirror',
  'getUser',
] as const satisfies readonly OperationName[];

/** The longest life of a request: the latest effect comes so long after it was sent. Shorter than the settle time. */
const LATEST_MS = 4_500;
const DEADLINE_MS = 2_000;
/** Of the feed: so small that it has several. */
const LARGEST_PAGE = 6;

/** The forge as the bot's processes see it over a network: late effects, lost answers, 429, 5xx before and after. Its ledger is the judge. */
export class SimForge {
  readonly fake: FakeForge;
  readonly effects: Effect[] = [];
  /** Writes under way by living owners, by order key of the intent. */
  readonly underWay = new Map<string, SimProcess>();

  constructor(
    private readonly world: World,
    profile: 'gitea' | 'core',
  ) {
    this.fake = new FakeForge(profile);
    this.fake.addRepository('app');
    this.fake.addRepository('lib', { id: '8' });
    const remove = (list: 'labels' | 'milestones') => (args: Fields) => {
      const repository = this.repositoryOf(args);
      const rows = repository?.[list] ?? [];
      const at = rows.findIndex((row) => row['id'] === String(args['id']));
      if (at >= 0) rows.splice(at, 1);
      return null;
    };
    this.fake.answer('deleteLabel', async (args) => remove('labels')(args));
    this.fake.answer('deleteMilestone', async (args) => remove('milestones')(args));
    this.fake.answer('listIssues', async () => []);
    this.fake.answer('getIssue', async ({ index }) => ({
      number: Number(index),
      state: this.issues.get(Number(index))?.state ?? 'open',
    }));
    this.fake.answer('listOrgFeed', async ({ page, limit }) => {
      const [number, size] = [Number(page ?? 1), Math.min(Number(limit), LARGEST_PAGE)];
      return this.shown.slice((number - 1) * size, number * size).map(({ row }) => row);
    });
    this.fake.answer('getUser', async () => ({ id: '5', login: 'forgehand' }));
  }

  offers = (name: OperationName): boolean =>
    (OFFERED as readonly string[]).includes(name) &&
    (this.fake.profile === 'gitea' || operationOf(name).n !== undefined);

  clientOf(process: SimProcess): ForgeClient {
    for (const name of OFFERED) this.world.points.add(`forge.${name}`);
    return buildForgeClient((name) => (args, options) => this.call(process, name, args, options ?? {}));
  }

  /** Each issue that was told of: how it stands, and since when. */
  readonly issues = new Map<number, { readonly state: string; readonly sinceMs: number }>();
  /** The feed, newest first. */
  readonly shown: Array<ShownRow & { readonly id: string; readonly atMs: number }> = [];

  /** Everything that was, shown or not. */
  readonly happened: Array<ShownRow['fact']> = [];

  show({ row, fact }: ShownRow): void {
    const atMs = this.world.time.nowMs;
    const id = String(1_000 + this.shown.length);
    const created = `${new Date(Math.floor(atMs / 1_000) * 1_000).toISOString().slice(0, 19)}Z`;
    this.shown.unshift({ row: { id, created, ...row }, fact, id, atMs });
  }

  /** Renamed: calls under the old name are redirected, until somebody else takes it. */
  rename(id: string, to: string): void {
    const found = [...this.fake.repositories.entries()].find(([, repository]) => repository.id === id);
    if (!found) return;
    const [key, repository] = found;
    this.fake.repositories.delete(key);
    Object.assign(repository, { name: to, full_name: `acme/${to}` });
    this.fake.repositories.set(repository.full_name, repository);
    this.moved.add(key);
  }

  private readonly moved = new Set<string>();

  takeName(name: string, id: string): void {
    this.moved.delete(`acme/${name}`);
    this.fake.addRepository(name, { id });
  }

  private async call(
    process: SimProcess,
    name: OperationName,
    args: Readonly<Fields>,
    { beforeSend }: Parameters<AnyForgeCall>[1] & object,
  ): Promise<unknown> {
    if (!this.offers(name))
      throw new ForgeError('not-offered', `${name}: not offered`, { operation: name, status: 404 });
    if (process.passes(`forge.${name}:before`)) return new Promise(() => undefined);
    await beforeSend?.();
    const sent = isWrite(name) ? process.sentJustNow : null;
    process.sentJustNow = null;
    if (isWrite(name)) this.world.judge.sent(process, name, sent);
    return new Promise((resolve, reject) => this.send(process, name, args, sent, resolve, reject));
  }

  private send(
    process: SimProcess,
    name: OperationName,
    args: Readonly<Fields>,
    sent: SimProcess['sentJustNow'],
    resolve: (answer: unknown) => void,
    reject: (error: unknown) => void,
  ): void {
    const { world } = this;
    const fault = world.forgeFault(isWrite(name));
    const there = world.chances.between(1, 120);
    const back = world.chances.between(1, 120);
    const answer = (ms: number, settle: () => void): void =>
      void world.time.after(process, ms, () => {
        if (isWrite(name)) world.judge.answered(process, sent);
        if (!process.passes(`forge.${name}:after`)) settle();
      });
    const fail = (
      ms: number,
      kind: ForgeError['kind'],
      facts: { status?: number; retryAfterS?: number; detail?: string } = {},
    ): void =>
      answer(ms, () =>
        reject(new ForgeError(kind, `${name}: ${facts.detail ?? facts.status ?? kind}`, { operation: name, ...facts })),
      );
    const apply = (ms: number, then?: (outcome: { value: unknown } | { error: unknown }) => void): void =>
      void world.time.after(null, ms, () => void this.apply(name, args, sent).then(then));
    switch (fault) {
      case 'not-sent':
        return fail(there, 'not-sent', { detail: 'connection' });
      case '429':
        return fail(there + back, 'rate-limited', { status: 429, retryAfterS: 1 + world.chances.below(4) });
      case '5xx-before':
        return fail(there + back, 'unknown', { status: 502 });
      case 'lost-before':
        return fail(DEADLINE_MS, 'unknown', { detail: 'deadline' });
      case '5xx-after':
        apply(there);
        return fail(there + back, 'unknown', { status: 502 });
      case 'lost-answer':
        apply(there);
        return fail(there + back, 'unknown', { detail: 'cut' });
      case 'wrong-body':
        apply(there);
        return fail(there + back, 'unknown', { detail: 'shape' });
      case 'late':
        apply(world.chances.between(DEADLINE_MS / 2, LATEST_MS));
        return fail(Math.min(DEADLINE_MS, there + back), 'unknown', { detail: 'deadline' });
      default:
        apply(there, (outcome) =>
          answer(back, () => ('value' in outcome ? resolve(outcome.value) : reject(outcome.error))),
        );
    }
  }

  private async apply(
    name: OperationName,
    args: Readonly<Fields>,
    sent: SimProcess['sentJustNow'],
  ): Promise<{ value: unknown } | { error: unknown }> {
    if (this.moved.has(`${String(args['owner'])}/${String(args['repo'])}`))
      return { error: new ForgeError('moved', `${name}: moved`, { operation: name, status: 301 }) };
    const repository = this.repositoryOf(args);
    try {
      const value = await (this.fake.client[name] as unknown as AnyForgeCall)(args);
      if (isWrite(name)) this.note(name, args, repository?.id ?? '', sent);
      return { value: structuredClone(value) };
    } catch (error) {
      return { error };
    }
  }

  private note(
    operation: OperationName,
    args: Readonly<Fields>,
    repoId: string,
    sent: SimProcess['sentJustNow'],
  ): void {
    const { world } = this;
    const name = naturalName(args);
    const effect: Effect = {
      operation,
      key: `${operation} ${repoId} ${name}`,
      repoId,
      name,
      attemptId: sent?.attemptId ?? null,
      intentId: sent?.intentId ?? null,
      atMs: world.time.nowMs,
    };
    this.effects.push(effect);
    world.trace.add(world.time.nowMs, 'forge', effect.key);
    world.judge.applied(effect);
    world.raise(effect);
  }

  private repositoryOf(args: Readonly<Fields>): ReturnType<FakeForge['addRepository']> | undefined {
    return this.fake.repositories.get(`${String(args['owner'])}/${String(args['repo'])}`.toLowerCase());
  }
}

function naturalName(args: Readonly<Fields>): string {
  const body = (args['body'] ?? {}) as Fields;
  return String(body['name'] ?? body['title'] ?? body['new_branch_name'] ?? body['remote_address'] ?? args['id'] ?? '');
}
