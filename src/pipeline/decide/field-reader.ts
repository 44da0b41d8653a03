import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { ForgeError } from '../../core/errors.js';
import { commitsOf, learnedOf, OF_SUBJECT, withLearned } from '../../core/event-knowledge.js';
import type { EventRepository, ForgeEvent } from '../../core/event.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { Commit } from '../../core/objects/git.js';
import type { RepositoryOwners } from '../../core/repository-owner.js';
import { filesIn } from '../../events/normalize/push.js';
import { isZeroSha } from '../../events/event-fact.js';
import { ForgeOwners } from '../../forge/forge-owners.js';
import { type ForgeClient, orMissing, whereAllowed } from '../../forge/forge-client.js';
import type { OperationName } from '../../forge/operations.js';
import { Forges, type ForgeAccess } from '../execute/forge-access.js';
import { InboxStore } from '../inbox-store.port.js';
import { ownValue, tableOf } from '../../core/table.js';
import { PATIENCE_MS } from './answer-lookups.js';

interface Context {
  readonly access: ForgeAccess;
  readonly event: ForgeEvent;
  readonly repo: { readonly owner: string; readonly repo: string };
}

/** Undefined = this forge, or this token, does not tell it. */
type Read = (context: Context) => Promise<JsonObject | undefined>;

/** What can be read, by the field of the event that it fills. An object is read as it is now; what the event knows stays as it was. */
const READS: Readonly<Record<string, Read>> = tableOf<Read>({
  files: readFiles,
  issue: ofIssue('getIssue', 'issue'),
  pull_request: readPull,
  comment: readComment,
  release: readRelease,
  repo: ({ access, repo }) => ask(access, 'getRepo', (get) => get(repo)),
});

/** Reads from the forge what an event does not know. */
@Injectable()
export class FieldReader {
  constructor(
    private readonly forges: Forges,
    /** Whose a repository is, and its name of now. */
    @Inject(ForgeOwners) private readonly owners: Pick<RepositoryOwners, 'of'>,
    @Inject(InboxStore) private readonly inbox: Pick<InboxStore, 'learn'>,
    private readonly clock: Clock,
  ) {}

  /**
   * @param paths fields that a decision needs, as rules name them: `event.files.added`
   * @returns the event with what was read, which is stored as well; null = no read tells any of it
   * @throws ForgeError while the forge cannot be asked
   */
  async read(event: ForgeEvent, paths: readonly string[]): Promise<ForgeEvent | null> {
    const { forges, owners, inbox, clock } = this;
    const { forge, org, repo } = event;
    const access = forges.get(forge, org);
    const learned = learnedOf(event.data);
    const wanted = [...new Set(paths.map((path) => readFor(path, event)))].filter(
      (name) => name !== null && !learned.has(name),
    ) as string[];
    if (!access || !repo || wanted.length === 0) return null;
    try {
      const ownership = await owners.of({ forge, org, id: repo.id, name: repo.name });
      if (ownership.is === 'refused') return null;
      const at = { owner: ownership.repository.owner, repo: ownership.repository.name };
      let enriched = event;
      for (const name of wanted) {
        const fields = await ownValue(READS, name)?.({ access, event, repo: at });
        if (fields) enriched = learn(enriched, name, fields);
      }
      if (enriched === event) return null;
      await inbox.learn(event.id, { data: enriched.data, repo: enriched.repo });
      return enriched;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      // An answer that will be the same when the forge is asked again.
      if (error.kind === 'refused' || error.kind === 'moved') return null;
      if (clock.now().getTime() - event.storedAt.getTime() < PATIENCE_MS) throw error;
      return null;
    }
  }
}

function learn(event: ForgeEvent, name: string, fields: JsonObject): ForgeEvent {
  if (name === 'repo') {
    const { owner: _, permissions: __, ...details } = fields;
    const data = withLearned(event.data, {}, [name]);
    return { ...event, data, repo: { ...details, ...(event.repo as EventRepository) } };
  }
  return { ...event, data: withLearned(event.data, fields, [name]) };
}

/** The read that tells a field; null = none does. */
function readFor(path: string, { kind, data }: ForgeEvent): string | null {
  const [, name = '', field] = path.split('.');
  if (kind === 'push')
    return /^(?:files|files_complete|commits|commits\[\]|total_commits|head_commit)$/.test(name)
      ? 'files'
      : name === 'repo'
        ? name
        : null;
  if (field === undefined && OF_SUBJECT.has(name)) return data.pull_request === undefined ? 'issue' : 'pull_request';
  if (field === undefined && /^(?:pull_request|review)\./.test(kind) && /^(?:branch|sha)$/.test(name))
    return 'pull_request';
  return field !== undefined && Object.hasOwn(READS, name) ? name : null;
}

async function ask<Name extends OperationName>(
  access: ForgeAccess,
  name: Name,
  call: (get: ForgeClient[Name]) => Promise<unknown>,
): Promise<JsonObject | undefined> {
  const get = access.offers(name) ? access.client[name] : undefined;
  const answer = await whereAllowed(get, (offered) => orMissing(call(offered)));
  return isJsonObject((answer ?? null) as never) ? (answer as JsonObject) : undefined;
}

