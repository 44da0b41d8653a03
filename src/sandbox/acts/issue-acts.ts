import { z } from 'zod';
import { defineAct, type Act, type ActContext } from './define-act.js';
import { callOn, issueOf, labelIds, milestoneId, numberAct, on, repoField, repoParams } from './fields.js';

const example = { repo: 'acme/app', number: 1 };
const names = z.array(z.string());

const edit = callOn('updateIssue');

/** Issues; those that go by a number act on pull requests too. */
export const issueActs: readonly Act[] = [
  defineAct({
    name: 'issue.open',
    summary: 'Open an issue; labels and milestone by name',
    params: z.strictObject({
      repo: repoField,
      title: z.string().min(1),
      body: z.string().default(''),
      labels: names.default([]),
      milestone: z.string().optional(),
      assignees: names.default([]),
    }),
    example: { repo: 'acme/app', title: 'Crash on start', body: 'It crashes.', labels: ['bug'] },
    run: (context, { repo, title, body, labels, milestone, assignees }) => {
      const at = context.repo(repo);
      return context.call('createIssue', {
        params: repoParams(repo),
        body: {
          title,
          body,
          assignees,
          labels: labelIds(context, at, labels),
          ...(milestone === undefined ? {} : { milestone: milestoneId(context, at, milestone) }),
        },
      });
    },
  }),
  defineAct({
    name: 'issue.edit',
    summary: 'Change title or text',
    params: z.strictObject({ ...on, title: z.string().optional(), body: z.string().optional() }),
    example: { repo: 'acme/app', number: 1, title: 'Crash on every start' },
    run: (context, { repo, number, ...changes }) => edit(context, { repo, number }, changes),
  }),
  numberAct('issue.close', 'Close', (context, at) => edit(context, at, { state: 'closed' })),
  numberAct('issue.reopen', 'Open again', (context, at) => edit(context, at, { state: 'open' })),
  numberAct('issue.delete', 'Delete, with its comments', callOn('deleteIssue')),
  defineAct({
    name: 'issue.label',
    summary: 'Put labels on, replace them all, remove some, or clear',
    params: z.strictObject({
      ...on,
      how: z.enum(['add', 'replace', 'remove', 'clear']).default('add'),
      labels: names.default([]),
    }),
    example: { repo: 'acme/app', number: 1, labels: ['bug'] },
    run: async (context, { repo, number, how, labels }) => {
      const params = { ...repoParams(repo), index: number };
      const ids = labelIds(context, context.repo(repo), labels);
      switch (how) {
        case 'add':
          return context.call('addIssueLabels', { params, body: { labels: ids } });
        case 'replace':
          return context.call('replaceIssueLabels', { params, body: { labels: ids } });
        case 'remove':
          for (const id of ids) await context.call('removeIssueLabel', { params: { ...params, id } });
          return null;
        case 'clear':
          return context.call('clearIssueLabels', { params });
      }
    },
  }),
  defineAct({
    name: 'issue.milestone',
    summary: 'Put into a milestone by its title, or (null) take out of it',
    params: z.strictObject({ ...on, milestone: z.string().nullable() }),
    example: { repo: 'acme/app', number: 1, milestone: '1.4' },
    run: (context, { repo, number, milestone }) =>
      edit(
        context,
        { repo, number },
        { milestone: milestone === null ? 0 : milestoneId(context, context.repo(repo), milestone) },
      ),
  }),
  defineAct({
    name: 'issue.assign',
    summary: 'Assign exactly these people; none = unassign all',
    params: z.strictObject({ ...on, assignees: names }),
    example: { repo: 'acme/app', number: 1, assignees: [] },
    run: (context, { repo, number, assignees }) => edit(context, { repo, number }, { assignees }),
  }),
  defineAct({
    name: 'comment.create',
    summary: 'Comment on an issue or a pull request',
    params: z.strictObject({ ...on, body: z.string().min(1) }),
    example: { repo: 'acme/app', number: 1, body: 'Can you share logs?' },
    run: (context, { body, ...at }) => callOn('createComment')(context, at, { body }),
  }),
  defineAct({
    name: 'comment.edit',
    summary: 'Change a comment: the named one, else the last of the issue',
    params: z.strictObject({ ...on, comment: z.number().int().optional(), body: z.string().min(1) }),
    example: { repo: 'acme/app', number: 1, body: 'Please share logs.' },
    run: (context, { repo, number, comment, body }) =>
      context.call('updateComment', {
        params: { ...repoParams(repo), id: comment ?? lastComment(context, repo, number) },
        body: { body },
      }),
  }),
  defineAct({
    name: 'comment.delete',
    summary: 'Delete a comment: the named one, else the last of the issue',
    params: z.strictObject({ ...on, comment: z.number().int().optional() }),
    example,
    run: (context, { repo, number, comment }) =>
      context.call('deleteComment', {
        params: { ...repoParams(repo), id: comment ?? lastComment(context, repo, number) },
      }),
  }),
];

/** 0, which no comment has, when there is none: the API then says what is wrong. */
function lastComment(context: ActContext, repo: string, number: number): bigint {
  const issue = issueOf(context, context.repo(repo), number);
  return (
    [...context.world.comments.values()].filter((one) => one.issueId === issue.id && one.kind === 'comment').at(-1)
      ?.id ?? 0n
  );
}
