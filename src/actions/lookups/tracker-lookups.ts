import { combinedStatus } from '../../core/objects/git.js';
import { changedFile, comment, issue, pull, review } from '../../core/objects/tracker.js';
import { run } from '../../core/objects/workflows.js';
import { ruleType } from '../../core/objects/rule-types.js';
import { actorRights } from '../../core/rights.js';
import { listOf } from '../../core/data-types.js';
import { readActorRights } from '../support/actor-rights.js';
import { readAll } from '../support/read-all.js';
import { defineLookup, maybe, needed } from './define-lookup.js';

const NUMBER = needed('integer', 'number of the issue or pull request');

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
      'All issues and pull requests of a repository, newest first; labels are compared here, since servers drop names they do not know',
    target: 'repository',
    params: {
      state: maybe('string', 'open, closed or all; open when left out'),
      type: maybe('string', 'issues or pulls; both when left out'),
      labels: maybe('strings', 'names that all of them bear'),
      since: maybe('string', 'updated at or after this time'),
      before: maybe('string', 'updated before this time'),
    },
    operations: ['listIssues'],
    whereOffered: [],
    answer: listOf(ruleType(issue)),
    read: async ({ forge, repo }, { state, type, labels, since, before }) => {
      const all = await readAll(forge, 'listIssues', {
        owner: repo.owner,
        repo: repo.name,
        state: state ?? 'open',
        type,
        since,
        before,
      });
      return all.filter((one) => (labels ?? []).every((name) => one.labels?.some((label) => label.name === name)));
    },
  }),
  defineLookup({
    name: 'comments.list',
    summary: 'All comments of an issue or pull request',
    target: 'repository',
    params: { number: NUMBER, since: maybe('string', 'updated at or after this time') },
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
    read: ({ forge, repo }, { number }) =>
      readAll(forge, 'listPullFiles', { owner: repo.owner, repo: repo.name, index: number }),
  }),
  defineLookup({
    name: 'pull_request.reviews',
    summary: 'All reviews of a pull request, and requests for one',
    target: 'repository',
    params: { number: NUMBER },
    operations: ['listReviews'],
    whereOffered: [],
    answer: listOf(ruleType(review)),
    read: ({ forge, repo }, { number }) =>
      readAll(forge, 'listReviews', { owner: repo.owner, repo: repo.name, index: number }),
  }),
  defineLookup({
    name: 'status.get',
    summary: 'The combined status of a commit, with the newest status of each context',
    target: 'repository',
    params: { ref: needed('string', 'commit, branch or tag') },
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
      id: maybe('string', 'number of the account, where it is known'),
    },
    operations: ['getCollaboratorPermission'],
    whereOffered: ['listOrgTeams', 'listTeamMembers', 'listTeamRepos'],
    answer: actorRights,
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
