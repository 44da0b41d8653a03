import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf, nothing, secretInput } from '../../core/objects/base.js';
import { variable } from '../../core/objects/repositories.js';
import { paging } from './params.js';

const { del, get, post, put } = operationsOf('organization');

const created = z.strictObject({ value: secretInput, description: z.string().optional() });
const updated = z.strictObject({ value: secretInput, description: z.string().optional(), name: z.string().optional() });

export const variableOperations = {
  updateOrgVariable: put('/orgs/{org}/actions/variables/{variablename}', {
    n: 17,
    body: updated,
    success: [204, 200, 201],
    summary: 'Update a variable of an organization; an omitted description clears it',
  }),
  createUserVariable: post('/user/actions/variables/{variablename}', {
    n: 20,
    body: created,
    result: nothing,
    success: [201, 204, 200],
    scope: 'user',
    retry: 'keyed',
    summary: "Create a variable of the caller's own account",
  }),
  getOrgVariable: get('/orgs/{org}/actions/variables/{variablename}', {
    result: variable,
    summary: 'Get a variable of an organization; owners only',
  }),
  createOrgVariable: post('/orgs/{org}/actions/variables/{variablename}', {
    body: created,
    result: nothing,
    success: [201, 204],
    retry: 'keyed',
    summary: 'Create a variable of an organization',
  }),
  deleteOrgVariable: del('/orgs/{org}/actions/variables/{variablename}', {
    success: [204, 201],
    summary: 'Delete a variable of an organization',
  }),
  listOrgVariables: get('/orgs/{org}/actions/variables', {
    query: paging,
    result: listOf(variable),
    summary: 'List the variables of an organization',
  }),
  getUserVariable: get('/user/actions/variables/{variablename}', {
    result: variable,
    scope: 'user',
    summary: "Get a variable of the caller's own account",
  }),
  listUserVariables: get('/user/actions/variables', {
    query: paging,
    result: listOf(variable),
    scope: 'user',
    summary: "List the variables of the caller's own account",
  }),
  updateUserVariable: put('/user/actions/variables/{variablename}', {
    body: updated,
    success: [204, 201],
    scope: 'user',
    summary: "Update a variable of the caller's own account",
  }),
  deleteUserVariable: del('/user/actions/variables/{variablename}', {
    success: [204, 201],
    scope: 'user',
    summary: "Delete a variable of the caller's own account",
  }),
  listRepoVariables: get('/repos/{owner}/{repo}/actions/variables', {
    query: paging,
    result: listOf(variable),
    scope: 'repository',
    summary: 'List the variables of a repository',
  }),
  createRepoVariable: post('/repos/{owner}/{repo}/actions/variables/{variablename}', {
    body: created,
    result: nothing,
    success: [201, 204],
    scope: 'repository',
    retry: 'keyed',
    summary: 'Create a variable of a repository; owners only',
  }),
  getRepoVariable: get('/repos/{owner}/{repo}/actions/variables/{variablename}', {
    result: variable,
    scope: 'repository',
    summary: 'Get a variable of a repository',
  }),
  updateRepoVariable: put('/repos/{owner}/{repo}/actions/variables/{variablename}', {
    body: updated,
    success: [204, 201],
    scope: 'repository',
    summary: 'Update a variable of a repository',
  }),
  deleteRepoVariable: del('/repos/{owner}/{repo}/actions/variables/{variablename}', {
    success: [204, 201],
    scope: 'repository',
    summary: 'Delete a variable of a repository',
  }),
} as const;
