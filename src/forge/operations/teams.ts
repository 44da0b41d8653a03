import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf } from '../../core/objects/base.js';
import { team, user } from '../../core/objects/accounts.js';
import { repository } from '../../core/objects/repositories.js';
import { paging } from './params.js';

const { del, get, post, put } = operationsOf('organization');

export const teamOperations = {
  listOrgTeams: get('/orgs/{org}/teams', {
    query: paging,
    result: listOf(team),
    summary: 'List the teams of an organization; members only',
  }),
  listMyTeams: get('/user/teams', {
    query: paging,
    result: listOf(team),
    scope: 'user',
    summary: 'List the teams of the caller in every organization',
  }),
  createTeam: post('/orgs/{org}/teams', {
    body: z.strictObject({
      name: z.string(),
      description: z.string().optional(),
      permission: z.enum(['read', 'write', 'admin']).optional(),
      units: z.array(z.string()).optional(),
      units_map: z.record(z.string(), z.string()).optional(),
      includes_all_repositories: z.boolean().optional(),
      can_create_org_repo: z.boolean().optional(),
    }),
    result: team,
    retry: 'keyed',
    summary: 'Create a team with rights by unit',
  }),
  listTeamMembers: get('/teams/{id}/members', {
    query: paging,
    result: listOf(user),
    summary: 'List the members of a team',
  }),
  addTeamMember: put('/teams/{id}/members/{username}', { summary: 'Put somebody into a team' }),
  removeTeamMember: del('/teams/{id}/members/{username}', { summary: 'Take somebody out of a team' }),
  listTeamRepos: get('/teams/{id}/repos', {
    query: paging,
    result: listOf(repository),
    summary: 'List the repositories that a team reaches',
  }),
} as const;
