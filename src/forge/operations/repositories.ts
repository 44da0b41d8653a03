import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { collaboratorPermission, repository, topics } from '../../core/objects/repositories.js';
import { user } from '../../core/objects/accounts.js';

const { del, get, patch, post, put } = operationsOf('repository');

export const repositoryOperations = {
  adminCreateRepo: post('/admin/users/{username}/repos', {
    n: 4,
    body: z.strictObject({
      name: z.string(),
      auto_init: z.boolean().optional(),
      default_branch: z.string().optional(),
      description: z.string().optional(),
      gitignores: z.string().optional(),
      issue_labels: z.string().optional(),
      license: z.string().optional(),
      object_format_name: z.enum(['', 'sha1', 'sha256']).optional(),
      private: z.boolean().optional(),
      readme: z.string().optional(),
      template: z.boolean().optional(),
      trust_model: z.enum(['default', 'collaborator', 'committer', 'collaboratorcommitter']).optional(),
    }),
    result: repository,
    scope: 'admin',
    retry: 'keyed',
    summary: 'Create a repository for a user or an organization',
  }),
  getRepo: get('/repos/{owner}/{repo}', { result: repository, summary: 'Get a repository by owner and name' }),
  getRepoById: get('/repositories/{id}', {
    result: repository,
    summary: 'Get a repository by number, whatever its name is now',
  }),
  updateRepo: patch('/repos/{owner}/{repo}', {
    body: z.looseObject({
      archived: z.boolean().optional(),
      default_branch: z.string().optional(),
      description: z.string().optional(),
      name: z.string().optional(),
      private: z.boolean().optional(),
    }),
    result: repository,
    summary: 'Change given settings of a repository',
  }),
  transferRepo: post('/repos/{owner}/{repo}/transfer', {
    body: z.strictObject({ new_owner: z.string() }),
    result: repository,
    success: [202, 201],
    retry: 'keyed',
    summary: 'Give a repository to another owner',
  }),
  listTopics: get('/repos/{owner}/{repo}/topics', { result: topics, summary: 'List the topics of a repository' }),
  replaceTopics: put('/repos/{owner}/{repo}/topics', {
    body: z.strictObject({ topics: z.array(z.string()) }),
    summary: 'Replace the topics of a repository',
  }),
  getCollaboratorPermission: get('/repos/{owner}/{repo}/collaborators/{collaborator}/permission', {
    result: collaboratorPermission,
    summary: 'Get the permission of a collaborator; says read for one whose write comes from team units',
  }),
  checkAssignee: get('/repos/{owner}/{repo}/assignees/{assignee}', {
    result: nothing,
    success: [204],
    summary: 'Ask whether a user may be assigned; 404 means no',
  }),
  deleteRepo: del('/repos/{owner}/{repo}', { summary: 'Delete a repository with everything in it' }),
  addCollaborator: put('/repos/{owner}/{repo}/collaborators/{collaborator}', {
    body: z.strictObject({ permission: z.enum(['read', 'write', 'admin']).optional() }),
    summary: 'Give somebody a permission on a repository',
  }),
  listAssignees: get('/repos/{owner}/{repo}/assignees', { result: listOf(user), summary: 'List who may be assigned' }),
} as const;
