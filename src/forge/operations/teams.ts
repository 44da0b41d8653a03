import { z } from 'zod';
import { defineOperation } from '../define-operation.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { team, user } from '../../core/objects/accounts.js';
import { repository } from '../../core/objects/repositories.js';
import { paging } from './params.js';

const team_id = { id: 'int64' } as const;

export const teamOperations = {
  listOrgTeams: defineOperation({
    method: 'GET',
    path: '/orgs/{org}/teams',
    query: paging,
    result: listOf(team),
    success: [200],
    scope: 'organization',
    retry: 'read',
    paged: true,
    summary: 'List the teams of an organization; members only',
  }),
  listMyTeams: defineOperation({
    method: 'GET',
    path: '/user/teams',
    query: paging,
    result: listOf(team),
    success: [200],
    scope: 'user',
    retry: 'read',
    paged: true,
    summary: 'List the teams of the caller in every organization',
  }),
  createTeam: defineOperation({
    method: 'POST',
    path: '/orgs/{org}/teams',
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
    success: [201],
    scope: 'organization',
    retry: 'keyed',
    summary: 'Create a team with rights by unit',
  }),
  listTeamMembers: defineOperation({
    method: 'GET',
    path: '/teams/{id}/members',
    pathTypes: team_id,
    query: paging,
    result: listOf(user),
    success: [200],
    scope: 'organization',
    retry: 'read',
    paged: true,
    summary: 'List the members of a team',
  }),
  addTeamMember: defineOperation({
    method: 'PUT',
    path: '/teams/{id}/members/{username}',
    pathTypes: team_id,
    result: nothing,
    success: [204],
    scope: 'organization',
    retry: 'absolute',
    summary: 'Put somebody into a team',
  }),
  removeTeamMember: defineOperation({
    method: 'DELETE',
    path: '/teams/{id}/members/{username}',
    pathTypes: team_id,
    result: nothing,
    success: [204],
    scope: 'organization',
    retry: 'absolute',
    summary: 'Take somebody out of a team',
  }),
  listTeamRepos: defineOperation({
    method: 'GET',
    path: '/teams/{id}/repos',
    pathTypes: team_id,
    query: paging,
    result: listOf(repository),
    success: [200],
    scope: 'organization',
    retry: 'read',
    paged: true,
    summary: 'List the repositories that a team reaches',
  }),
} as const;
