import { z } from 'zod';
import { conflict } from '../answer.js';
import { firstReadme } from '../resources/repository-create.js';
import { makeRepository, deleteRepository } from '../resources/repository.js';
import type { Owner } from '../world.js';
import { defineAct, type Act, type ActContext } from './define-act.js';
import { mustAdminister, ownerFor, repoField, repoParams } from './fields.js';

function makerFor(context: ActContext, name: string): Owner {
  return ownerFor(context, name, 'make repositories', (team) => team.canCreateOrgRepo);
}

function mustBeFree({ world }: ActContext, owner: Owner, name: string): void {
  if (world.repoByName(owner.id, name)) throw conflict(`${owner.login}/${name} exists`);
}

function followAct(name: string, summary: string, followers: 'stars' | 'watchers'): Act {
  return defineAct({
    name,
    summary,
    params: z.strictObject({ repo: repoField }),
    example: { repo: 'acme/app' },
    run: (context, { repo }) => {
      context.repo(repo)[followers].add(context.by.id);
    },
  });
}

export const repositoryActs: readonly Act[] = [
  defineAct({
    name: 'repository.create',
    summary: 'Make a repository; `empty` leaves out the first commit',
    params: z.strictObject({
      repo: repoField,
      description: z.string().default(''),
      private: z.boolean().default(false),
      template: z.boolean().default(false),
      empty: z.boolean().default(false),
      default_branch: z.string().default('main'),
    }),
    example: { repo: 'acme/newcomer', description: 'something new' },
    run: (context, { repo: fullName, description, empty, default_branch, ...kind }) => {
      const [ownerName = '', name = ''] = fullName.split('/');
      const owner = makerFor(context, ownerName);
      mustBeFree(context, owner, name);
      const made = makeRepository(context.world, context.by, {
        owner,
        name,
        description,
        defaultBranch: default_branch,
        ...kind,
        ...(empty ? {} : { files: { 'README.md': firstReadme(name, description) } }),
      });
      return { id: made.id };
    },
  }),
  defineAct({
    name: 'repository.fork',
    summary: 'Fork a repository, to the actor or to an organization',
    params: z.strictObject({ repo: repoField, owner: z.string().optional(), name: z.string().optional() }),
    example: { repo: 'acme/app' },
    run: (context, { repo: fullName, owner: ownerName, name }) => {
      const original = context.repo(fullName);
      const owner = makerFor(context, ownerName ?? context.by.login);
      mustBeFree(context, owner, name ?? original.name);
      const fork = makeRepository(context.world, context.by, {
        owner,
        name: name ?? original.name,
        description: original.description,
        private: original.private,
        defaultBranch: original.defaultBranch,
        forkOf: original.id,
      });
      return { id: fork.id, full_name: `${owner.login}/${fork.name}` };
    },
  }),
  defineAct({
    name: 'repository.rename',
    summary: 'Give a repository another name; the old one leads to it',
    params: z.strictObject({ repo: repoField, name: z.string() }),
    example: { repo: 'acme/app', name: 'application' },
    run: ({ call }, { repo, name }) => call('updateRepo', { params: repoParams(repo), body: { name } }),
  }),
  defineAct({
    name: 'repository.transfer',
    summary: 'Give a repository to another owner',
    params: z.strictObject({ repo: repoField, owner: z.string() }),
    example: { repo: 'acme/app', owner: 'otherorg' },
    run: ({ call }, { repo, owner }) => call('transferRepo', { params: repoParams(repo), body: { new_owner: owner } }),
  }),
  defineAct({
    name: 'repository.archive',
    summary: 'Archive a repository, or take it out of the archive',
    params: z.strictObject({ repo: repoField, archived: z.boolean().default(true) }),
    example: { repo: 'acme/app' },
    run: ({ call }, { repo, archived }) => call('updateRepo', { params: repoParams(repo), body: { archived } }),
  }),
  defineAct({
    name: 'repository.delete',
    summary: 'Delete a repository with everything in it',
    params: z.strictObject({ repo: repoField }),
    example: { repo: 'acme/app' },
    run: (context, { repo: name }) => {
      const repo = context.repo(name);
      mustAdminister(context, repo);
      deleteRepository(context.world, context.by, repo);
    },
  }),
  followAct('repository.star', 'Star a repository; nobody is told', 'stars'),
  followAct('repository.watch', 'Watch a repository; nobody is told', 'watchers'),
];
