import { defineLookup, filter, isTime, maybe, naming, needed, oneOfWords } from './define-lookup.js';
import { isSameLogin } from '../support/compare.js';
import { listPages, readAll, readFirst, orMissing, whereAllowed, type ForgeClient } from '../../forge/forge-client.js';
import { listOf } from '../../core/data-types.js';
import type { Team } from '../../core/objects/accounts.js';
import { combinedStatus, commit } from '../../core/objects/git.js';
import { ruleType } from '../../core/objects/rule-types.js';
import {
  changedFile,
  comment,
  issue,
  type Issue,
  type Pull,
  pull,
  reaction,
  review,
} from '../../core/objects/tracker.js';
import { run } from '../../core/objects/workflows.js';
import { higherLevel, isLevel, type ActorRights, type RightLevel, actorRights } from '../../core/rights.js';
import { emptyTable } from '../../core/table.js';

const NUMBER = naming('number', needed('integer', 'number of the issue or pull request'));

/** Reads about issues, pull requests, and who may do what with them. */
export const trackerLookups = [
  defineLookup({
    name: 'issue.get',
    summary: 'An issue or pull request as it is now, with its labels, assignees and milestone',
    target: 'repository',
    params: { number: NUMBER },
    operations: ['getIssue'],
    whereOffered: [],
    answer: ruleType(issue),
    read: ({ forge, repo }, { number }) => forge.getIssue({ owner: repo.owner, repo: repo.name, index: number }),
  }),
  defineLookup({
    name: 'issues.list',
    summary:
      'All issues and pull requests of a repository, newest first; labels and milestone are compared here too, since servers drop names they do not know',
    target: 'repository',
    params: {
      state: filter('open, closed or all; open when left out', oneOfWords('open', 'closed', 'all')),
      type: filter('issues or pulls; both when left out', oneOfWords('issues', 'pulls')),
      labels: maybe('strings', 'names that all of them bear'),
      author: maybe('string', 'login of who opened it; an account that is not there opened none'),
      milestone: maybe('string', 'title of their milestone'),
      since: filter('updated at or after this time', isTime),
      before: filter('updated before this time', isTime),
      limit: maybe('integer', 'how many at most, the newest; all when left out'),
    },
    operations: ['listIssues'],
    whereOffered: [],
    answer: listOf(ruleType(issue)),
    read: async ({ forge, repo, first }, { labels, author, milestone, limit, state = 'open', ...filters }) => {
      const here = { owner: repo.owner, repo: repo.name };
      const most = first === undefined || limit === undefined ? (first ?? limit) : Math.min(first, limit);
      const isWanted = (one: Issue): boolean =>
        (labels ?? []).every((name) => one.labels?.some((label) => label.name === name)) &&
        (milestone === undefined || one.milestone?.title === milestone);
      // A title with a comma would be two: only compared here.
      const ofMilestone = milestone === undefined || milestone.includes(',') ? {} : { milestones: milestone };
      const filter = { ...here, ...filters, ...ofMilestone, state };
      if (author === undefined) return readFirst(forge, 'listIssues', filter, most, isWanted);
      const list = orMissing(readFirst(forge, 'listIssues', { ...filter, created_by: author }, most, isWanted));
      // 404 is also the answer about an author whose account is gone: who opened nothing is no reason to fail.
      return (await list) ?? (await readFirst(forge, 'listIssues', filter, 1)).slice(0, 0);
    },
  }),
  defineLookup({
    name: 'issue.reactions',
    summary: 'All reactions to an issue or pull request: votes, by content and account',
    target: 'repository',
    params: { number: NUMBER },
    operations: ['listIssueReactions'],
    whereOffered: [],
    answer: listOf(ruleType(reaction)),
    read: ({ forge, repo, first }, { number }) =>
      readFirst(forge, 'listIssueReactions', { owner: repo.owner, repo: repo.name, index: number }, first),
  }),
  defineLookup({
    name: 'comments.list',
    summary: 'All comments of an issue or pull request',
    target: 'repository',
    params: { number: NUMBER, since: filter('updated at or after this time', isTime) },
    operations: ['listComments'],
    whereOffered: [],
    answer: listOf(ruleType(comment)),
    read: ({ forge, repo }, { number, since }) =>
      forge.listComments({ owner: repo.owner, repo: repo.name, index: number, since }),
  }),
  defineLookup({
    name: 'pull_request.get',
    summary: 'A pull request as it is now; `mergeable` may lag for some seconds',
    target: 'repository',
    params: { number: NUMBER },
    operations: ['getPull'],
    whereOffered: [],
    answer: ruleType(pull),
    read: ({ forge, repo }, { number }) => forge.getPull({ owner: repo.owner, repo: repo.name, index: number }),
  }),
  defineLookup({
    name: 'pull_request.files',
    summary: 'All files that a pull request changes, with line counts',
    target: 'repository',
    params: { number: NUMBER },
    operations: ['listPullFiles'],
    whereOffered: [],
    answer: listOf(ruleType(changedFile)),
    read: ({ forge, repo, first }, { number }) =>
      readFirst(forge, 'listPullFiles', { owner: repo.owner, repo: repo.name, index: number }, first),
  }),
  defineLookup({
    name: 'pull_request.commits',
    summary: 'All commits of a pull request, newest first, with their messages and signatures',
    target: 'repository',
    params: { number: NUMBER },
    operations: ['listPullCommits'],
    whereOffered: [],
    answer: listOf(ruleType(commit)),
    read: ({ forge, repo, first }, { number }) =>
      readFirst(forge, 'listPullCommits', { owner: repo.owner, repo: repo.name, index: number }, first),
  }),
  defineLookup({
    name: 'pull_request.reviews',
    summary: 'All reviews of a pull request, and requests for one',
    target: 'repository',
    params: { number: NUMBER },
    operations: ['listReviews'],
    whereOffered: [],
    answer: listOf(ruleType(review)),
    read: ({ forge, repo, first }, { number }) =>
      readFirst(forge, 'listReviews', { owner: repo.owner, repo: repo.name, index: number }, first),
  }),
  defineLookup({
    name: 'pull_requests.of_commit',
    summary:
      'The pull requests whose head is a commit, or that were merged as it; commits below a head are not looked at',
    target: 'repository',
    params: {
      sha: needed('string', 'commit, such as ${{ event.sha }}'),
      state: filter('open, closed or all; open when left out', oneOfWords('open', 'closed', 'all')),
    },
    operations: ['listPulls'],
    whereOffered: ['getPullOfCommit'],
    answer: listOf(ruleType(pull)),
    // Servers take no commit as a filter of the list, and their own read of a commit's pull request knows merged ones alone.
    read: async ({ forge, repo }, { sha, state = 'open' }) => {
      const here = { owner: repo.owner, repo: repo.name };
      const isOf = (one: Pull): boolean =>
        one.head?.sha === sha || (one.merged === true && one.merge_commit_sha === sha);
      const merged =
        state === 'open' ? null : await whereAllowed(forge.getPullOfCommit, (get) => orMissing(get({ ...here, sha })));
      // A merge that made the commit: pull requests with that head, too, were changed since.
      const madeAt = merged && merged.head?.sha !== sha ? merged.merged_at : null;
      if (!merged || !madeAt) return (await readAll(forge, 'listPulls', { ...here, state })).filter(isOf);
      const others: Pull[] = [];
      for await (const { items } of listPages(forge, 'listPulls', { ...here, state, sort: 'recentupdate' })) {
        others.push(...items.filter((one) => isOf(one) && one.number !== merged.number));
        if (items.some(({ updated_at: at }) => at && Date.parse(at) < Date.parse(madeAt))) break;
      }
      return [merged, ...others];
    },
  }),
  defineLookup({
    name: 'status.get',
    summary: 'The combined status of a commit, with the newest status of each context',
    target: 'repository',
    params: { ref: naming('ref', needed('string', 'commit, branch or tag')) },
    operations: ['getCombinedStatus'],
    whereOffered: [],
    answer: ruleType(combinedStatus),
    read: ({ forge, repo }, { ref }) => forge.getCombinedStatus({ owner: repo.owner, repo: repo.name, ref }),
  }),
  defineLookup({
    name: 'runs.list',
    summary: 'The newest workflow runs of a repository, or of one commit',
    target: 'repository',
    params: {
      head_sha: maybe('string', 'only runs of this commit'),
      limit: maybe('integer', 'how many to look at, up to 50'),
    },
    operations: ['listRepoRuns'],
    whereOffered: [],
    answer: listOf(ruleType(run)),
    read: async ({ forge, repo }, { head_sha: sha, limit }) => {
      const { workflow_runs: runs } = await forge.listRepoRuns({
        owner: repo.owner,
        repo: repo.name,
        limit: limit ?? 50,
      });
      return (runs ?? []).filter((run) => sha === undefined || run.head_sha === sha);
    },
  }),
  defineLookup({
    name: 'actor.rights',
    summary:
      'What somebody may do in the repository: the highest of ownership, team units and collaborator permission, read now; and their teams',
    target: 'repository',
    params: {
      login: needed('string', 'login, such as ${{ event.actor.login }}'),
      id: naming('number', maybe('string', 'number of the account, where it is known')),
    },
    operations: ['getCollaboratorPermission'],
    whereOffered: ['listOrgTeams', 'listTeamMembers', 'listTeamRepos'],
    answer: actorRights,
    privacy: 'owners',
    read: async ({ forge, repo }, { login, id }) => {
      const { isKnown, ...seen } = await readActorRights(
        forge,
        { owner: repo.owner, name: repo.name, id: repo.id },
        { login, id: id ?? null },
      );
      return { login, ...seen, is_known: isKnown };
    },
  }),
] as const;

