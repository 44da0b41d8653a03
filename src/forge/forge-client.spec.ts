import { describe, expect, it } from '@jest/globals';
import { buildForgeClient, wrapForgeClient, type AnyForgeCall } from './forge-client.js';
import {
  isOperationName,
  operationNames,
  type OperationArgs,
  type OperationResult,
  type PagedOperationName,
} from './operations.js';

describe('forge/forge-client', () => {
  it('has one function for every operation of the table', () => {
    const client = buildForgeClient((name) => () => Promise.resolve(name));

    expect(Object.keys(client).sort()).toEqual([...operationNames].sort());
    expect(isOperationName('createLabel')).toBe(true);
    expect(isOperationName('toString')).toBe(false);
  });

  it('puts a layer around every call, which may answer in its place', async () => {
    const below: string[] = [];
    const client = buildForgeClient((name): AnyForgeCall => (args) => {
      below.push(name);
      return Promise.resolve({ name: args['repo'] });
    });

    const wrapped = wrapForgeClient(client, (name, next, args, options) =>
      name === 'getRepo' ? next(args, options) : Promise.resolve({ id: '0' }),
    );

    expect(await wrapped.getRepo({ owner: 'acme', repo: 'app' })).toEqual({ name: 'app' });
    expect(await wrapped.createLabel({ owner: 'acme', repo: 'app', body: { name: 'a', color: '#fff' } })).toEqual({
      id: '0',
    });
    expect(below).toEqual(['getRepo']);
  });

  it('types arguments and results from the table', () => {
    const right: OperationArgs<'createLabel'> = { owner: 'a', repo: 'b', body: { name: 'x', color: '#fff' } };
    // @ts-expect-error color is required
    const noColor: OperationArgs<'createLabel'> = { owner: 'a', repo: 'b', body: { name: 'x' } };
    // @ts-expect-error repo is required
    const noRepo: OperationArgs<'listLabels'> = { owner: 'a' };
    // @ts-expect-error page is a number
    const pageText: OperationArgs<'listMyJobs'> = { page: 'x' };
    // @ts-expect-error no such parameter
    const stray: OperationArgs<'getRepo'> = { owner: 'a', repo: 'b', nope: 1 };
    // @ts-expect-error not a list by pages
    const paged: PagedOperationName = 'createLabel';
    const id: OperationResult<'createLabel'>['id'] = '7';
    // @ts-expect-error ids are text
    const number: OperationResult<'createLabel'>['id'] = 7;

    expect([right, noColor, noRepo, pageText, stray, paged, id, number]).toHaveLength(8);
  });
});
