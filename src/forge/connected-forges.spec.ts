import { describe, expect, it } from '@jest/globals';
import { callReason, ForgeError, type ForgeErrorKind } from '../core/errors.js';
import { silentLogger } from '../core/logger.js';
import { textOf } from '../core/reason.js';
import { ConnectedForges, connectForge } from './connected-forges.js';
import { buildForgeClient, wrapForgeClient, type ForgeClient } from './forge-client.js';
import { operationOf, type OperationName } from './operations.js';
import type { OrgNumbers } from './org-numbers.js';

const failure = (operation: string, kind: ForgeErrorKind, status?: number): ForgeError =>
  new ForgeError(kind, operation, { operation, status });

/** A client that answers as told and else has nothing but the 20 operations. */
function coreForge(answers: Partial<Record<OperationName, unknown>> = {}): {
  client: ForgeClient;
  asked: OperationName[];
} {
  const asked: OperationName[] = [];
  const client = buildForgeClient((name) => () => {
    asked.push(name);
    const told = answers[name];
    if (told instanceof Error) return Promise.reject(told);
    if (told !== undefined) return Promise.resolve(told);
    return Promise.reject(failure(name, operationOf(name).n === undefined ? 'not-offered' : 'refused', 404));
  });
  return { client, asked };
}

/** What names no organization passes no guard. */
const UNGUARDED: Pick<OrgNumbers, 'guard' | 'nameOf'> = {
  guard: (_forge, _org, { client }) => client,
  nameOf: (org) => org,
};

describe('forge/capabilities', () => {
  it.each([
    ['1.27.0', 'gitea'],
    ['15.0.3+gitea-1.22.0', 'forgejo'],
  ])('tells the product of version %s', async (version, product) => {
    const { client } = coreForge({ getVersion: { version }, getSelf: { id: '7', login: 'bot' } });

    const { capabilities } = await connectForge(client);

    expect(capabilities).toMatchObject({ product, version, self: { id: '7', login: 'bot' } });
  });

  it('works with a forge that has only the 20 operations', async () => {
    const { client } = coreForge();

    const { capabilities } = await connectForge(client, { username: 'bot' });

    expect(capabilities).toMatchObject({ product: 'unknown', version: null, self: { id: null, login: 'bot' } });
    expect(capabilities.offers('getSelf')).toBe(false);
    expect(capabilities.offers('createLabel')).toBe(true);
  });

  it('knows nobody when neither the forge nor the config tells', async () => {
    expect((await connectForge(coreForge().client)).capabilities.self).toBeNull();
    const mayNot = coreForge({ getSelf: failure('getSelf', 'refused', 403) });
    expect((await connectForge(mayNot.client, { username: 'bot' })).capabilities.self).toEqual({
      id: null,
      login: 'bot',
    });
  });

  it.each<[string, ForgeErrorKind, number | undefined]>([
    ['does not accept the credentials', 'refused', 401],
    ['cannot be reached', 'not-sent', undefined],
    ['answers nonsense', 'unknown', 200],
  ])('fails when the forge %s', async (_, kind, status) => {
    const { client } = coreForge({ getSelf: failure('getSelf', kind, status) });

    await expect(connectForge(client)).rejects.toMatchObject({ kind });
  });

  it('asks about the reads that are wanted, and about no write', async () => {
    const { client, asked } = coreForge({ getBranch: failure('getBranch', 'refused', 404), listOrgLabels: [] });

    const { capabilities } = await connectForge(client, {
      username: 'bot',
      probe: ['listLabels', 'listOrgLabels', 'getBranch', 'createLabel', 'getFiles', 'getIssue'],
    });

    expect(asked).not.toContain('createLabel');
    expect(asked).not.toContain('getFiles');
    expect(
      ['listLabels', 'listOrgLabels', 'getBranch', 'getIssue', 'createLabel'].map((name) =>
        capabilities.offers(name as OperationName),
      ),
    ).toEqual([false, true, true, false, true]);
  });

  it.each([
    ['ahead', 90, 90_500],
    ['behind', -90, -89_500],
    ['not told', null, null],
  ])('tells how far the clock of the forge is ahead of ours: %s', async (_what, aheadS, expected) => {
    const now = new Date('2026-11-20T12:00:00.000Z');
    const clock = { now: () => now, monotonicMs: () => 0 };
    const client = wrapForgeClient(
      coreForge({ getVersion: { version: '1.27.0' } }).client,
      async (_name, next, args, options) => {
        const answer = await next(args, options);
        options?.onReply?.({
          status: 200,
          totalCount: null,
          listed: null,
          date: aheadS === null ? null : new Date(now.getTime() + aheadS * 1000),
        });
        return answer;
      },
    );

    const { capabilities } = await connectForge(client, { username: 'bot', clock });

    expect(capabilities.clockAheadMs).toBe(expected);
  });

  it.each([
    [true, true],
    [false, false],
    [undefined, null],
  ])('tells whether the account administers the site: %s', async (said, told) => {
    const { client } = coreForge({ getSelf: { id: '7', login: 'bot', is_admin: said } });

    expect((await connectForge(client)).capabilities.isSiteAdmin).toBe(told);
  });

  it('learns from every call that the connected client makes', async () => {
    const { client, capabilities } = await connectForge(coreForge().client, { username: 'bot' });
    expect(capabilities.offers('listLabels')).toBe(true);

    await expect(client.listLabels({ owner: 'acme', repo: 'app' })).rejects.toMatchObject({ kind: 'not-offered' });

    expect(capabilities.offers('listLabels')).toBe(false);
  });

  it('does not learn from a proxy that answers in the place of a forge that is away', async () => {
    const answers: Partial<Record<OperationName, unknown>> = {
      getVersion: { version: '1.27.0' },
      getSelf: { id: '7', login: 'bot' },
    };
    const { client, capabilities } = await connectForge(coreForge(answers).client);
    answers.getVersion = failure('getVersion', 'not-offered', 404);
    answers.createLabel = failure('createLabel', 'not-offered', 404);

    const call = client.createLabel({ owner: 'acme', repo: 'app', body: { name: 'bug', color: '#f00' } });

    await expect(call).rejects.toMatchObject({ kind: 'not-sent', facts: { status: 404, detail: 'away' } });
    expect(capabilities.offers('createLabel')).toBe(true);
  });

  it('is told of what is missing', async () => {
    const { capabilities } = await connectForge(coreForge().client, { username: 'bot' });

    capabilities.noteMissing('addIssueAssignees');

    expect(capabilities.offers('addIssueAssignees')).toBe(false);
  });
});