interface AskedActor {
  readonly login: string;
  /** Null where only the login is told. */
  readonly id: string | null;
}

/** What the forge says about somebody in a repository of an organization, and in which teams they are. */
interface SeenRights extends ActorRights {
  readonly teams: readonly string[];
  /** False = nothing could be read. */
  readonly isKnown: boolean;
}

type RightsReads = Pick<ForgeClient, 'getCollaboratorPermission'> &
  Partial<Pick<ForgeClient, 'listOrgTeams' | 'listTeamMembers' | 'listTeamRepos'>>;

/**
 * The highest of ownership of the organization, team units on this repository, and collaborator permission. The permission call alone does
 * not tell the truth about people whose write comes from the units of a team: Gitea says `read`, Forgejo `write` for all units (recordings,
 * general). What cannot be read gives nothing.
 */
export async function readActorRights(
  forge: RightsReads,
  repo: { owner: string; name: string; id: string },
  actor: AskedActor,
): Promise<SeenRights> {
  const { login } = actor;
  if (actor.id !== null && actor.id.startsWith('-')) return nobody(login, 'is no account of a person');
  const ask: ForgeClient['getCollaboratorPermission'] = (args) => forge.getCollaboratorPermission(args);
  const permission = await whereAllowed(ask, (get) =>
    orMissing(get({ owner: repo.owner, repo: repo.name, collaborator: login })),
  );
  // The account may have been renamed, and somebody else may have its name now.
  if (permission?.user?.id && actor.id !== null && permission.user.id !== actor.id)
    return nobody(login, 'is the name of another account now');
  const teams = await teamsOf(forge, repo.owner, actor);
  if (permission === undefined && teams === undefined)
    return nobody(login, 'has rights that cannot be known: this token may read neither permissions nor teams', false);
  let level: RightLevel = levelIn(permission?.permission);
  const because = permission ? [`collaborator permission ${level}`] : [];
  const units: Record<string, RightLevel> = emptyTable();
  for (const team of teams ?? []) {
    if (team.permission === 'owner') {
      level = 'owner';
      because.push(`owner of the organization (team ${team.name ?? ''})`);
      continue;
    }
    if (!(await reaches(forge, team, repo.id))) continue;
    if (team.permission === 'admin') level = higherLevel(level, 'admin');
    for (const [unit, granted] of unitsOf(team)) units[unit] = higherLevel(units[unit] ?? 'none', granted);
    because.push(`team ${team.name ?? ''} (${team.permission === 'admin' ? 'admin' : describeUnits(unitsOf(team))})`);
  }
  // Forgejo tells the highest unit of a team as a permission on all: where a team explains the word, only its units count.
  if (level === 'write' && Object.values(units).includes('write')) level = 'read';
  if (teams === undefined) because.push('teams could not be read');
  return {
    level,
    units,
    teams: (teams ?? []).map(({ name }) => name ?? ''),
    isKnown: true,
    reason: `${login}: ${because.join(', ') || 'nothing'}`,
  };
}