function numberOf({ data }: ForgeEvent): string {
  return String((data.number ?? '') as number);
}

function ofIssue(operation: 'getIssue', place: string): Read {
  return async ({ access, event, repo }) => {
    const issue = await ask(access, operation, (get) => get({ ...repo, index: numberOf(event) }));
    return issue && { [place]: issue };
  };
}

async function readPull({ access, event, repo }: Context): Promise<JsonObject | undefined> {
  const pull = await ask(access, 'getPull', (get) => get({ ...repo, index: numberOf(event) }));
  if (!pull) return undefined;
  const { base, head } = pull;
  const branch = isJsonObject(base ?? null) ? (base as JsonObject).ref : undefined;
  const sha = isJsonObject(head ?? null) ? (head as JsonObject).sha : undefined;
  const isOwn = /^(?:pull_request|review)\./.test(event.kind);
  return {
    pull_request: pull,
    ...(isOwn && branch !== undefined ? { branch } : {}),
    ...(isOwn && sha !== undefined ? { sha } : {}),
  };
}

async function readComment({ access, event, repo }: Context): Promise<JsonObject | undefined> {
  const { comment } = event.data;
  const id = isJsonObject(comment ?? null) ? (comment as JsonObject).id : undefined;
  if (typeof id !== 'string') return undefined;
  const current = await ask(access, 'getComment', (get) => get({ ...repo, id }));
  return current && { comment: current };
}

async function readRelease({ access, event, repo }: Context): Promise<JsonObject | undefined> {
  const { tag } = event.data;
  if (typeof tag !== 'string') return undefined;
  const release = await ask(access, 'getReleaseByTag', (get) => get({ ...repo, tag }));
  return release && { release };
}

/** Commits of a push that are read one by one. */
const ONE_BY_ONE = 20;

/**
 * The files of a push: of the commits that the event shows, where it shows all, else of those that the comparison of both ends has. The forge keeps them with
 * each commit, as deliveries tell them.
 */
export async function readFiles(context: Context): Promise<JsonObject | undefined> {
  const { data } = context.event;
  const shownCommits = commitsOf(data);
  const total = data.total_commits;
  if (data.deleted === true || typeof data.after !== 'string' || isZeroSha(data.after)) return undefined;
  const areAll = total === shownCommits.length && shownCommits.length <= ONE_BY_ONE;
  const read = areAll ? await readOneByOne(context, shownCommits) : await compare(context, data.after);
  const commits = read?.map(payloadOf);
  if (!commits || commits.some((commit) => commit === null)) return undefined;
  const all = commits as JsonObject[];
  if (typeof total === 'number' && total !== all.length) return undefined;
  const head = all.find(({ id }) => id === data.after);
  return {
    commits: all,
    total_commits: all.length,
    files: filesIn(all),
    files_complete: true,
    ...(head ? { head_commit: head } : {}),
  };
}

async function readOneByOne(
  { access, repo }: Context,
  shownCommits: readonly JsonObject[],
): Promise<Commit[] | undefined> {
  const read: Commit[] = [];
  for (const { id } of shownCommits) {
    const commit = await ask(access, 'getCommit', (get) =>
      get({ ...repo, sha: String(id as string), stat: false, verification: false }),
    );
    if (!commit) return undefined;
    read.push(commit as Commit);
  }
  return read;
}

/** From the commit before the push or, where that is not known or there was none, from what the forge itself compares it with. */
async function compare({ access, event, repo }: Context, after: string): Promise<Commit[] | undefined> {
  const { before, compare_url: url } = event.data;
  const base =
    typeof before === 'string' && !isZeroSha(before)
      ? before
      : /\/compare\/(.+?)\.\.\.?[0-9a-f]+$/.exec(typeof url === 'string' ? url : '')?.[1];
  if (base === undefined) return undefined;
  const comparison = await ask(access, 'compareCommits', (get) =>
    get({ ...repo, basehead: `${decodeURIComponent(base)}...${after}` }),
  );
  return comparison ? ((comparison.commits ?? []) as unknown as Commit[]) : undefined;
}

/** A commit of the API as deliveries tell it; null where it does not say which files it changed. */
function payloadOf({ sha, html_url: url, commit, files, ...accounts }: Commit): JsonObject | null {
  if (!sha || !files) return null;
  const of = (status: string): string[] =>
    files.flatMap((file) => (file?.status === status && file.filename ? [file.filename] : []));
  // An answer without the account does not say that there is none; null does.
  const person = (role: 'author' | 'committer'): JsonObject => ({
    name: commit?.[role]?.name ?? '',
    email: commit?.[role]?.email ?? '',
    ...(accounts[role] === undefined ? {} : { username: accounts[role]?.login ?? '' }),
  });
  return {
    id: sha,
    message: commit?.message ?? '',
    url: url ?? '',
    author: person('author'),
    committer: person('committer'),
    timestamp: commit?.author?.date ?? '',
    added: of('added'),
    modified: of('modified'),
    removed: of('removed'),
  };
}
