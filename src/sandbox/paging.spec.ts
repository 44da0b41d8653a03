import { describe, expect, it } from '@jest/globals';
import type { Call } from './handler.js';
import type { ProfileName } from './profiles.js';
import { profileOf } from './profiles.js';
import { listed, readPage } from './paging.js';

function aCall(query: string, operation = 'listThings', profile: ProfileName = 'gitea'): Call {
  return {
    operation,
    profile: profileOf(profile),
    query: new URLSearchParams(query),
    rawPath: '/api/v1/things',
    view: { baseUrl: 'http://forge' },
  } as unknown as Call;
}

const hundred = Array.from({ length: 100 }, (_, i) => i + 1);

describe('sandbox/paging', () => {
  it.each([
    ['', 1, 30],
    ['page=0&limit=1', 1, 1],
    ['page=-1', 1, 30],
    ['limit=-1', 1, 30],
    ['limit=0', 1, 30],
    ['limit=x&page=y', 1, 30],
    ['limit=1000&page=3', 3, 50],
  ])('%j => page %i of %i', (query, page, limit) => {
    expect(readPage(aCall(query))).toEqual({ page, limit });
  });

  it('counts all and shows one page', () => {
    const answer = listed(aCall('page=2&limit=40'), hundred, (n) => n);

    expect(answer.headers).toEqual({ 'x-total-count': '100' });
    expect(answer.json).toEqual(hundred.slice(40, 80));
  });

  it('answers an empty page past the end', () => {
    expect(listed(aCall('page=9'), hundred, (n) => n)).toMatchObject({
      status: 200,
      json: [],
      headers: { 'x-total-count': '100' },
    });
  });

  it.each([
    ['limit=40', 'next 2, last 3'],
    ['page=2&limit=40', 'next 3, last 3, first 1, prev 1'],
    ['page=3&limit=40', 'first 1, prev 2'],
    ['page=9&limit=40', 'first 1, prev 3'],
    ['limit=50&page=1&q=a', 'next 2, last 2'],
  ])('links of %j => %s', (query, expected) => {
    const link = listed(aCall(query), hundred, (n) => n, { link: true }).headers?.link ?? '';

    expect(
      [...link.matchAll(/page=(\d+)[^;]*; rel="(\w+)"/g)].map(([, page, rel]) => `${rel} ${page}`).join(', '),
    ).toBe(expected);
  });

  it('has no link when everything fits, and keeps the rest of the query', () => {
    expect(listed(aCall(''), [1], (n) => n, { link: true }).headers).toEqual({ 'x-total-count': '1' });
    expect(listed(aCall('limit=1&q=a'), [1, 2], (n) => n, { link: true }).headers?.link).toContain(
      '<http://forge/api/v1/things?limit=1&page=2&q=a>; rel="next"',
    );
  });

  it('leaves some lists of older servers whole until a page is asked for', () => {
    const read = (query: string): number =>
      (listed(aCall(query, 'listLabels', 'gitea@1.24'), hundred, (n) => n).json as number[]).length;

    expect(read('limit=3')).toBe(100);
    expect(read('limit=3&page=1')).toBe(3);
    expect(listed(aCall('limit=3', 'listOrgRepos', 'gitea@1.24'), hundred, (n) => n).json).toHaveLength(3);
  });

  it('sends neither total nor links where the server has none', () => {
    const headersOf = (operation: string): unknown =>
      listed(aCall('limit=1&page=2', operation, 'forgejo'), hundred, (n) => n, { link: true }).headers;

    expect(headersOf('listActionTasks')).toEqual({});
    expect(headersOf('listOrgHooks')).toEqual({ 'x-total-count': '100' });
    expect(headersOf('listBranches')).toMatchObject({ link: expect.any(String) });
  });
});
