import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReplayReport, RestoreReport, RunReport } from '../../../src/api/operations/answers.js';
import type { JobRun } from '../../../src/housekeeping/jobs/job-runner.js';
import { openStores } from '../../../src/store/open-stores.js';
import type { ArrivalSummary } from '../../../src/pipeline/inbox-store.port.js';
import { until } from '../../services/until.js';
import { acmeConfig } from '../support/acme-config.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { askJson, forgehand } from '../support/forgehand.js';

const SECRET = 'the secret of the hook';
const RULES =
  'version: 1\norg: acme\nrules:\n  - { id: bug-label, on: repository.created, do: { label.ensure: { name: bug, color: "#d73a4a" } } }\n';

let forge: Forge;
let place: Place;
let bot: Bot;
/** The delivery of the first act, decided before any of the tests. */
let arrival: string;

const ask = <T>(...args: string[]): Promise<T> => askJson<T>(place, ...args, '--config', place.configFile);
const deliveries = async (): Promise<ArrivalSummary[]> => (await ask<{ rows: ArrivalSummary[] }>('deliveries')).rows;
/** A bot that starts also reads the feed: its rows are as new as that. */
const decided = async (): Promise<ArrivalSummary[]> =>
  (await deliveries()).filter(({ kind, state }) => kind === 'delivery' && state !== 'stored');
const labels = async (): Promise<string[]> =>
  ((await forge.get<Array<{ name: string }>>('/repos/acme/app/labels')) ?? []).map(({ name }) => name);

/** While no bot holds it. */
async function inStore(data: string, ...statements: string[]): Promise<void> {
  const stores = await openStores({ kind: 'embedded', dir: join(place.dir, data) });
  for (const statement of statements) await stores.dataSource.query(statement);
  await stores.close();
}

beforeAll(async () => {
  requireBuild();
  forge = await aForge();
  place = aPlace({
    config: acmeConfig(forge.apiUrl, { forge: { rate_per_s: 50 }, retention: { inbox_days: 1, archive: './archive' } }),
    files: { 'rules/rules.yaml': RULES },
    env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET: SECRET },
  });
  bot = await startBot(place);
  await forge.hook(bot.url, SECRET);
  await forge.act('repository.create', { repo: 'acme/app' });
  await until(async () => (await labels()).includes('bug'));
  await until(async () => (await decided()).length > 0);
  arrival = (await decided())[0]?.id ?? '';
  await bot.stop();
});

afterAll(async () => {
  await bot?.kill();
  await forge?.close();
  place?.remove();
});

describe('e2e/commands: an archive', () => {
  let file: string;

  it('is written by the job, and brings a body back into the store that gave it up', async () => {
    await inStore('data', `UPDATE arrivals SET arrived_at = arrived_at - interval '3 days'`);
    bot = await startBot(place);

    const [job] = await ask<JobRun[]>('housekeeping', 'run', 'inbox.archive');
    const given = await ask<ReplayReport>('replay', arrival);
    const [name = ''] = readdirSync(join(place.dir, 'archive'));
    file = join(place.dir, 'archive', name);
    const [restored] = await ask<Array<RestoreReport & { file: string }>>('housekeeping', 'restore', file);
    const back = await ask<ReplayReport>('replay', arrival);

    expect([job?.outcome?.changes, given.archivedAt]).toEqual([
      [expect.stringMatching(/^\d+ bodies given up$/)],
      expect.any(String),
    ]);
    expect(name).toMatch(/^\d{4}-\d\d-\d\d\.ndjson\.gz$/);
    expect(restored).toMatchObject({ putBack: expect.any(Number), stored: 0, history: 0, unchanged: 0 });
    expect(restored?.putBack).toBeGreaterThan(0);
    expect([back.archivedAt, back.newRuns]).toEqual([null, 0]);
  });

  it('is decided as if it came now by a store whose rows are gone, once', async () => {
    await bot.stop();
    await inStore(
      'data',
      'DELETE FROM arrival_events',
      'DELETE FROM runs',
      'DELETE FROM intents',
      'DELETE FROM events',
      'DELETE FROM arrivals',
      'DELETE FROM repeats',
      'DELETE FROM known_entries',
    );
    // Gone without a word: nobody undid it, and the feed is too young to tell of it.
    forge.sandbox.parts.world.labels.clear();
    forge.sandbox.parts.world.feed.length = 0;
    bot = await startBot(place);
    expect([await deliveries(), await labels()]).toEqual([[], []]);

    const [restored] = await ask<Array<RestoreReport & { file: string }>>('housekeeping', 'restore', file);
    await until(async () => (await labels()).includes('bug'));
    const { rows: runs } = await ask<{ rows: RunReport[] }>('runs', '--rule', 'bug-label');
    const replayed = await ask<ReplayReport>('replay', (await deliveries())[0]?.id ?? '');
    const again = await forgehand(place, 'housekeeping', 'restore', file, '--config', place.configFile);

    expect(restored).toMatchObject({ putBack: 0, unchanged: 0 });
    expect(restored?.stored).toBeGreaterThan(0);
    expect(runs.map(({ run }) => run.rule)).toEqual(['bug-label']);
    expect(replayed.newRuns).toBe(0);
    expect(again.stdout).toMatch(
      /0 have their body again, 0 are new here and decided now, 0 are too old to be decided, \d+ were there/,
    );
    expect(await labels()).toEqual(['bug']);
  });
});
