import { z } from 'zod';
import { conflict, notFound, unprocessable } from '../answer.js';
import { resolveRef } from '../git/store.js';
import { pushToBranch } from '../resources/commit.js';
import { createTag, deleteTag } from '../resources/tag.js';
import type { Repository } from '../world.js';
import { defineAct, type Act } from './define-act.js';
import { commitField, mustWrite, repoField, repoParams } from './fields.js';

/** What people do with git. */
export const refActs: readonly Act[] = [
  defineAct({
    name: 'push',
    summary: 'Push commits to a branch; a branch that is not there is made from `from` (default: the default branch)',
    params: z.strictObject({
      repo: repoField,
      branch: z.string().optional(),
      from: z.string().optional(),
      commits: z.array(commitField).min(1).optional(),
    }),
    example: {
      repo: 'acme/app',
      commits: [{ message: 'fix: typo', files: { 'docs/guide.md': 'Read me.\n' }, removed: [] }],
    },
    run: (context, { repo: name, branch, from, commits }) => {
      const repo = context.repo(name);
      mustWrite(context, repo, 'repo.code');
      const after = pushToBranch(
        context.world,
        context.by,
        repo,
        branch ?? repo.defaultBranch,
        commits ?? [aNote(repo)],
        from,
      );
      return { ref: `refs/heads/${branch ?? repo.defaultBranch}`, after };
    },
  }),
  defineAct({
    name: 'branch.create',
    summary: 'Make a branch without a commit of its own',
    params: z.strictObject({ repo: repoField, branch: z.string(), from: z.string().optional() }),
    example: { repo: 'acme/app', branch: 'feature/login' },
    run: ({ call }, { repo, branch, from }) =>
      call('createBranch', {
        params: repoParams(repo),
        body: { new_branch_name: branch, ...(from === undefined ? {} : { old_ref_name: from }) },
      }),
  }),
  defineAct({
    name: 'branch.delete',
    summary: 'Delete a branch',
    params: z.strictObject({ repo: repoField, branch: z.string() }),
    example: { repo: 'acme/app', branch: 'feature/login' },
    run: ({ call }, { repo, branch }) => call('deleteBranch', { params: { ...repoParams(repo), branch } }),
  }),
  defineAct({
    name: 'tag.create',
    summary: 'Push a tag; with a message it is an annotated one',
    params: z.strictObject({
      repo: repoField,
      tag: z.string().min(1),
      target: z.string().optional(),
      message: z.string().default(''),
    }),
    example: { repo: 'acme/app', tag: 'v1.4.0' },
    run: (context, { repo: name, tag, target, message }) => {
      const repo = context.repo(name);
      mustWrite(context, repo, 'repo.code');
      if (repo.git.tags.has(tag)) throw conflict(`tag ${tag} exists`);
      const resolved = resolveRef(repo.git, target ?? repo.defaultBranch);
      if (!resolved) throw unprocessable(`nothing to tag: no ${target ?? repo.defaultBranch}`);
      createTag(context.world, context.by, repo, tag, resolved.commit.sha, message);
      return { tag, sha: resolved.commit.sha };
    },
  }),
  defineAct({
    name: 'tag.delete',
    summary: 'Delete a tag',
    params: z.strictObject({ repo: repoField, tag: z.string() }),
    example: { repo: 'acme/app', tag: 'v1.4.0' },
    run: (context, { repo: name, tag }) => {
      const repo = context.repo(name);
      mustWrite(context, repo, 'repo.code');
      if (!repo.git.tags.has(tag)) throw notFound(`no tag ${tag}`);
      deleteTag(context.world, context.by, repo, tag);
    },
  }),
];

/** Something to push for those who do not care what: another number each time, so that the tree changes. */
function aNote(repo: Repository): { message: string; files: Record<string, string> } {
  const n = repo.git.commits.size + 1;
  return { message: `docs: note ${n}`, files: { 'NOTES.md': `Note ${n}.\n` } };
}
