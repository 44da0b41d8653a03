import { JOB_STATES, defineLookup, filter, maybe, naming, needed, oneOfWords } from './define-lookup.js';
import { orMissing, whereOffered, readFirst, type ForgeClient } from '../../forge/forge-client.js';
import { listOf } from '../../core/data-types.js';
import { type Contents, branch, branchProtection, contents } from '../../core/objects/git.js';
import { release } from '../../core/objects/publishing.js';
import { pushMirror, repository } from '../../core/objects/repositories.js';
import { ruleType } from '../../core/objects/rule-types.js';
import { label, milestone } from '../../core/objects/tracker.js';
import { actionTasks, workflowJobs } from '../../core/objects/workflows.js';

function branchName(name: string): string | null {
  return /[*?]/.test(name) ? 'must be the name of one branch, and no pattern' : null;
}

function pathOfFile(path: string): string | null {
  if (path.startsWith('/') || path.startsWith('./')) return 'a path begins at the top of the repository, without "/"';
  return /[*?]/.test(path) ? 'must be paths of files: a pattern finds none' : null;
}

/** Reads about the repository of the event or tick. */
export const repositoryLookups = [
  defineLookup({
    name: 'branch.get',
    summary: 'A branch, with its newest commit and protection',
    target: 'repository',
    params: { branch: naming('branch', needed('string', 'name of the branch', branchName)) },
    operations: ['getBranch'],
    whereOffered: [],
    answer: ruleType(branch),
    read: ({ forge, repo }, { branch }) => forge.getBranch({ owner: repo.owner, repo: repo.name, branch }),
  }),
  defineLookup({
    name: 'files.read',
    summary:
      'Several files with their text, in the order asked; null = not there; too large or binary ones have no text',
    target: 'repository',
    params: {
      files: needed('strings', 'paths', pathOfFile),
      ref: naming('ref', maybe('string', 'branch, tag or commit; the default branch when left out')),
    },
    operations: ['getFiles'],
    whereOffered: ['getContents'],
    answer: listOf(ruleType(contents)),
    read: ({ forge, repo }, { files, ref }) => readFiles(forge, { owner: repo.owner, repo: repo.name, files, ref }),
  }),
  defineLookup({
    name: 'protection.get',
    summary: 'A branch protection by the name of its rule',
    target: 'repository',
    params: { name: naming('branch', needed('string', 'name of the rule; may be a pattern such as release/*')) },
    operations: ['getBranchProtection'],
    whereOffered: [],
    answer: ruleType(branchProtection),
    privacy: 'owners',
    read: ({ forge, repo }, { name }) => forge.getBranchProtection({ owner: repo.owner, repo: repo.name, name }),
  }),
  defineLookup({
    name: 'push_mirrors.list',
    summary: 'All push mirrors of the repository',
    target: 'repository',
    params: {},
    operations: ['listPushMirrors'],
    whereOffered: [],
    answer: listOf(ruleType(pushMirror)),
    privacy: 'owners',
    isAboutCredentials: true,
    read: ({ forge, repo, first }) =>
      readFirst(forge, 'listPushMirrors', { owner: repo.owner, repo: repo.name }, first),
  }),
  defineLookup({
    name: 'tasks.list',
    summary: 'The newest action tasks: {workflow_runs, total_count}',
    target: 'repository',
    params: { limit: maybe('integer', 'how many, up to 50'), page: maybe('integer', 'page, from 1') },
    operations: ['listActionTasks'],
    whereOffered: [],
    answer: ruleType(actionTasks),
    read: ({ forge, repo }, { limit, page }) =>
      forge.listActionTasks({ owner: repo.owner, repo: repo.name, limit, page }),
  }),
  defineLookup({
    name: 'jobs.of_attempt',
    summary: 'The jobs of one attempt of a workflow run: {jobs, total_count}',
    target: 'repository',
    params: {
      run: naming('number', needed('any', 'id of the run')),
      attempt: needed('integer', 'number of the attempt, from 1'),
      status: filter('pending, queued, in_progress, failure, success or skipped', oneOfWords(...JOB_STATES)),
      limit: maybe('integer', 'how many, up to 50'),
    },
    operations: ['listJobsOfAttempt'],
    whereOffered: [],
    answer: ruleType(workflowJobs),
    read: ({ forge, repo }, { run, attempt, status, limit }) =>
      forge.listJobsOfAttempt({ owner: repo.owner, repo: repo.name, run: String(run), attempt, status, limit }),
  }),
  defineLookup({
    name: 'labels.list',
    summary: 'All labels of the repository',
    target: 'repository',
    params: {},
    operations: ['listLabels'],
    whereOffered: [],
    answer: listOf(ruleType(label)),
    read: ({ forge, repo, first }) => readFirst(forge, 'listLabels', { owner: repo.owner, repo: repo.name }, first),
  }),
  defineLookup({
    name: 'milestones.list',
    summary: 'All milestones, closed ones too',
    target: 'repository',
    params: { state: filter('open, closed or all; all when left out', oneOfWords('open', 'closed', 'all')) },
    operations: ['listMilestones'],
    whereOffered: [],
    answer: listOf(ruleType(milestone)),
    read: ({ forge, repo, first }, { state }) =>
      readFirst(forge, 'listMilestones', { owner: repo.owner, repo: repo.name, state: state ?? 'all' }, first),
  }),
  defineLookup({
    name: 'releases.list',
    summary: 'The newest releases',
    target: 'repository',
    params: { limit: maybe('integer', 'how many, up to 50') },
    operations: ['listReleases'],
    whereOffered: [],
    answer: listOf(ruleType(release)),
    read: ({ forge, repo }, { limit }) => forge.listReleases({ owner: repo.owner, repo: repo.name, limit }),
  }),
  defineLookup({
    name: 'release.by_tag',
    summary: 'The release of a tag',
    target: 'repository',
    params: { tag: naming('tag', needed('string', 'name of the tag')) },
    operations: ['getReleaseByTag'],
    whereOffered: [],
    answer: ruleType(release),
    read: ({ forge, repo }, { tag }) => forge.getReleaseByTag({ owner: repo.owner, repo: repo.name, tag }),
  }),
  defineLookup({
    name: 'repo.get',
    summary: 'The repository as it is now, by its number where the forge allows that',
    target: 'repository',
    params: {},
    operations: ['getRepo'],
    whereOffered: ['getRepoById'],
    answer: ruleType(repository),
    read: async ({ forge, repo }) =>
      (await whereOffered(forge.getRepoById, (get) => get({ id: repo.id }))) ??
      forge.getRepo({ owner: repo.owner, repo: repo.name }),
  }),
] as const;

