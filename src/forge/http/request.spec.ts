import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BadArgument, buildUrl } from './request.js';
import { operationOf, type OperationName } from '../operations.js';

const build = (name: OperationName, args: Record<string, unknown>): string => buildUrl(operationOf(name), args);
const at = { owner: 'acme', repo: 'app' };

describe('forge/http/build-url', () => {
  it.each<[OperationName, Record<string, unknown>, string]>([
    ['getBranch', { ...at, branch: 'feature/a#b%' }, '/repos/acme/app/branches/feature%2Fa%23b%25'],
    ['getBranch', { ...at, branch: '日本 ü?' }, '/repos/acme/app/branches/%E6%97%A5%E6%9C%AC%20%C3%BC%3F'],
    ['getBranchProtection', { ...at, name: 'release/*' }, '/repos/acme/app/branch_protections/release%2F*'],
    [
      'getPackage',
      { owner: 'acme', type: 'npm', name: '@acme/tool', version: '1.0+b' },
      '/packages/acme/npm/%40acme%2Ftool/1.0%2Bb',
    ],
    ['updateRelease', { ...at, id: '9007199254740993', body: {} }, '/repos/acme/app/releases/9007199254740993'],
    ['updateRelease', { ...at, id: 9007199254740993n, body: {} }, '/repos/acme/app/releases/9007199254740993'],
    [
      'listJobsOfAttempt',
      { ...at, run: 12, attempt: '2', status: 'success', page: 3 },
      '/repos/acme/app/actions/runs/12/attempts/2/jobs?status=success&page=3',
    ],
    [
      'listOrgFeed',
      { org: 'acme', date: '2026-11-20', limit: 50 },
      '/orgs/acme/activities/feeds?date=2026-11-20&limit=50',
    ],
    ['getFiles', { ...at, ref: 'v1&x=2', body: { files: [] } }, '/repos/acme/app/file-contents?ref=v1%26x%3D2'],
    [
      'getFilesByQuery',
      { ...at, body: '{"files":["a b"]}' },
      '/repos/acme/app/file-contents?body=%7B%22files%22%3A%5B%22a+b%22%5D%7D',
    ],
    [
      'dispatchWorkflow',
      { ...at, workflow_id: 'ci.yml', return_run_details: true, body: {} },
      '/repos/acme/app/actions/workflows/ci.yml/dispatches?return_run_details=true',
    ],
  ])('%s %j => %s', (name, args, url) => {
    expect(build(name, args)).toBe(url);
  });

  it.each<[string, OperationName, Record<string, unknown>]>([
    ['an empty segment', 'getBranch', { ...at, branch: '' }],
    ['one dot', 'getBranch', { ...at, branch: '.' }],
    ['two dots', 'getBranch', { ...at, branch: '..' }],
    ['a missing parameter', 'getBranch', at],
    ['an unknown parameter', 'getRepo', { ...at, brnach: 'x' }],
    ['a word for a number', 'updateRelease', { ...at, id: 'latest', body: {} }],
    ['a fraction for a number', 'updateRelease', { ...at, id: 1.5, body: {} }],
    ['an object', 'getBranch', { ...at, branch: { a: 1 } }],
    ['half a character', 'getBranch', { ...at, branch: 'a\ud800' }],
    ['a zero byte', 'getBranch', { ...at, branch: 'a\0b' }],
    ['a missing query parameter that is required', 'getFilesByQuery', at],
  ])('refuses %s', (_, name, args) => {
    expect(() => build(name, args)).toThrow(BadArgument);
  });

  it('keeps any text within its own segment', () => {
    fc.assert(
      fc.property(
        fc
          .string({ unit: 'binary', minLength: 1 })
          .filter((text) => text !== '.' && text !== '..' && !text.includes('\0')),
        (branch) => {
          const url = new URL(`http://forge.test/api/v1${build('getBranch', { ...at, branch })}`);

          expect(url.pathname.split('/')).toHaveLength(8);
          expect(decodeURIComponent(url.pathname.split('/')[7] ?? '')).toBe(branch);
          expect(url.search + url.hash).toBe('');
        },
      ),
    );
  });
});
