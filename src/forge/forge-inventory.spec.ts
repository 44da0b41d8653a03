import { aConfig } from '../../test/builders/a-config.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { EventRepository } from '../core/event.js';
import { FakeForge } from '../../test/fakes/fake-forge.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { InMemorySeenRepositories } from '../../test/fakes/in-memory-seen-repositories.js';
import { ForgeOwners } from './forge-owners.js';
import { ForgeInventory } from './forge-inventory.js';

const seen: EventRepository[] = [{ id: '1', owner: 'acme', name: 'told', full_name: 'acme/told' }];
/** Told by an event alone: nothing says that it is the organization's. */
const UNNAMED: EventRepository = { id: '2', owner: 'acme', name: 'claimed', full_name: 'acme/claimed' };

describe('forge/forge-inventory', () => {
  let clock: ManualClock;

  beforeEach(() => {
    clock = new ManualClock();
  });

  function inventoryOf(forge: FakeForge): ForgeInventory {
    forge.answer('listOrgFeed', async () => []);
    const forges = { get: () => forge };
    const owners = new ForgeOwners(
      forges,
      new InMemorySeenRepositories([...seen, UNNAMED]),
      aConfig({ orgs: [{ forge: 'main', name: 'acme', repositories: ['1'] }] }),
      clock,
    );
    return new ForgeInventory(forges, owners, clock);
  }

  it('lists what the forge lists, to the end, in the shape of events', async () => {
    const forge = new FakeForge();
    for (let n = 0; n < 8; n += 1) forge.addRepository(`r${n}`, { id: String(n + 10), private: n === 0 });

    const listed = await inventoryOf(forge).list('main', 'acme');

    expect(listed).toHaveLength(8);
    expect(listed[0]).toMatchObject({
      id: '10',
      owner: 'acme',
      name: 'r0',
      full_name: 'acme/r0',
      private: true,
      default_branch: 'main',
    });
  });

  it('goes by what events told where the forge lists none', async () => {
    expect(await inventoryOf(new FakeForge('core')).list('main', 'acme')).toEqual(seen);
    const learning = new FakeForge();
    learning.failNext('listOrgRepos', 'not-offered', { status: 404 });
    expect(await inventoryOf(learning).list('main', 'acme')).toEqual(seen);
  });

  it('does not pass off what events told for a list that could not be read now, and asks again', async () => {
    const forge = new FakeForge();
    forge.addRepository('app');
    const inventory = inventoryOf(forge);
    forge.failNext('listOrgRepos', 'not-sent');

    await expect(inventory.list('main', 'acme')).rejects.toMatchObject({ kind: 'not-sent' });

    expect(await inventory.list('main', 'acme')).toHaveLength(1);
  });

  it('reads once for schedules that fire together', async () => {
    const forge = new FakeForge();
    forge.addRepository('app');
    const inventory = inventoryOf(forge);

    await Promise.all([inventory.list('main', 'acme'), inventory.list('main', 'Acme')]);
    const calls = forge.calls.length;
    clock.advance(30_000);
    await inventory.list('main', 'acme');

    expect(forge.calls.length).toBe(calls * 2);
  });

  it('reads again when a repository is missing that was seen since', async () => {
    const forge = new FakeForge();
    forge.addRepository('app', { id: '1' });
    const inventory = inventoryOf(forge);
    await inventory.list('main', 'acme');
    forge.addRepository('web', { id: '2' });

    expect(await inventory.list('main', 'acme', ['1'])).toHaveLength(1);
    expect(await inventory.list('main', 'acme', ['1', '2'])).toHaveLength(2);
  });
});