interface Asked {
  readonly owner: string;
  readonly repo: string;
  readonly files: readonly string[];
  readonly ref: string | undefined;
}

/** A file as rules see it: `content` is text, `encoding` says `utf-8`; both null when it is too large, binary or no file. */
type FileText = Omit<Contents, 'content' | 'encoding'> & { content: string | null; encoding: 'utf-8' | null };

/** Op 5, or one call per file on a forge that has none (Forgejo). Contents are decoded once, here. */
async function readFiles(
  forge: Pick<ForgeClient, 'getFiles'> & Partial<Pick<ForgeClient, 'getContents'>>,
  { files, ref, ...where }: Asked,
): Promise<Array<FileText | null>> {
  const paths = [...files];
  if (paths.length === 0) return [];
  const { getContents } = forge;
  const askAll: ForgeClient['getFiles'] = (args) => forge.getFiles(args);
  const all = { ...where, ref, body: { files: paths } };
  const together = getContents ? await whereOffered(askAll, (ask) => ask(all)) : await askAll(all);
  if (together !== undefined || !getContents) return (together ?? []).map(decode);
  const texts: Array<FileText | null> = [];
  for (const filepath of paths) texts.push(decode(await orMissing(getContents({ ...where, ref, filepath }))));
  return texts;
}

function decode(file: Contents | null): FileText | null {
  if (!file) return null;
  const text =
    file.encoding === 'base64' && typeof file.content === 'string' ? asText(Buffer.from(file.content, 'base64')) : null;
  return { ...file, content: text, encoding: text === null ? null : 'utf-8' };
}

/** Null for what is not UTF-8: rules compare text, and a text with holes would be another text. */
function asText(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
