import { z } from 'zod';
import { notFound } from '../answer.js';
import { defineAct, type Act, type ActContext } from './define-act.js';
import { repoField, repoParams } from './fields.js';
import { releaseByTag } from '../resources/tag.js';

const wish = z.strictObject({
  repo: repoField,
  tag: z.string().min(1),
  /** Branch or commit of a tag that is not there yet. */
  target: z.string().optional(),
  name: z.string().optional(),
  body: z.string().default(''),
  prerelease: z.boolean().default(false),
});

function make(
  { call }: ActContext,
  isDraft: boolean,
  { repo, tag, target, name, body, prerelease }: z.output<typeof wish>,
): Promise<unknown> {
  return call('createRelease', {
    params: repoParams(repo),
    body: {
      tag_name: tag,
      name: name ?? tag,
      body,
      prerelease,
      draft: isDraft,
      ...(target === undefined ? {} : { target_commitish: target }),
    },
  });
}

function idOf({ world, repo }: ActContext, name: string, tag: string): bigint {
  const release = releaseByTag(world, repo(name), tag);
  if (!release) throw notFound(`no release ${tag} in ${name}`);
  return release.id;
}

export const releaseActs: readonly Act[] = [
  defineAct({
    name: 'release.publish',
    summary: 'Publish a release; its tag is made when it is not there. A draft of that tag is published',
    params: wish,
    example: { repo: 'acme/app', tag: 'v1.4.0', name: '1.4', body: '## Features\n\n- login\n' },
    run: (context, params) => {
      const draft = releaseByTag(context.world, context.repo(params.repo), params.tag);
      if (!draft?.isDraft) return make(context, false, params);
      return context.call('updateRelease', {
        params: { ...repoParams(params.repo), id: draft.id },
        body: { draft: false },
      });
    },
  }),
  defineAct({
    name: 'release.draft',
    summary: 'Make a draft; nobody is told',
    params: wish,
    example: { repo: 'acme/app', tag: 'v1.5.0', name: '1.5' },
    run: (context, params) => make(context, true, params),
  }),
  defineAct({
    name: 'release.edit',
    summary: 'Change name, notes or the mark of a prerelease',
    params: z.strictObject({
      repo: repoField,
      tag: z.string(),
      name: z.string().optional(),
      body: z.string().optional(),
      prerelease: z.boolean().optional(),
    }),
    example: { repo: 'acme/app', tag: 'v1.4.0', body: 'Polished notes.\n' },
    run: (context, { repo, tag, ...changes }) =>
      context.call('updateRelease', { params: { ...repoParams(repo), id: idOf(context, repo, tag) }, body: changes }),
  }),
  defineAct({
    name: 'release.delete',
    summary: 'Delete a release; its tag stays',
    params: z.strictObject({ repo: repoField, tag: z.string() }),
    example: { repo: 'acme/app', tag: 'v1.4.0' },
    run: (context, { repo, tag }) =>
      context.call('deleteRelease', { params: { ...repoParams(repo), id: idOf(context, repo, tag) } }),
  }),
];
