import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RunReport } from '../../../src/api/operations/answers.js';
import { until } from '../../services/until.js';
import { requireBuild } from '../support/built.js';
import { forgehand, untilRows, untilStatus } from '../support/forgehand.js';
import { aHouse, RULES, type House } from './house.js';

describe('an embedded bot', () => {
  let house: House;

  beforeAll(requireBuild);
  beforeEach(async () => void (house = await aHouse(0)));
  afterEach(() => house.close());

  it('lets no second process onto its data', async () => {
    const bot = await house.start();

    const second = await forgehand(house.place, 'start', '--config', house.place.configFile);

    expect(second.code).toBe(3);
    expect(second.stderr).toContain('already runs on this data');
    expect(bot.child.isAlive).toBe(true);
    await house.forge.act('repository.create', { repo: 'acme/still-served' });
    await until(async () => (await house.labelsOf('still-served')).length > 0);
  });

  it('keeps to the rules it has while newer ones are broken, and takes them once they are mended', async () => {
    await house.start();
    house.place.write('rules/greet.yaml', RULES.replace('label.ensure', 'label.ensurre'));
    await untilStatus(house.place, ({ rows: orgs }) => (orgs[0]?.heldBack.length ?? 0) > 0);

    await house.forge.act('repository.create', { repo: 'acme/meanwhile' });
    await until(async () => (await house.labelsOf('meanwhile')).length > 0);
    const { rows: orgs } = await house.status();
    house.place.write('rules/greet.yaml', RULES.replace('name: hello', 'name: welcome'));
    await untilStatus(house.place, ({ rows: orgs }) => orgs[0]?.heldBack.length === 0);
    await house.forge.act('repository.create', { repo: 'acme/after' });
    await until(async () => (await house.labelsOf('after')).length > 0);

    expect(orgs[0]?.heldBack[0]).toMatch(/greet\.yaml:4:\d+: there is no action "label\.ensurre"/);
    expect(await house.labelsOf('meanwhile')).toEqual(['hello']);
    expect(await house.labelsOf('after')).toEqual(['welcome']);
  });

  it('writes nothing from a second after a pause, and all of it after the resume', async () => {
    await house.start();
    let isPaused = false;
    let created = 0;
    const create = async (): Promise<void> => {
      created += 1;
      await house.forge.act('repository.create', { repo: `acme/many-${created}` });
    };
    const creating = (async () => {
      while (!isPaused) {
        await create();
        await until(() => isPaused || house.forge.botWrites().length > created - 4);
      }
    })();
    await until(() => house.forge.botWrites().length > 0);

    await forgehand(house.place, 'pause', '--org', 'acme', '--config', house.place.configFile);
    const pausedAt = Date.now();
    isPaused = true;
    await creating;
    for (let more = 0; more < 3; more += 1) await create();
    await untilRows<RunReport>(
      house.place,
      '/v1/runs?state=open&shadow=false&limit=1000',
      (open) => open.length + house.forge.botWrites().length >= created,
    );
    const written = house.forge.botWrites();
    const resumed = await forgehand(house.place, 'resume', '--org', 'acme', '--config', house.place.configFile);
    await until(() => house.forge.botWrites().length >= created);

    expect(written.filter(({ receivedAt }) => new Date(receivedAt).getTime() > pausedAt + 1000)).toEqual([]);
    expect(written.length).toBeLessThanOrEqual(created - 3);
    expect(resumed.code).toBe(0);
    expect(house.forge.botWrites()).toHaveLength(created);
  });
});
