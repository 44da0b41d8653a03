import { defineOperation } from '../define-operation.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { packageFile, packageVersion } from '../../core/objects/publishing.js';
import { paging } from './params.js';

export const packageOperations = {
  getPackage: defineOperation({
    n: 9,
    method: 'GET',
    path: '/packages/{owner}/{type}/{name}/{version}',
    result: packageVersion,
    success: [200],
    scope: 'package',
    retry: 'read',
    summary: 'Get a package version',
  }),
  listPackages: defineOperation({
    method: 'GET',
    path: '/packages/{owner}',
    query: {
      ...paging,
      type: { type: 'string', summary: 'package type' },
      q: { type: 'string', summary: 'part of the name' },
    },
    result: listOf(packageVersion),
    success: [200],
    scope: 'package',
    retry: 'read',
    paged: true,
    summary: "List an owner's package versions",
  }),
  listPackageFiles: defineOperation({
    method: 'GET',
    path: '/packages/{owner}/{type}/{name}/{version}/files',
    result: listOf(packageFile),
    success: [200],
    scope: 'package',
    retry: 'read',
    summary: 'List the files of a package version',
  }),
  deletePackage: defineOperation({
    method: 'DELETE',
    path: '/packages/{owner}/{type}/{name}/{version}',
    result: nothing,
    success: [204],
    scope: 'package',
    retry: 'absolute',
    summary: 'Delete a package version',
  }),
  linkPackage: defineOperation({
    method: 'POST',
    path: '/packages/{owner}/{type}/{name}/-/link/{repo_name}',
    result: nothing,
    success: [201],
    scope: 'package',
    retry: 'keyed',
    summary: 'Link a package to a repository',
  }),
} as const;
