import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { activity } from '../../core/objects/feed.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { organization, organizationPermissions, user } from '../../core/objects/accounts.js';
import { repository } from '../../core/objects/repositories.js';
import { paging } from './params.js';

const { del, get, post } = operationsOf('organization');

const visibility = z.enum(['public', 'limited', 'private']).optional();

export const organizationOperations = {
  listOrgFeed: get('/orgs/{org}/activities/feeds', {
    n: 8,
    query: { date: { type: 'date', summary: 'day of the activities, YYYY-MM-DD' }, ...paging },
    result: listOf(activity),
    summary: "List an organization's activity feed, newest first",
  }),
  listOrgRepos: get('/orgs/{org}/repos', {
    query: paging,
    result: listOf(repository),
    summary: 'List the repositories of an organization by id; pages may be short',
  }),
  listOrgMembers: get('/orgs/{org}/members', {
    query: paging,
    result: listOf(user),
    summary: 'List the members of an organization',
  }),
  renameOrg: post('/orgs/{org}/rename', {
    body: z.strictObject({ new_name: z.string() }),
    result: nothing,
    success: [204],
    retry: 'keyed',
    summary: 'Rename an organization',
  }),
  getOrg: get('/orgs/{org}', { result: organization, summary: 'Get an organization by name' }),
  listMyOrgs: get('/user/orgs', {
    query: paging,
    result: listOf(organization),
    scope: 'user',
    summary: 'List the organizations of the caller',
  }),
  getOrgPermissions: get('/users/{username}/orgs/{org}/permissions', {
    result: organizationPermissions,
    summary: 'Get what somebody may do in an organization; Gitea leaves out rights that come from team units',
  }),
  createOrg: post('/orgs', {
    body: z.strictObject({
      username: z.string(),
      full_name: z.string().optional(),
      description: z.string().optional(),
      visibility,
    }),
    result: organization,
    retry: 'keyed',
    summary: 'Create an organization that the caller owns',
  }),
  deleteOrg: del('/orgs/{org}', { summary: 'Delete an organization that has no repositories' }),
  createOrgRepo: post('/orgs/{org}/repos', {
    body: z.strictObject({
      name: z.string(),
      auto_init: z.boolean().optional(),
      default_branch: z.string().optional(),
      description: z.string().optional(),
      private: z.boolean().optional(),
    }),
    result: repository,
    retry: 'keyed',
    summary: 'Create a repository of an organization',
  }),
  checkOrgMember: get('/orgs/{org}/members/{username}', {
    result: nothing,
    success: [204],
    summary: 'Ask whether somebody is a member; 404 means no',
  }),
} as const;