function nobody(login: string, why: string, isKnown = true): SeenRights {
  return { level: 'none', units: {}, teams: [], isKnown, reason: `${login} ${why}` };
}

function levelIn(word: string | null | undefined): RightLevel {
  return word && isLevel(word) ? word : 'none';
}

/** Undefined = teams cannot be read. */
async function teamsOf(forge: RightsReads, org: string, actor: AskedActor): Promise<Team[] | undefined> {
  const all = await whereAllowed(forge.listOrgTeams, () => orMissing(readAll(forge, 'listOrgTeams', { org })));
  if (!all || !forge.listTeamMembers) return undefined;
  const mine: Team[] = [];
  for (const team of all) {
    const members = await whereAllowed(forge.listTeamMembers, () =>
      orMissing(readAll(forge, 'listTeamMembers', { id: team.id ?? '0' })),
    );
    const isMember = members?.some((user) =>
      actor.id === null ? isSameLogin(user.login, actor.login) : user.id === actor.id,
    );
    if (isMember) mine.push(team);
  }
  return mine;
}

async function reaches(forge: RightsReads, team: Team, repoId: string): Promise<boolean> {
  if (team.includes_all_repositories === true) return true;
  const repos = await whereAllowed(forge.listTeamRepos, () =>
    orMissing(readAll(forge, 'listTeamRepos', { id: team.id ?? '0' })),
  );
  return repos?.some(({ id }) => id === repoId) ?? false;
}

/** `issues` to `write`; servers name units `repo.issues`. */
function unitsOf({ units_map: map, units, permission }: Team): Array<[string, RightLevel]> {
  const entries =
    map && Object.keys(map).length > 0
      ? Object.entries(map)
      : (units ?? []).map((unit): [string, string] => [unit, permission ?? 'none']);
  return entries.map(([unit, level]) => [unit.replace(/^repo\./, ''), levelIn(level)]);
}

function describeUnits(units: ReadonlyArray<readonly [string, RightLevel]>): string {
  const writing = units.filter(([, level]) => level !== 'read' && level !== 'none');
  return writing.length === 0 ? 'read' : writing.map(([unit, level]) => `${level} on ${unit}`).join(', ');
}
