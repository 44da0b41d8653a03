import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  buildForgeClient,
  wrapForgeClient,
  type AnyForgeCall,
  type ForgeClient,
  listAll,
  listPages,
} from './forge-client.js';
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

    expect(operationNames.filter((name) => typeof client[name] !== 'function')).toEqual([]);
    expect(isOperationName('createLabel')).toBe(true);
    expect(isOperationName('toString')).toBe(false);
  });

  it('builds a call once, when it is asked for', () => {
    const built: string[] = [];
    const client = buildForgeClient((name) => {
      built.push(name);
      return () => Promise.resolve(name);
    });

    expect(client.getRepo).toBe(client.getRepo);
    expect(built).toEqual(['getRepo']);
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

interface Told {
  page: number;
  limit: number;
}

/** A forge with one list: `cap` is its largest page, `hidden` are cut out after the page was cut. */
function forgeWith(options: {
  items: () => readonly (string | null)[];
  cap?: number;
  hidden?: readonly string[];
  total?: 'list' | 'page' | 'none';
  onCall?: (call: number) => void;
}): { client: ForgeClient; calls: Told[] } {
  const { items, cap = 50, hidden = [], total = 'list', onCall } = options;
  const calls: Told[] = [];
  const client = buildForgeClient(() => async (args, callOptions) => {
    const { page, limit } = args as unknown as Told;
    calls.push({ page, limit });
    onCall?.(calls.length);
    const size = Math.min(limit, cap);
    const all = items();
    const cut = all.slice((page - 1) * size, page * size).filter((name) => name === null || !hidden.includes(name));
    callOptions?.onReply?.({
      status: 200,
      totalCount: total === 'none' ? null : total === 'page' ? cut.length : all.length,
      listed: cut.length,
    });
    return await Promise.resolve(cut.filter((name) => name !== null).map((name) => ({ id: name, name })));
  });
  return { client, calls };
}

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `n${at}`);
const at = { owner: 'acme', repo: 'app' };

describe('forge/list-all', () => {
  it('reads one page when all came with it', async () => {
    const { client, calls } = forgeWith({ items: () => names(7) });

    expect(await listAll(client, 'listLabels', at)).toHaveLength(7);
    expect(calls).toEqual([{ page: 1, limit: 50 }]);
  });

  it.each([
    ['a server that cuts its pages shorter than asked', { cap: 10 }],
    ['a list without a total', { total: 'none' as const }],
    ['both', { cap: 10, total: 'none' as const }],
  ])('reads all of %s', async (_, more) => {
    const { client } = forgeWith({ items: () => names(123), ...more });

    expect((await listAll(client, 'listLabels', at)).map((label) => label.name)).toEqual(names(123));
  });

  it('goes on after short and empty pages of a list that is filtered after the page was cut', async () => {
    const all = names(160);
    const hidden = [...all.slice(3, 45), ...all.slice(50, 100)];
    const { client } = forgeWith({ items: () => all, hidden });

    expect(await listAll(client, 'listLabels', at)).toHaveLength(160 - hidden.length);
  });

  it('does not believe a total that is only the length of the page', async () => {
    const { client } = forgeWith({ items: () => names(95), total: 'page' });

    expect(await listAll(client, 'listTimeline', { ...at, index: 1 })).toHaveLength(95);
  });

  it('gives an item once that moved to the next page while the list was read', async () => {
    let items = names(100);
    const { client } = forgeWith({
      items: () => items,
      cap: 40,
      onCall: (call) => call === 2 && (items = ['new', ...items]),
    });

    const read = await listAll(client, 'listLabels', at);

    expect(new Set(read.map((label) => label.id)).size).toBe(read.length);
    expect(read.map((label) => label.name)).toEqual(expect.arrayContaining(names(100)));
  });

  it('reads again when the list got shorter, so that nothing slips over a page boundary', async () => {
    let items = names(100);
    const { client } = forgeWith({
      items: () => items,
      cap: 40,
      onCall: (call) => call === 2 && (items = items.slice(1)),
    });

    const read = await listAll(client, 'listLabels', at);

    expect(read.map((label) => label.name)).toEqual(names(100).slice(1));
  });

  it('ends at a server that gives the same page for ever', async () => {
    const client = buildForgeClient(() => () => Promise.resolve([{ id: '1' }, { id: '2' }]));

    expect(await listAll(client, 'listLabels', at)).toEqual([{ id: '1' }, { id: '2' }]);
  });

  it('says so when there are more pages than allowed', async () => {
    const { client } = forgeWith({ items: () => names(100), cap: 10 });

    await expect(listAll(client, 'listLabels', at, { maxPages: 9 })).rejects.toMatchObject({
      kind: 'unknown',
      facts: { detail: 'pages' },
    });
  });

  it('gives up on a total that no page ever reaches', async () => {
    let calls = 0;
    const client = buildForgeClient(() => (_, options) => {
      calls += 1;
      options?.onReply?.({ status: 200, totalCount: 1_000_000, listed: 0 });
      return Promise.resolve([]);
    });

    expect(await listAll(client, 'listLabels', at)).toEqual([]);
    expect(calls).toBeLessThan(50);
  });

  it('reads the list inside an object, and hands out page by page', async () => {
    const client = buildForgeClient(() => (args, options) => {
      const page = args['page'] as number;
      const jobs = page === 1 ? [{ id: '1' }, { id: '2' }] : [{ id: '3' }];
      options?.onReply?.({ status: 200, totalCount: 3, listed: jobs.length });
      return Promise.resolve({ jobs, total_count: 3 });
    });

    const pages = [];
    for await (const page of listPages(client, 'listMyJobs', { status: 'success' }, { limit: 2 }))
      pages.push(page.items.map((job) => job.id));

    expect(pages).toEqual([['1', '2'], ['3']]);
  });

  it('finds every visible item, whatever the page sizes, filters and totals', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 130 }),
        fc.integer({ min: 10, max: 60 }),
        fc.array(fc.nat(130), { maxLength: 20 }),
        fc.constantFrom('list' as const, 'none' as const),
        async (count, cap, hiddenAt, total) => {
          const hidden = total === 'none' ? [] : hiddenAt.map((number) => `n${number}`);
          const { client } = forgeWith({ items: () => names(count), cap, hidden, total });

          const read = await listAll(client, 'listLabels', at);

          expect(read.map((label) => label.name)).toEqual(names(count).filter((name) => !hidden.includes(name)));
        },
      ),
    );
  });
});
