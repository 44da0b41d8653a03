import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../services/until.js';
import { requireBuild } from '../support/built.js';
import { untilStatus } from '../support/forgehand.js';
import { aHouse, type House } from './house.js';

const LABELS = /^\/api\/v1\/repos\/acme\/[^/]+\/labels/;

describe('a bot that is killed', () => {
  let house: House;

  beforeAll(requireBuild);
  beforeEach(async () => void (house = await aHouse(0)));
  afterEach(() => house.close());

  it('does what it acknowledged, once, after its restart', async () => {
    const reading = house.way.hold('before', 'GET', LABELS);
    const bot = await house.start();
    await house.forge.act('repository.create', { repo: 'acme/one' });
    await reading;

    await bot.kill();
    (await reading).release();
    await house.start();
    await until(async () => (await house.labelsOf('one')).length > 0);

    expect(await house.labelsOf('one')).toEqual(['hello']);
    expect(house.forge.botWrites()).toHaveLength(1);
  });

  it('reads about a write whose answer it did not live to see, and does not repeat it', async () => {
    const writing = house.way.hold('after', 'POST', LABELS);
    const bot = await house.start();
    await house.forge.act('repository.create', { repo: 'acme/two' });
    await writing;

    await bot.kill();
    (await writing).release();
    await house.start();
    await untilStatus(house.place, ({ intents }) => intents.done === 1);

    expect(await house.labelsOf('two')).toEqual(['hello']);
    expect(house.forge.botWrites()).toHaveLength(1);
  });
});

describe('a bot that is told to stop', () => {
  let house: House;

  beforeAll(requireBuild);
  beforeEach(async () => void (house = await aHouse(0)));
  afterEach(() => house.close());

  it('finishes what is on its way, says so in its journal, and ends well', async () => {
    const writing = house.way.hold('after', 'POST', LABELS);
    const bot = await house.start();
    await house.forge.act('repository.create', { repo: 'acme/three' });
    const held = await writing;

    const ending = bot.stop();
    await until(async () => !(await isReady(bot.url)));
    held.release();

    expect(await ending).toEqual({ code: 0, signal: null });
    expect((await house.status()).intents).toMatchObject({ done: 1, unknown: 0, waiting: 0, planned: 0 });
    expect(await house.labelsOf('three')).toEqual(['hello']);
  });
});

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`);
    await answer.text();
    return answer.ok;
  } catch {
    return false;
  }
}
