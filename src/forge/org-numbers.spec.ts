import { describe, expect, it } from '@jest/globals';
import { aConfig } from '../../test/builders/a-config.js';
import { InMemoryKnownOrgs } from '../../test/fakes/in-memory-known-orgs.js';
import { InMemoryKnownFacts } from '../../test/fakes/in-memory-known-facts.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import type { AppConfig } from '../config/app-config.js';
import type { AlertKey } from '../core/alerts.js';
import { callReason, ForgeError } from '../core/errors.js';
import { silentLogger } from '../core/logger.js';
import { buildForgeClient, type ForgeClient } from './forge-client.js';
import { isOrgStopped, OrgNumbers } from './org-numbers.js';
import type { OperationName } from './operations.js';

const refused = (status: number): ForgeError =>
  new ForgeError('refused', callReason('forge.refused', { operation: 'x', status }), { operation: 'x', status });
const missing = new ForgeError('not-offered', callReason('forge.not-offered', { operation: 'x' }), { operation: 'x' });
const away = new ForgeError('not-sent', callReason('forge.connection', { operation: 'x' }), { operation: 'x' });
const movedTo = (path: string): ForgeError =>
  new ForgeError('moved', callReason('forge.moved', { operation: 'x', note: path }), {
    operation: 'x',
    location: path,
  });

/** The forge as this bot sees it: organizations by name, and names that were left. */
interface Server {
  readonly orgs: Map<string, string>;
  readonly left: Map<string, string>;
  /** Thrown by `getOrg` in place of an answer. */
  failure: ForgeError | null;
  readonly calls: string[];
  readonly isCore: boolean;
  /** Owners of the repositories in rows of the feed. */
  feed: Array<{ login: string; id: string }>;
}

function aWorld(over: Partial<Server> = {}) {
  const server: Server = {
    orgs: new Map([['acme', '5']]),
    left: new Map(),
    failure: null,
    calls: [],
    isCore: false,
    feed: [],
    ...over,
  };
  const clock = new ManualClock();
  const kept = new InMemoryKnownFacts(clock);
  const known = new InMemoryKnownOrgs(kept);
  const config = aConfig({ orgs: [{ forge: 'main', name: 'acme' }] }) as {
    -readonly [Key in keyof AppConfig]: AppConfig[Key];
  };
  const raised = new Map<string, string>();
  const numbersOf = (): OrgNumbers =>
    new OrgNumbers(
      config,
      known,
      kept,
      clock,
      {
        raise: (key, { code }) => void raised.set(key, code),
        resolve: (key: AlertKey) => void raised.delete(key),
      },
      silentLogger,
    );
  const answers: Partial<Record<OperationName, (args: Record<string, unknown>) => unknown>> = {
    getOrg: ({ org }) => {
      if (server.isCore) throw missing;
      if (server.failure) throw server.failure;
      const name = String(org);
      const id = server.orgs.get(name);
      if (id) return { id, name, username: name };
      const now = server.left.get(name);
      throw now === undefined ? refused(404) : movedTo(`/api/v1/orgs/${now}`);
    },
    listMyOrgs: () => [...server.orgs].map(([name, id]) => ({ id, name, username: name })),
    listOrgFeed: ({ org }) => {
      const now = server.left.get(String(org));
      if (now !== undefined) throw movedTo(`/api/v1/orgs/${now}/activities/feeds`);
      return server.feed.map((owner, n) => ({ id: String(n), repo: { id: '1', owner } }));
    },
    getRepoById: () => ({ id: '7', name: 'app', owner: server.feed[0] }),
  };
  const client = buildForgeClient((name) => async (args) => {
    server.calls.push(name);
    return (answers[name] ?? (() => ({})))(args);
  });
  const unguarded = { client, offers: (name: OperationName) => !(server.isCore && name === 'getOrg') };
  const numbers = numbersOf();
  const guardOf = (one: OrgNumbers): ForgeClient => one.guard('main', 'acme', unguarded);
  return {
    server,
    clock,
    kept,
    known,
    config,
    raised,
    numbers,
    numbersOf,
    guardOf,
    unguarded,
    guarded: guardOf(numbers),
  };
}

