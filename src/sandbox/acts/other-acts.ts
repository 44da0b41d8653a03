import { z } from 'zod';
import { notFound, unprocessable } from '../answer.js';
import { idField } from '../control/read.js';
import { sendTest } from '../deliveries/tell-hooks.js';
import { renderDelivery } from '../deliveries/delivery-routes.js';
import { resolveRef } from '../git/store.js';
import { uploadPackage } from '../resources/package.js';
import { atLeast, type Owner } from '../world.js';
import { defineAct, type Act, type ActContext } from './define-act.js';
import { mustAdminister, mustWrite, ownerFor, repoField, repoParams } from './fields.js';

const page = { repo: repoField, page: z.string().min(1), message: z.string().default('') };

function wikiAct(
  verb: 'create' | 'edit' | 'delete',
  kind: 'wiki.created' | 'wiki.edited' | 'wiki.deleted',
  summary: string,
): Act {
  return defineAct({
    name: `wiki.${verb}`,
    summary,
    params: z.strictObject(page),
    example: { repo: 'acme/app', page: 'Home', message: 'start' },
    run: (context, { repo: name, page: title, message }) => {
      const repo = context.repo(name);
      mustWrite(context, repo, 'repo.wiki');
      repo.hasWikiContents = true;
      context.world.happened(context.by, { kind, repo, page: title, comment: message });
    },
  });
}

function packageOwner(context: ActContext, name: string): Owner {
  return ownerFor(context, name, 'write packages', (team) =>
    atLeast(team.units.get('repo.packages') ?? 'none', 'write'),
  );
}

export const otherActs: readonly Act[] = [
  defineAct({
    name: 'status.set',
    summary: 'Set a commit status; `ref` is a branch, tag or commit (default: the default branch)',
    params: z.strictObject({
      repo: repoField,
      ref: z.string().optional(),
      context: z.string().default('ci/build'),
      state: z.enum(['pending', 'success', 'error', 'failure', 'warning', 'skipped']),
      description: z.string().default(''),
      target_url: z.string().default(''),
    }),
    example: { repo: 'acme/app', state: 'failure', description: 'broken' },
    run: (context, { repo: name, ref, ...status }) => {
      const repo = context.repo(name);
      const target = resolveRef(repo.git, ref ?? repo.defaultBranch);
      if (!target) throw unprocessable(`no ${ref ?? repo.defaultBranch} in ${name}`);
      return context.call('createStatus', { params: { ...repoParams(name), sha: target.commit.sha }, body: status });
    },
  }),
  wikiAct('create', 'wiki.created', 'Write a new wiki page (told, not kept)'),
  wikiAct('edit', 'wiki.edited', 'Change a wiki page (told, not kept)'),
  wikiAct('delete', 'wiki.deleted', 'Delete a wiki page (told, not kept)'),
  defineAct({
    name: 'package.upload',
    summary: 'Upload a file of a package; the first of a version makes the version',
    params: z.strictObject({
      owner: z.string(),
      type: z.string().default('generic'),
      name: z.string().min(1),
      version: z.string().min(1),
      file: z.string().default('content.bin'),
      content: z.string().default('hello'),
      /** Links the package. */
      repo: repoField.optional(),
    }),
    example: { owner: 'acme', type: 'container', name: 'app', version: '1.4.0' },
    run: (context, { owner, file, content, repo, ...named }) => {
      const uploaded = uploadPackage(context.world, {
        ownerId: packageOwner(context, owner).id,
        creator: context.by,
        ...named,
        fileName: file,
        content: Buffer.from(content),
        ...(repo === undefined ? {} : { repoId: context.repo(repo).id }),
      });
      return { id: uploaded.id };
    },
  }),
  defineAct({
    name: 'package.delete',
    summary: 'Delete a version of a package',
    params: z.strictObject({
      owner: z.string(),
      type: z.string().default('generic'),
      name: z.string(),
      version: z.string(),
    }),
    example: { owner: 'acme', type: 'container', name: 'app', version: '1.4.0' },
    run: ({ call }, params) => call('deletePackage', { params }),
  }),
  defineAct({
    name: 'hook.test',
    summary: "A hook's test call: a push from the newest commit to itself, to this hook alone",
    params: z.strictObject({ repo: repoField, hook: idField }),
    example: { repo: 'acme/app', hook: 1 },
    run: (context, { repo: name, hook: id }) => {
      const repo = context.repo(name);
      mustAdminister(context, repo);
      const hook = context.world.hooks.get(BigInt(id));
      if (!hook || (hook.repoId ?? repo.id) !== repo.id || (hook.orgId ?? repo.ownerId) !== repo.ownerId)
        throw notFound(`no hook ${id} that hears of ${name}`);
      const sent = sendTest(context.parts, context.parts.deliveries, hook, repo, context.by);
      return sent && renderDelivery(sent);
    },
  }),
];
