import { operationsOf } from '../define-operation.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { packageFile, packageVersion } from '../../core/objects/publishing.js';
import { paging } from './params.js';

const { del, get, post } = operationsOf('package');

export const packageOperations = {
  getPackage: get('/packages/{owner}/{type}/{name}/{version}', {
    n: 9,
    result: packageVersion,
    summary: 'Get a package version',
  }),
  listPackages: get('/packages/{owner}', {
    query: {
      ...paging,
      type: { type: 'string', summary: 'package type' },
      q: { type: 'string', summary: 'part of the name' },
    },
    result: listOf(packageVersion),
    summary: "List an owner's package versions",
  }),
  listPackageFiles: get('/packages/{owner}/{type}/{name}/{version}/files', {
    result: listOf(packageFile),
    summary: 'List the files of a package version',
  }),
  deletePackage: del('/packages/{owner}/{type}/{name}/{version}', { summary: 'Delete a package version' }),
  linkPackage: post('/packages/{owner}/{type}/{name}/-/link/{repo_name}', {
    result: nothing,
    retry: 'keyed',
    summary: 'Link a package to a repository',
  }),
} as const;
