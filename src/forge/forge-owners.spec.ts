import { aConfig } from '../../test/builders/a-config.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeForge } from '../../test/fakes/fake-forge.js';
import { InMemorySeenRepositories } from '../../test/fakes/in-memory-seen-repositories.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { WRITE_TRUST_MS } from '../core/repository-owner.js';
import { ForgeOwners } from './forge-owners.js';

const ASKED = { forge: 'main', org: 'acme', id: '7', name: 'told' };
const repo = (id: string, name: string, owner = 'acme'): object => ({
  repo: { id, name, full_name: `${owner}/${name}`, owner: { login: owner } },
});

describe('forge/forge-owners', () => {
  let clock: ManualClock;
  let forge: FakeForge;
  let seen: InMemorySeenRepositories;
  let owners: ForgeOwners;
  let named: string[];

  beforeEach(() => start('gitea'));

  function start(profile: 'gitea' | 'core'): void {
    clock = new ManualClock();
    forge = new FakeForge(profile);
    forge.answer('listOrgFeed', async () => []);
    seen = new InMemorySeenRepositories();
    named = [];
    owners = again();
  }

  /** As after a restart: what is in memory is lost. */
  function again(): ForgeOwners {
    return new ForgeOwners(
      { get: (id) => (id === 'main' ? forge : null) },
      seen,
      aConfig({ orgs: [{ forge: 'main', name: 'acme', repositories: named }] }),
      clock,
    );
  }

  const calls = (name: string): number => forge.calls.filter((call) => call === name).length;

  it('answers with the name that the forge gives a number now, never with the one that was told', async () => {
    forge.addRepository('app', { private: true });

    expect(await owners.of(ASKED)).toEqual({
      is: 'ours',
      repository: { id: '7', owner: 'acme', name: 'app', private: true, archived: false },
    });
    expect(await owners.of({ ...ASKED, org: 'ACME' })).toMatchObject({ is: 'ours' });
  });

  it.each([
    ['of another owner', { full_name: 'victim/vault', owner: { login: 'victim' } }, 'repository_elsewhere'],
    ['whose owner is not told', { full_name: null, owner: null }, 'repository_unconfirmed'],
    ['whose name is not told', { full_name: null, name: null }, 'repository_unconfirmed'],
    ['answered under another number', { id: '7', full_name: 'acme/app' }, 'repository_unconfirmed'],
  ] as const)('refuses a number %s', async (what, over, code) => {
    forge.addRepository('app');
    const told = {
      ...(await forge.client.getRepoById({ id: '7' })),
      ...over,
      ...(what.includes('another number') ? { id: '8' } : {}),
    };
    forge.answer('getRepoById', async () => told);

    expect(await owners.of(ASKED)).toEqual({ is: 'refused', code });
  });

  it('refuses what is gone or invisible, asks about it ever more rarely, and at once after an event that may have changed it', async () => {
    expect(await owners.of(ASKED)).toEqual({ is: 'refused', code: 'repository_gone' });
    await owners.of(ASKED);
    expect(calls('getRepoById')).toBe(1);
    clock.advance(60_000);
    await owners.of(ASKED);
    clock.advance(60_000);
    await owners.of(ASKED);
    expect(calls('getRepoById')).toBe(2);

    forge.addRepository('app');
    owners.forget('main', '7');

    expect(await owners.of(ASKED)).toMatchObject({ is: 'ours' });
  });

  it('keeps no refusal from an organization that another one caused', async () => {
    expect(await owners.of({ ...ASKED, org: 'evil' })).toEqual({ is: 'refused', code: 'repository_gone' });
    forge.addRepository('app');

    expect(await owners.of(ASKED)).toMatchObject({ is: 'ours' });
    expect(await owners.of({ ...ASKED, org: 'other' })).toEqual({ is: 'refused', code: 'repository_elsewhere' });
  });

  it('shares no answer between organizations, whose credentials may differ', async () => {
    forge.addRepository('app');
    forge.failNext('getRepoById', 'refused', { status: 403 });
    expect(await owners.of({ ...ASKED, org: 'evil' })).toEqual({ is: 'refused', code: 'repository_unconfirmed' });
    expect(await owners.of(ASKED)).toMatchObject({ is: 'ours' });
    owners = again();
    forge.failNext('getRepoById', 'refused', { status: 404 });

    const both = await Promise.all([owners.of({ ...ASKED, org: 'evil' }), owners.of(ASKED)]);

    expect(both).toMatchObject([{ is: 'refused', code: 'repository_gone' }, { is: 'ours' }]);
  });

  it('waits a minute after a refusal, however many asked at once', async () => {
    expect(await Promise.all(Array.from({ length: 5 }, () => owners.of(ASKED)))).toEqual(
      Array(5).fill({ is: 'refused', code: 'repository_gone' }),
    );
    forge.addRepository('app');
    clock.advance(60_000);

    expect(await owners.of(ASKED)).toMatchObject({ is: 'ours' });
    expect(calls('getRepoById')).toBe(2);
  });

  it('asks again about a repository of another owner when its refusal ends, although the answer would still serve reads', async () => {
    forge.addRepository('app', { full_name: 'victim/app', owner: { login: 'victim' } });
    expect(await owners.of(ASKED)).toEqual({ is: 'refused', code: 'repository_elsewhere' });
    forge.repositories.clear();
    forge.addRepository('app');
    clock.advance(60_000);

    expect(await owners.of(ASKED)).toMatchObject({ is: 'ours' });
  });

  it('asks once for reads of five minutes, and again for a write after ten seconds', async () => {
    forge.addRepository('app');
    await Promise.all([owners.of(ASKED), owners.of(ASKED), owners.of(ASKED, { maxAgeMs: WRITE_TRUST_MS })]);
    clock.advance(WRITE_TRUST_MS);
    await owners.of(ASKED);
    expect(calls('getRepoById')).toBe(1);
    await owners.of(ASKED, { maxAgeMs: WRITE_TRUST_MS });
    expect(calls('getRepoById')).toBe(2);
    clock.advance(5 * 60_000);
    await owners.of(ASKED);
    expect(calls('getRepoById')).toBe(3);
  });

  it('learns of a transfer after a 404 or a redirect, although the answer was fresh for reads', async () => {
    forge.addRepository('app');
    await owners.of(ASKED);
    forge.repositories.clear();
    forge.addRepository('app', { full_name: 'victim/app', owner: { login: 'victim' } });
    clock.advance(WRITE_TRUST_MS);
    expect(await owners.of(ASKED)).toMatchObject({ is: 'ours' });

    owners.doubt('main', '7');

    expect(await owners.of(ASKED)).toEqual({ is: 'refused', code: 'repository_elsewhere' });
  });

  it('a 404 costs one further read in ten seconds, not one for each', async () => {
    forge.addRepository('app');
    for (let n = 0; n < 5; n += 1) {
      await owners.of(ASKED);
      owners.doubt('main', '7');
    }
    expect(calls('getRepoById')).toBe(1);
  });

  it.each(['not-sent', 'unknown', 'rate-limited'] as const)(
    'throws while the forge cannot be asked, and keeps nothing of it: %s',
    async (kind) => {
      forge.addRepository('app');
      forge.failNext('getRepoById', kind);

      await expect(owners.of(ASKED)).rejects.toMatchObject({ kind });
      expect(await owners.of(ASKED)).toMatchObject({ is: 'ours' });
    },
  );

  it('waits where the credentials are not accepted', async () => {
    forge.failNext('getRepoById', 'refused', { status: 401 });

    await expect(owners.of(ASKED)).rejects.toMatchObject({ kind: 'refused' });
  });

  it('asks nothing about repositories that the forge has just listed', async () => {
    owners.learnListed('main', 'acme', [
      { id: '7', name: 'app', full_name: 'acme/app', owner: { login: 'acme' } },
      { id: '8', name: 'vault', full_name: 'victim/vault', owner: { login: 'victim' } },
    ]);

    expect(await owners.of(ASKED)).toMatchObject({ is: 'ours', repository: { name: 'app' } });
    expect(calls('getRepoById')).toBe(0);
    expect(await owners.of({ ...ASKED, id: '8' })).toEqual({ is: 'refused', code: 'repository_gone' });
  });

  describe('at a glance', () => {
    it('tells what it would answer from memory, and asks nobody', async () => {
      forge.addRepository('app');
      expect(owners.peek(ASKED)).toBeNull();
      const told = await owners.of(ASKED);

      expect(owners.peek(ASKED)).toEqual(told);
      expect(owners.peek({ ...ASKED, org: 'other' })).toBeNull();
      clock.advance(5 * 60_000 - 1);
      expect(owners.peek(ASKED)).toEqual(told);
      clock.advance(1);
      expect(owners.peek(ASKED)).toBeNull();
      expect(calls('getRepoById')).toBe(1);
    });

    it('tells nothing while the forge is being asked', async () => {
      forge.addRepository('app');
      const asking = owners.of(ASKED);

      expect(owners.peek(ASKED)).toBeNull();
      const told = await asking;
      expect(owners.peek(ASKED)).toEqual(told);
    });

    it('tells nothing after an event that may have changed it, and after a 404 only what a write would rely on', async () => {
      forge.addRepository('app');
      await owners.of(ASKED);
      owners.doubt('main', '7');
      expect(owners.peek(ASKED)).toMatchObject({ is: 'ours' });
      clock.advance(WRITE_TRUST_MS);
      expect(owners.peek(ASKED)).toBeNull();
      await owners.of(ASKED);

      owners.forget('main', '7');

      expect(owners.peek(ASKED)).toBeNull();
    });

    it('tells of a refusal as long as it holds', async () => {
      await owners.of(ASKED);

      expect(owners.peek(ASKED)).toEqual({ is: 'refused', code: 'repository_gone' });
      clock.advance(60_000);
      expect(owners.peek(ASKED)).toBeNull();
    });

    it('tells of what the forge listed, as far as it says whose that is', () => {
      owners.learnListed('main', 'acme', [
        { id: '7', name: 'app', full_name: 'acme/app', owner: { login: 'acme' } },
        { id: '8', name: null, full_name: null, owner: { login: 'acme' } },
      ]);

      expect(owners.peek(ASKED)).toMatchObject({ is: 'ours', repository: { name: 'app' } });
      expect(owners.peek({ ...ASKED, id: '8' })).toBeNull();
    });

    it('tells nothing where the store would have to be read', async () => {
      start('core');
      named.push('7');

      expect(await owners.of(ASKED)).toMatchObject({ is: 'ours' });
      expect(owners.peek(ASKED)).toBeNull();
    });
  });

  it('keeps a bounded number of answers', async () => {
    for (let n = 0; n < 6_000; n += 1) await owners.of({ ...ASKED, id: String(n) });

    const { readings, refusals } = owners as unknown as {
      readings: Map<string, unknown>;
      refusals: Map<string, unknown>;
    };
    expect([readings.size, refusals.size]).toEqual([0, 5_000]);
  });

  describe('on a forge that finds none by number', () => {
    beforeEach(() => start('core'));

    it('refuses what neither the feed nor the operator names, and asks for a page of the feed at most once a second', async () => {
      for (let n = 0; n < 20; n += 1)
        expect(await owners.of({ ...ASKED, id: String(n) })).toEqual({ is: 'refused', code: 'repository_unconfirmed' });
      expect(calls('listOrgFeed')).toBe(1);
      clock.advance(1_000);
      await owners.of(ASKED);

      expect([calls('listOrgFeed'), calls('getRepoById')]).toEqual([2, 0]);
    });

    it('takes what a row names for ours, under the name of the row, and still knows it after a restart without a further page', async () => {
      forge.answer('listOrgFeed', async () => [repo('7', 'app'), repo('7', 'older'), repo('8', 'vault', 'victim')]);
      expect(await owners.of(ASKED)).toEqual({ is: 'ours', repository: { id: '7', owner: 'acme', name: 'app' } });
      expect(await owners.of({ ...ASKED, id: '8' })).toEqual({ is: 'refused', code: 'repository_unconfirmed' });
      forge.answer('listOrgFeed', async () => []);
      owners = again();
      const before = calls('listOrgFeed');

      expect(await owners.of(ASKED)).toMatchObject({ is: 'ours', repository: { name: 'app' } });
      expect(calls('listOrgFeed')).toBe(before);
    });

    it('follows the feed: a new name, and a repository that has another owner since', async () => {
      await owners.learnFeed('main', 'acme', [repo('7', 'app')]);
      await owners.learnFeed('main', 'acme', [repo('7', 'renamed')]);
      expect(await owners.of(ASKED)).toMatchObject({ repository: { name: 'renamed' } });

      await owners.learnFeed('main', 'acme', [repo('7', 'renamed', 'victim')]);

      expect(await owners.of(ASKED)).toEqual({ is: 'refused', code: 'repository_unconfirmed' });
    });

    it('takes the number that the operator names for ours, under the organization whatever owner was told', async () => {
      named.push('7');

      expect(await owners.of(ASKED)).toEqual({ is: 'ours', repository: { id: '7', owner: 'acme', name: 'told' } });
      expect(calls('listOrgFeed')).toBe(0);
    });

    it('throws while the feed cannot be read, and asks again', async () => {
      forge.failNext('listOrgFeed', 'not-sent');
      await expect(owners.of(ASKED)).rejects.toMatchObject({ kind: 'not-sent' });
      forge.answer('listOrgFeed', async () => [repo('7', 'app')]);

      expect(await owners.of(ASKED)).toMatchObject({ is: 'ours' });
    });

    it('lists of the repositories seen only those that are named, under the name of the organization', async () => {
      seen = new InMemorySeenRepositories([
        { id: '7', owner: 'acme', name: 'told', full_name: 'acme/told' },
        { id: '8', owner: 'victim', name: 'vault', full_name: 'victim/vault' },
        { id: '9', owner: 'victim', name: 'tool', full_name: 'victim/tool', private: true },
      ]);
      owners = again();
      await owners.learnFeed('main', 'acme', [repo('7', 'app')]);
      named.push('9');

      expect(await owners.amongSeen('main', 'acme', { asksFeed: true })).toHaveLength(2);
      expect(calls('listOrgFeed')).toBe(1);
      expect(await owners.amongSeen('main', 'acme')).toEqual([
        { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app' },
        { id: '9', owner: 'acme', name: 'tool', full_name: 'acme/tool', private: true },
      ]);
    });
  });

  it('goes by the feed where the token may not find by number', async () => {
    forge.failNext('getRepoById', 'refused', { status: 403 });
    forge.answer('listOrgFeed', async () => [repo('7', 'app')]);

    expect(await owners.of(ASKED)).toMatchObject({ is: 'ours', repository: { name: 'app' } });
  });
});