const labels = { owner: 'acme', repo: 'app' };
const label = { ...labels, body: { name: 'bug', color: '#ff0000' } };
const stopped = async (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => false,
    (error: unknown) => isOrgStopped(error),
  );

describe('forge/org-numbers', () => {
  it('pins the number that the organization itself tells, before the first call', async () => {
    const { guarded, numbers, server } = aWorld();
    expect(await numbers.pinned('main', 'acme')).toBeNull();
    await guarded.listLabels(labels);
    expect(await numbers.pinned('main', 'acme')).toBe('5');
    expect(server.calls).toEqual(['getOrg', 'listLabels']);
  });

  it('asks again before a write after ten seconds, before a read after five minutes', async () => {
    const { guarded, clock, server } = aWorld();
    await guarded.listLabels(labels);
    clock.advance(11_000);
    server.calls.length = 0;
    await guarded.listLabels(labels);
    await guarded.createLabel(label);
    await guarded.createLabel(label);
    clock.advance(5 * 60_000);
    await guarded.listLabels(labels);
    expect(server.calls).toEqual(['listLabels', 'getOrg', 'createLabel', 'createLabel', 'getOrg', 'listLabels']);
  });

  it('takes what names the owner for a look of its own', async () => {
    const { guarded, clock, server } = aWorld({ feed: [{ login: 'Acme', id: '5' }] });
    await guarded.listOrgFeed({ org: 'acme' });
    clock.advance(6 * 60_000);
    server.calls.length = 0;
    await guarded.listOrgFeed({ org: 'acme' });
    await guarded.createLabel(label);
    expect(server.calls).toEqual(['listOrgFeed', 'createLabel']);
  });

  it('stops the organization when somebody else has its name, and says what ours is called now', async () => {
    const { guarded, clock, server, raised, numbers, unguarded } = aWorld();
    await guarded.listLabels(labels);
    server.orgs.clear();
    server.orgs.set('acme', '9').set('acme-old', '5');
    clock.advance(11_000);
    server.calls.length = 0;
    expect(await stopped(guarded.createLabel(label))).toBe(true);
    expect(await stopped(guarded.listLabels(labels))).toBe(true);
    expect(server.calls).not.toContain('createLabel');
    expect(server.calls).not.toContain('listLabels');
    expect(Object.fromEntries(raised)).toEqual({ 'org.other-number/main/acme': 'org.other-number' });
    expect(await numbers.look('main', 'acme', unguarded)).toEqual({
      is: 'other',
      number: '9',
      pinned: '5',
      calledNow: 'acme-old',
    });
  });

  it.each(['listOrgFeed', 'getRepoById'] as const)('gives no answer of %s that names another number', async (name) => {
    const { guarded, server, raised } = aWorld({ feed: [{ login: 'acme', id: '5' }] });
    await guarded[name]({ org: 'acme', id: '7' } as never);
    server.feed = [{ login: 'acme', id: '9' }];
    expect(await stopped(guarded[name]({ org: 'acme', id: '7' } as never))).toBe(true);
    expect([...raised.keys()]).toEqual(['org.other-number/main/acme']);
  });

  it('raises nothing of one that left the config while it was looked at', async () => {
    const { numbers, unguarded, config, server, raised, guarded } = aWorld();
    await guarded.listLabels(labels);
    server.orgs.set('acme', '9');
    const looking = numbers.look('main', 'acme', unguarded);
    config.orgs = [];
    expect((await looking).is).toBe('other');
    expect([...raised]).toEqual([]);
  });

  it('minds no other owner in an answer', async () => {
    const { guarded } = aWorld({ feed: [{ login: 'butler', id: '9' }] });
    expect(await guarded.listOrgFeed({ org: 'acme' })).toHaveLength(1);
  });

  it('works again when the number is right again, without anybody', async () => {
    const { guarded, clock, server, raised } = aWorld();
    await guarded.listLabels(labels);
    server.orgs.set('acme', '9');
    clock.advance(11_000);
    expect(await stopped(guarded.createLabel(label))).toBe(true);
    server.orgs.set('acme', '5');
    expect(await stopped(guarded.createLabel(label))).toBe(true);
    clock.advance(11_000);
    await guarded.createLabel(label);
    expect(raised.size).toBe(0);
  });

  it('keeps the number over restarts, and accepts another one by an order alone, in every process', async () => {
    const { guarded, clock, config, known, server, numbersOf, guardOf, unguarded, raised } = aWorld();
    await guarded.listLabels(labels);
    server.orgs.set('acme', '9');
    const later = numbersOf();
    expect(await stopped(guardOf(later).listLabels(labels))).toBe(true);
    clock.advance(11_000);
    expect(await stopped(guarded.createLabel(label))).toBe(true);
    expect(await later.accept('main', 'acme', unguarded)).toMatchObject({
      look: { is: 'other', pinned: '5', number: '9' },
      isAccepted: true,
    });
    // What was kept of the organization before stays its own: the new one goes by another key.
    expect(await known.all()).toEqual([
      { forge: 'main', key: 'acme', name: null, calledNow: null, number: '5' },
      { forge: 'main', key: 'acme@main', name: 'acme', calledNow: null, number: '9' },
    ]);
    raised.clear();
    config.orgs = config.orgs.map((org) => ({ ...org, key: 'acme@main' }));
    await later.guard('main', 'acme@main', unguarded).createLabel(label);
    clock.advance(11_000);
    await numbersOf().guard('main', 'acme@main', unguarded).createLabel(label);
    expect(raised.size).toBe(0);
    expect(await later.accept('main', 'acme@main', unguarded)).toMatchObject({
      look: { is: 'ours', number: '9' },
      isAccepted: false,
    });
  });

  describe('accepts only the number that was told', () => {
    const aStopped = async () => {
      const world = aWorld();
      await world.guarded.listLabels(labels);
      world.server.orgs.set('acme', '9');
      world.clock.advance(11_000);
      expect(await stopped(world.guarded.createLabel(label))).toBe(true);
      return world;
    };

    it('and not the one that took the name since, in no process', async () => {
      const { numbers, numbersOf, server, unguarded } = await aStopped();
      server.orgs.set('acme', '13');
      for (const one of [numbers, numbers, numbersOf()])
        expect(await one.accept('main', 'acme', unguarded)).toMatchObject({
          look: { is: 'other', pinned: '5', number: '13' },
          wanted: '9',
          isAccepted: false,
        });
      expect(await numbersOf().pinned('main', 'acme')).toBe('5');
      server.orgs.set('acme', '9');
      expect(await numbers.accept('main', 'acme', unguarded)).toMatchObject({ isAccepted: true });
      expect(await numbersOf().pinned('main', 'acme')).toBe('5');
      expect(await numbersOf().pinned('main', 'acme@main')).toBe('9');
    });

    it('or exactly the one that is asked for', async () => {
      const { numbers, numbersOf, server, unguarded } = await aStopped();
      expect(await numbers.accept('main', 'acme', unguarded, '13')).toMatchObject({ wanted: '13', isAccepted: false });
      server.orgs.set('acme', '13');
      expect(await numbers.accept('main', 'acme', unguarded, '13')).toMatchObject({ isAccepted: true });
      expect(await numbersOf().pinned('main', 'acme@main')).toBe('13');
    });

    it('and none that nobody was told of', async () => {
      const { guarded, numbers, server, unguarded } = aWorld();
      await guarded.listLabels(labels);
      server.orgs.set('acme', '9');
      expect(await numbers.accept('main', 'acme', unguarded)).toMatchObject({ wanted: null, isAccepted: false });
      expect(await numbers.accept('main', 'acme', unguarded)).toMatchObject({ wanted: '9', isAccepted: true });
    });

    it('and forgets it once ours is back, or is accepted', async () => {
      const { numbers, server, unguarded } = await aStopped();
      server.orgs.set('acme', '5');
      await numbers.look('main', 'acme', unguarded);
      server.orgs.set('acme', '13');
      await numbers.look('main', 'acme', unguarded);
      expect(await numbers.accept('main', 'acme', unguarded)).toMatchObject({ wanted: '13', isAccepted: true });
      server.orgs.set('acme', '21');
      expect(await numbers.accept('main', 'acme', unguarded)).toMatchObject({ wanted: null, isAccepted: false });
    });
  });

  it('tells a renamed organization by the redirect and its number', async () => {
    const { guarded, clock, server, raised, numbers, unguarded } = aWorld();
    await guarded.listLabels(labels);
    server.orgs.delete('acme');
    server.orgs.set('new', '5');
    server.left.set('acme', 'new');
    clock.advance(11_000);
    expect(await stopped(guarded.createLabel(label))).toBe(true);
    expect([...raised.keys()]).toEqual(['org.renamed/main/acme']);
    expect(await numbers.look('main', 'acme', unguarded)).toMatchObject({ is: 'renamed', calledNow: 'new' });
    expect(await numbers.accept('main', 'acme', unguarded)).toMatchObject({
      look: { is: 'renamed' },
      isAccepted: false,
    });
  });

  it('looks when the feed is at another name, however fresh the number is', async () => {
    const { guarded, clock, server, raised } = aWorld();
    await guarded.listOrgFeed({ org: 'acme' });
    clock.advance(11_000);
    server.orgs.delete('acme');
    server.orgs.set('new', '5');
    server.left.set('acme', 'new');
    expect(await stopped(guarded.listOrgFeed({ org: 'acme' }))).toBe(true);
    expect([...raised.keys()]).toEqual(['org.renamed/main/acme']);
  });

  it('does not take a redirect to another number for a rename', async () => {
    const { guarded, clock, server, raised } = aWorld();
    await guarded.listLabels(labels);
    server.orgs.delete('acme');
    server.orgs.set('evil', '9');
    server.left.set('acme', 'evil');
    clock.advance(11_000);
    expect(await stopped(guarded.createLabel(label))).toBe(true);
    expect([...raised.keys()]).toEqual(['org.other-number/main/acme']);
  });

  it('finds a renamed organization by its number where no redirect is left', async () => {
    const { guarded, clock, server, numbers, unguarded } = aWorld();
    await guarded.listLabels(labels);
    server.orgs.delete('acme');
    server.orgs.set('new', '5');
    clock.advance(11_000);
    expect(await stopped(guarded.createLabel(label))).toBe(true);
    expect(await numbers.look('main', 'acme', unguarded)).toMatchObject({ is: 'renamed', calledNow: 'new' });
  });

  it('where the forge has no route for an organization, the owner in rows of the feed counts', async () => {
    const { guarded, clock, server, numbers, raised } = aWorld({ isCore: true });
    await guarded.listOrgFeed({ org: 'acme' });
    expect(await numbers.pinned('main', 'acme')).toBeNull();
    server.feed = [{ login: 'acme', id: '5' }];
    await guarded.listOrgFeed({ org: 'acme' });
    expect(await numbers.pinned('main', 'acme')).toBe('5');
    server.feed = [{ login: 'acme', id: '9' }];
    clock.advance(11_000);
    expect(await stopped(guarded.createLabel(label))).toBe(true);
    expect([...raised.keys()]).toEqual(['org.other-number/main/acme']);
    expect(server.calls).not.toContain('getOrg');
  });

  it('pins nothing that an answer about a repository says', async () => {
    const { guarded, numbers } = aWorld({ failure: refused(403), feed: [{ login: 'acme', id: '9' }] });
    await guarded.getRepoById({ id: '7' });
    expect(await numbers.pinned('main', 'acme')).toBeNull();
  });

  it('writes nothing while the forge cannot be asked; a read tells by itself', async () => {
    const { guarded, clock, server } = aWorld();
    await guarded.listLabels(labels);
    server.failure = away;
    clock.advance(6 * 60_000);
    server.calls.length = 0;
    await guarded.listLabels(labels);
    await expect(guarded.createLabel(label)).rejects.toBe(away);
    expect(server.calls).toEqual(['getOrg', 'listLabels', 'getOrg']);
  });

  it('asks nothing for what names no organization', async () => {
    const { guarded, server } = aWorld();
    await guarded.getSelf({});
    expect(server.calls).toEqual(['getSelf']);
  });

  describe('an organization that the store knows goes on under its key', () => {
    /** `acme` (5) left the config, and `new` came; the forge says that `new` has the number 5. */
    const aRenamed = async () => {
      const world = aWorld();
      await world.known.keep({ forge: 'main', key: 'acme', name: 'acme', number: '5' });
      await world.known.keep({ forge: 'main', key: 'new', name: 'new' });
      world.config.orgs = world.config.orgs.map((org) => ({ ...org, key: 'new', name: 'new', label: 'new' }));
      world.server.orgs.clear();
      world.server.orgs.set('new', '5');
      let rekeyed = 0;
      world.numbers.onRekeyed(async () => (rekeyed += 1));
      return { ...world, rekeyed: () => rekeyed };
    };
    const KNOWN = [
      { forge: 'main', key: 'acme', name: 'new', calledNow: null, number: '5' },
      { forge: 'main', key: 'new', name: null, calledNow: null, number: null },
    ];

    it('when a name is new, and another one left', async () => {
      const { config, known, numbers, unguarded, rekeyed } = await aRenamed();
      expect(await numbers.recognize(config.orgs, () => unguarded)).toBe(true);
      expect([await known.all(), rekeyed()]).toEqual([KNOWN, 1]);
    });

    it('at the first contact, and nothing is done for it until then', async () => {
      const { known, numbers, server, unguarded, rekeyed } = await aRenamed();
      const guarded = numbers.guard('main', 'new', unguarded);
      expect(await stopped(guarded.createLabel({ ...label, owner: 'new' }))).toBe(true);
      expect(server.calls).toEqual(['getOrg']);
      expect([await known.all(), rekeyed()]).toEqual([KNOWN, 1]);
    });

    it('but not where the config has it under both names: that is told', async () => {
      const { config, numbers, known, unguarded, raised } = await aRenamed();
      config.orgs = [
        ...config.orgs,
        ...config.orgs.map((org) => ({ ...org, key: 'acme', name: 'acme', label: 'acme' })),
      ];
      expect(await stopped(numbers.guard('main', 'new', unguarded).createLabel(label))).toBe(true);
      expect([...raised.values()]).toEqual(['org.twice']);
      expect((await known.all()).map(({ name }) => name)).toEqual(['acme', 'new']);
    });

    it('and is not asked for where nothing left the config', async () => {
      const { config, numbers, server, unguarded } = aWorld();
      expect(await numbers.recognize(config.orgs, () => unguarded)).toBe(false);
      expect(server.calls).toEqual([]);
    });

    it('and its calls, which name it by its key, reach the forge by its name', async () => {
      const { config, numbers, server, unguarded } = await aRenamed();
      config.orgs = config.orgs.map((org) => ({ ...org, key: 'acme' }));
      const args: unknown[] = [];
      const client = buildForgeClient((name) => async (given) => {
        args.push([name, given]);
        return (unguarded.client[name] as (args: unknown) => unknown)(given);
      });
      await numbers.guard('main', 'acme', { ...unguarded, client }).listOrgFeed({ org: 'acme' });
      expect(args).toEqual([['listOrgFeed', { org: 'new' }]]);
      expect(server.calls).toEqual(['listOrgFeed']);
    });
  });
});
