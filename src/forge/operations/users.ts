import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { accessToken, oauthApplication, tokenInUse, user, userSettings } from '../../core/objects/accounts.js';
import { listOf, nothing, secretInput } from '../../core/objects/base.js';
import { paging } from './params.js';

const { del, get, patch, post } = operationsOf('user');

const text = z.string().optional();

const oauthApplicationInput = z.strictObject({
  name: z.string(),
  redirect_uris: z.array(z.string()),
  confidential_client: z.boolean().optional(),
  skip_secondary_authorization: z.boolean().optional(),
});

export const userOperations = {
  updateUserSettings: patch('/user/settings', {
    n: 6,
    body: z.strictObject({
      description: text,
      diff_view_style: text,
      full_name: text,
      hide_activity: z.boolean().optional(),
      hide_email: z.boolean().optional(),
      language: text,
      location: text,
      theme: text,
      website: text,
    }),
    result: userSettings,
    summary: "Change given settings of the caller's own account",
  }),
  getUserSettings: get('/user/settings', {
    result: userSettings,
    summary: "Get the settings of the caller's own account",
  }),
  getSelf: get('/user', {
    query: { sudo: { type: 'string', summary: 'act as this user; site administrators only' } },
    result: user,
    summary: "Get the caller's own account",
  }),
  listTokens: get('/users/{username}/tokens', {
    n: 16,
    query: paging,
    result: listOf(accessToken),
    basicOnly: true,
    summary: "List the caller's access tokens; Gitea wants the Basic scheme",
  }),
  createToken: post('/users/{username}/tokens', {
    body: z.strictObject({ name: z.string(), scopes: z.array(z.string()).optional() }),
    result: accessToken,
    basicOnly: true,
    retry: 'keyed',
    summary: 'Create an access token; the only answer that carries its value',
  }),
  deleteToken: del('/users/{username}/tokens/{token}', {
    basicOnly: true,
    summary: 'Delete an access token by name or number',
  }),
  listOAuthApplications: get('/user/applications/oauth2', {
    query: paging,
    result: listOf(oauthApplication),
    summary: "List the caller's OAuth2 applications, newest first",
  }),
  createOAuthApplication: post('/user/applications/oauth2', {
    body: oauthApplicationInput,
    result: oauthApplication,
    retry: 'keyless',
    summary: 'Create an OAuth2 application; the same name again makes another one',
  }),
  getOAuthApplication: get('/user/applications/oauth2/{id}', {
    result: oauthApplication,
    summary: 'Get an OAuth2 application, without its secret',
  }),
  updateOAuthApplication: patch('/user/applications/oauth2/{id}', {
    body: oauthApplicationInput,
    result: oauthApplication,
    retry: 'keyless',
    summary: 'Edit an OAuth2 application; any edit makes a new secret and ends the old one',
  }),
  deleteOAuthApplication: del('/user/applications/oauth2/{id}', {
    summary: 'Delete an OAuth2 application; tokens of it end',
  }),
  adminRenameUser: post('/admin/users/{username}/rename', {
    body: z.strictObject({ new_username: z.string() }),
    result: nothing,
    success: [204],
    scope: 'admin',
    retry: 'keyed',
    summary: 'Rename a user',
  }),
  getOwnToken: get('/token', { result: tokenInUse, scope: 'none', summary: 'Get what the token in use may do' }),
  getUser: get('/users/{username}', { result: user, summary: 'Get an account by name' }),
  adminCreateUser: post('/admin/users', {
    body: z.strictObject({
      username: z.string(),
      email: z.string(),
      password: secretInput.optional(),
      full_name: z.string().optional(),
      must_change_password: z.boolean().optional(),
    }),
    result: user,
    scope: 'admin',
    retry: 'keyed',
    summary: 'Create an account',
  }),
  adminEditUser: patch('/admin/users/{username}', {
    body: z.strictObject({
      source_id: z.number(),
      login_name: z.string(),
      admin: z.boolean().optional(),
      password: secretInput.optional(),
      prohibit_login: z.boolean().optional(),
    }),
    result: user,
    scope: 'admin',
    summary: 'Edit an account; source and sign-in name have to be told again',
  }),
  adminDeleteUser: del('/admin/users/{username}', {
    query: { purge: { type: 'boolean', summary: 'delete what the account owns too' } },
    scope: 'admin',
    summary: 'Delete an account; with purge also what it owns',
  }),
} as const;