describe('forge/wrong-answers', () => {
  const SHAPE = new ForgeError(
    'unknown',
    callReason('forge.shape', { operation: 'listLabels', status: 200, note: '3.name: expected string' }),
    { operation: 'listLabels', status: 200, detail: 'shape' },
  );

  it('raises an alert with operation and place at the first such answer, and ends it at the first that can be read', async () => {
    const answers: Partial<Record<OperationName, unknown>> = { listLabels: SHAPE };
    const raised: string[] = [];
    const ended: string[] = [];
    const forges = new ConnectedForges(
      { all: [{ id: 'main', org: null, username: 'bot', client: coreForge(answers).client }] },
      UNGUARDED,
      silentLogger,
      {
        raise: (key, reason, facts) => void raised.push(`${key}: ${textOf(reason)} (${String(facts?.['operation'])})`),
        resolve: (key) => void ended.push(key),
      },
    );
    const labels = () => forges.get('main', null)?.client.listLabels({ owner: 'acme', repo: 'app' });

    await expect(labels()).rejects.toBe(SHAPE);
    expect(raised).toEqual([
      'forge.wrong-shape/main/listLabels: forge main gave an answer that the bot cannot read, and what needs it waits: listLabels: status 200, but the answer has the wrong shape (3.name: expected string) (listLabels)',
    ]);

    answers.listLabels = [];
    await labels();
    await labels();
    expect(ended).toEqual(['forge.wrong-shape/main/listLabels']);
  });

  it.each([
    [
      'a page with 502',
      new ForgeError('unknown', 'x', { operation: 'listLabels', status: 502, detail: 'not-json' }),
      0,
    ],
    ['a refusal', failure('listLabels', 'refused', 404), 0],
    [
      'a page in place of a list',
      new ForgeError('unknown', callReason('forge.not-json', { operation: 'listLabels', status: 200 }), {
        operation: 'listLabels',
        status: 200,
        detail: 'not-json',
      }),
      1,
    ],
  ])('%s => %#', async (_, error, count) => {
    let raised = 0;
    const forges = new ConnectedForges(
      { all: [{ id: 'main', org: null, username: 'bot', client: coreForge({ listLabels: error }).client }] },
      UNGUARDED,
      silentLogger,
      { raise: () => void (raised += 1), resolve: () => undefined },
    );

    await expect(forges.get('main', null)?.client.listLabels({ owner: 'acme', repo: 'app' })).rejects.toBe(error);

    expect(raised).toBe(count);
  });
});

describe('forge/connected-forges: a reload of the config', () => {
  const one = (org: string | null, answers: Partial<Record<OperationName, unknown>> = {}) => {
    const { client, asked } = coreForge({
      getVersion: { version: '1.27.0' },
      getSelf: { id: '7', login: `bot-${org}` },
      ...answers,
    });
    return { forge: { id: 'main', org, username: null, client }, asked };
  };

  it('connects new credentials, forgets those that went, and leaves the others as they are', async () => {
    const [shared, acme, beta] = [one(null), one('acme'), one('beta')];
    const toConnect = { all: [shared.forge, acme.forge] };
    const connected: string[] = [];
    const forges = new ConnectedForges(toConnect, UNGUARDED, silentLogger, {
      raise: () => undefined,
      resolve: () => undefined,
    });
    forges.onConnected((credential) => void connected.push(credential));
    await forges.start();
    const before = forges.get('main', null)?.client;
    toConnect.all = [shared.forge, beta.forge];

    await forges.followConfig();

    expect(connected).toEqual(['main', 'main/acme', 'main/beta']);
    expect(forges.get('main', null)?.client).toBe(before);
    expect(forges.get('main', 'beta')?.capabilities?.self?.login).toBe('bot-beta');
    // It has the credentials of the forge then.
    expect(forges.get('main', 'acme')?.credential).toBe('main');
  });

  it('never answers with what it learned under credentials that were replaced', async () => {
    const [old, away] = [one('acme'), one('acme', { getSelf: failure('getSelf', 'unknown') })];
    const toConnect = { all: [old.forge] };
    const resolved: string[] = [];
    const forges = new ConnectedForges(toConnect, UNGUARDED, silentLogger, {
      raise: () => undefined,
      resolve: (key) => void resolved.push(key),
    });
    await forges.start();
    toConnect.all = [away.forge];

    await forges.followConfig();
    forges.stop(0);

    expect(forges.get('main', 'acme')?.capabilities).toBeNull();
    expect(resolved).toContain('forge.unreachable/main/acme');
  });
});
