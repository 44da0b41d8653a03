import { z } from 'zod';
import { forbidden, notFound, unprocessable } from '../answer.js';
import { pushToBranch } from '../resources/commit.js';
import { dismissReview } from '../resources/review.js';
import { isRepoAdmin, permissionOn } from '../permissions.js';
import type { Issue, Pull, Repository, Review } from '../world.js';
import { defineAct, type Act, type ActContext } from './define-act.js';
import { callOn, commitField, issueOf, mustWrite, numberAct, on, repoField, repoParams } from './fields.js';

const edit = callOn('updatePull');

const EVENTS = { approve: 'APPROVED', reject: 'REQUEST_CHANGES', comment: 'COMMENT' } as const;

function pullOf(context: ActContext, repo: string, number: number): Issue & { pull: Pull } {
  const issue = issueOf(context, context.repo(repo), number);
  if (!issue.pull) throw notFound(`${number} is no pull request`);
  return issue as Issue & { pull: Pull };
}

function headOf(context: ActContext, issue: Issue & { pull: Pull }): Repository {
  const repo = issue.pull.headRepoId === null ? undefined : context.world.repos.get(issue.pull.headRepoId);
  if (!repo?.git.branches.has(issue.pull.headBranch)) throw unprocessable('the branch of the pull request is gone');
  return repo;
}

function requestAct(name: string, summary: string, operation: 'requestReviewers' | 'removeReviewers'): Act {
  return defineAct({
    name,
    summary,
    params: z.strictObject({
      ...on,
      reviewers: z.array(z.string()).default([]),
      teams: z.array(z.string()).default([]),
    }),
    example: { repo: 'acme/app', number: 1, reviewers: [], teams: ['writers'] },
    run: (context, { reviewers, teams, ...at }) => callOn(operation)(context, at, { reviewers, team_reviewers: teams }),
  });
}

/** Pull requests. Labels, milestone, assignees and comments go by the acts of issues. */
export const pullActs: readonly Act[] = [
  defineAct({
    name: 'pull.open',
    summary: 'Open a pull request; `head` may be `owner:branch` of a fork',
    params: z.strictObject({
      repo: repoField,
      head: z.string(),
      base: z.string().optional(),
      title: z.string().min(1),
      body: z.string().default(''),
    }),
    example: { repo: 'acme/app', head: 'feature/login', title: 'feat: login', body: 'Adds login.' },
    run: (context, { repo, head, base, title, body }) =>
      context.call('createPull', {
        params: repoParams(repo),
        body: { head, base: base ?? context.repo(repo).defaultBranch, title, body },
      }),
  }),
  defineAct({
    name: 'pull.edit',
    summary: 'Change title, text or base',
    params: z.strictObject({
      ...on,
      title: z.string().optional(),
      body: z.string().optional(),
      base: z.string().optional(),
    }),
    example: { repo: 'acme/app', number: 1, title: 'WIP: feat: login' },
    run: (context, { repo, number, ...changes }) => edit(context, { repo, number }, changes),
  }),
  defineAct({
    name: 'pull.sync',
    summary: 'Push commits to the branch of the pull request',
    params: z.strictObject({ ...on, commits: z.array(commitField).min(1).optional() }),
    example: {
      repo: 'acme/app',
      number: 1,
      commits: [{ message: 'fix: review', files: { 'src/login.ts': 'export {};\n' }, removed: [] }],
    },
    run: (context, { repo, number, commits }) => {
      const issue = pullOf(context, repo, number);
      const head = headOf(context, issue);
      mustWrite(context, head, 'repo.code');
      const n = head.git.commits.size + 1;
      const wishes = commits ?? [{ message: `fix: review ${n}`, files: { 'REVIEW.md': `${n}\n` } }];
      return { after: pushToBranch(context.world, context.by, head, issue.pull.headBranch, wishes) };
    },
  }),
  numberAct('pull.close', 'Close without merging', (context, at) => edit(context, at, { state: 'closed' })),
  numberAct('pull.reopen', 'Open again', (context, at) => edit(context, at, { state: 'open' })),
  defineAct({
    name: 'pull.merge',
    summary: 'Merge',
    params: z.strictObject({
      ...on,
      style: z.enum(['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only']).default('merge'),
      delete_branch: z.boolean().default(false),
    }),
    example: { repo: 'acme/app', number: 1, delete_branch: true },
    run: (context, { style, delete_branch, ...at }) =>
      callOn('mergePull')(context, at, { do: style, delete_branch_after_merge: delete_branch }),
  }),
  defineAct({
    name: 'pull.review',
    summary: 'Approve, reject, or comment, with line comments',
    params: z.strictObject({
      ...on,
      verdict: z.enum(['approve', 'reject', 'comment']),
      body: z.string().default(''),
      comments: z
        .array(z.strictObject({ path: z.string(), body: z.string(), line: z.number().int().default(1) }))
        .default([]),
    }),
    example: { repo: 'acme/app', number: 1, verdict: 'approve', body: 'LGTM' },
    run: (context, { verdict, body, comments, ...at }) =>
      callOn('createReview')(context, at, {
        event: EVENTS[verdict],
        body,
        comments: comments.map(({ line, ...rest }) => ({ ...rest, new_position: line })),
      }),
  }),
  defineAct({
    name: 'pull.dismiss_review',
    summary: 'Dismiss the last review of somebody',
    params: z.strictObject({ ...on, reviewer: z.string(), reason: z.string().default('') }),
    example: { repo: 'acme/app', number: 1, reviewer: 'somebody', reason: 'outdated' },
    run: (context, { repo, number, reviewer, reason }) =>
      dismiss(context, pullOf(context, repo, number), reviewer, reason),
  }),
  requestAct('pull.request_review', 'Ask people or teams for a review', 'requestReviewers'),
  requestAct('pull.remove_review_request', 'Take back a request for review', 'removeReviewers'),
];

function dismiss(context: ActContext, issue: Issue & { pull: Pull }, login: string, reason: string): void {
  const { world, by } = context;
  const repo = world.repo(issue.repoId);
  if (!isRepoAdmin(permissionOn(world, by, repo))) throw forbidden(`${by.login} may not dismiss reviews`);
  const reviewer = world.userByName(login);
  const isMeant = (one: Review): boolean =>
    one.issueId === issue.id &&
    one.reviewerId === reviewer?.id &&
    (one.state === 'APPROVED' || one.state === 'REQUEST_CHANGES');
  const review = [...world.reviews.values()].filter(isMeant).at(-1);
  if (!review) throw notFound(`${login} has not judged ${issue.number}`);
  dismissReview(world, by, issue, review, reason);
}
