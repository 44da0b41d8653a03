import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../../src/core/seeded-random.js';
import { startBot, type Bot } from '../../e2e/support/bot.js';
import { Child } from '../../e2e/support/child.js';
import { fastFolder } from '../../tools/fast-folder.mjs';
import { waitFor } from '../../e2e/support/wait-for.js';
import { ROOT } from '../../services/with-services.mjs';
import { keyOfRequest } from '../effect-key.js';
import { LedgerTail, readLedger } from '../judge/read-ledger.js';
import { ForgeProcess } from '../rig/forge-process.js';
import { Sender } from '../rig/send.js';
import { keyOf } from '../workload.js';
import { CLASSES, cutPoints, endOfFirstStart, type CutClass, type CutPoint } from './cut-points.js';
import { Disk } from './disk.js';
import { judgeCut, type Before, type Found } from './judge-cut.js';
import { noisyDelivery } from './noisy-delivery.js';
import { pathsOf, readJournal, type Recorded } from './journal.js';
import { aBotPlace, recorderEnv } from './recorded-bot.js';

export interface PowerCuts {
  readonly seed: number;
  readonly cuts: number;
  /** Cuts of a disk that is given no flush of the log; without a loss among them the rig sees nothing. */
  readonly planted: number;
  readonly deliveries: number;
  /** The build to look at; default: ours. */
  readonly dist?: string;
}

export interface PowerReport {
  readonly seed: number;
  readonly cuts: number;
  readonly deliveries: number;
  readonly records: number;
  readonly flushes: number;
  /** Cuts of each class, and writes or names that these dropped. */
  readonly classes: Readonly<Record<CutClass, { readonly cuts: number; readonly dropped: number }>>;
  readonly wrong: readonly string[];
  readonly planted: { readonly cuts: number; readonly withLosses: number };
  readonly tookMs: number;
}

const SETTLED_MS = 120_000;
const SCRIPTS = join(ROOT, 'test/chaos/power');

/** What was recorded of a folder, and what the outside knew when. */
interface Story {
  readonly root: string;
  readonly records: readonly Recorded[];
  readonly paths: readonly string[];
  readonly before: (at: number) => Before;
  readonly classes: readonly CutClass[];
  /** The first record that a cut may come after, where that is not the end of the first start. */
  readonly from?: number;
}

/** A storm is recorded once; each cut is a state that the disk could have had at some moment of it. */
export async function runPowerCuts(order: PowerCuts, say: (line: string) => void): Promise<PowerReport> {
  const startedAt = Date.now();
  const work = mkdtempSync(join(fastFolder(), 'fh-power-'));
  const dist = order.dist ?? join(ROOT, 'dist');
  const reader = new StoreReader(dist);
  try {
    const storm = await recordStorm(work, dist, order, say);
    const migration = await recordMigration(work, dist);
    say(
      `  recorded after ${Math.round((Date.now() - startedAt) / 1000)} s: ${storm.records.length + migration.records.length} calls to the disk`,
    );
    const stories = [storm, migration];
    const random = seededRandom(order.seed);
    const points = stories.map(({ records, paths, classes, from }) =>
      cutPoints(records, paths, classes, order.cuts, random, from),
    );
    const classes = Object.fromEntries(CLASSES.map((name) => [name, { cuts: 0, dropped: 0 }])) as Record<
      CutClass,
      { cuts: number; dropped: number }
    >;
    const wrong: string[] = [];
    for (const [n, story] of stories.entries()) {
      for await (const { point, dropped, faults } of cutAll(story, points[n] ?? [], true, order.seed, work, reader)) {
        classes[point.of].cuts += 1;
        classes[point.of].dropped += dropped;
        wrong.push(...faults.map((fault) => `${point.of} at ${point.index}: ${fault}`));
        if (faults.length > 0)
          say(`  cut ${point.of} at record ${point.index}: ${dropped} not flushed and dropped; ${faults[0]}`);
      }
    }
    const late = (points[0] ?? [])
      .filter(({ of }) => of === 'random')
      .sort((a, b) => a.index - b.index)
      .slice(-order.planted);
    let withLosses = 0;
    for await (const { faults } of cutAll(storm, late, false, order.seed, work, reader))
      if (faults.length > 0) withLosses += 1;
    return {
      seed: order.seed,
      cuts: points.flat().length,
      deliveries: order.deliveries,
      records: storm.records.length + migration.records.length,
      flushes: [...storm.records, ...migration.records].filter(({ op }) => op === 'flush').length,
      classes,
      wrong,
      planted: { cuts: late.length, withLosses },
      tookMs: Date.now() - startedAt,
    };
  } finally {
    await reader.close();
    rmSync(work, { recursive: true, force: true });
  }
}

interface CutResult {
  readonly point: CutPoint;
  readonly dropped: number;
  readonly faults: readonly string[];
}

/** @param flushes false = from the end of the first start on, no flush of the store reaches the disk */
async function* cutAll(
  { root, records, paths, before }: Story,
  points: readonly CutPoint[],
  flushes: boolean,
  seed: number,
  work: string,
  reader: StoreReader,
): AsyncGenerator<CutResult> {
  const disk = new Disk(root);
  const started = flushes ? Infinity : endOfFirstStart(paths);
  let next = 0;
  for (const point of [...points].sort((a, b) => a.index - b.index)) {
    for (; next < point.index; next += 1) {
      const record = records[next] as Recorded;
      if (next === started) disk.flushAll();
      if (next < started || record.op !== 'flush' || !paths[next]?.startsWith('data/db')) disk.apply(record);
    }
    const into = join(work, 'cut');
    rmSync(into, { recursive: true, force: true });
    const dropped = disk.cut(into, seededRandom(seed + point.index));
    const found = await reader.read(join(into, 'data'), join(into, 'archive'), point.of === 'migration');
    yield { point, dropped, faults: judgeCut(before(records[point.index - 1]?.at ?? 0), found) };
  }
}

/** From the first start through deliveries, a kill and a stop, to the archive. */
async function recordStorm(
  work: string,
  dist: string,
  { deliveries }: PowerCuts,
  say: (line: string) => void,
): Promise<Story> {
  const root = join(work, 'storm');
  mkdirSync(root);
  const forge = await ForgeProcess.start('gitea', 8);
  const place = aBotPlace(forge, root);
  const journals: string[] = [];
  let starts = 0;
  const recorded = (): Record<string, string> => {
    const journal = join(work, `storm.journal.${(starts += 1)}`);
    journals.push(journal);
    return recorderEnv(root, journal);
  };
  const start = (): Promise<Bot> =>
    startBot(
      { ...place, env: { ...place.env, ...recorded() } },
      'all',
      place.configFile,
      join(dist, 'cli/forgehand.js'),
    );
  let bot = start();
  const sender = new Sender(async () => (await bot).url);
  const tail = new LedgerTail(forge);
  try {
    await bot;
    let next = 0;
    const sendOn = async (until: number): Promise<void> => {
      while (next < until) {
        const n = next++;
        const repo = forge.repos[n % forge.repos.length];
        if (!repo) throw new Error('no repository');
        await sender.deliver(noisyDelivery(n, repo), () => false);
      }
    };
    const deliver = async (until: number): Promise<void> =>
      void (await Promise.all(Array.from({ length: 8 }, () => sendOn(until))));
    await deliver(Math.floor(deliveries / 3));
    const [killed, stopped] = [await bot, deliver(Math.floor((2 * deliveries) / 3))];
    bot = killed.child.end('SIGKILL').then(start);
    await stopped;
    bot = (await bot).stop().then(start);
    await deliver(deliveries);
    await waitFor(async () => (await tail.effects()) >= deliveries, SETTLED_MS);
    say(`  recorded: ${sender.acknowledged.size} deliveries acknowledged, ${await tail.effects()} effects`);
    await (await bot).stop();
    const script = new Child(
      [join(SCRIPTS, 'archive-all.mjs'), dist, join(root, 'data'), join(root, 'archive')],
      recorded(),
      ROOT,
    );
    const { code } = await script.ended;
    if (code !== 0) throw new Error(`the archive was not written: ${script.stderr}`);
    const calls = (await readLedger(forge)).filter(({ applied }) => applied.some(({ what }) => what !== 'deleted'));
    const acknowledged = [...sender.acknowledged].map(([n, { id, at }]) => ({ key: keyOf(n), id, at }));
    const effects = calls.flatMap(({ operation, path, body, receivedAt }) => {
      const key = keyOfRequest(operation ?? '', path, body);
      return key === null ? [] : [{ key, at: Date.parse(receivedAt) }];
    });
    const keyFile = join(root, 'data/data.key');
    const key = existsSync(keyFile) ? readFileSync(keyFile, 'utf8') : null;
    const records = journals.flatMap(readJournal);
    return {
      root,
      records,
      paths: pathsOf(records, root),
      classes: CLASSES.filter((name) => name !== 'migration'),
      before: (at) => ({
        acknowledged: acknowledged.filter((one) => one.at < at),
        effects: effects.filter((one) => one.at < at),
        key: acknowledged.some((one) => one.at < at) ? key : null,
        isKept: false,
      }),
    };
  } finally {
    await (await bot.catch(() => null))?.kill();
    await sender.close();
    await forge.stop();
    place.remove();
  }
}

async function recordMigration(work: string, dist: string): Promise<Story> {
  const root = join(work, 'migration');
  const journal = join(work, 'migration.journal');
  mkdirSync(root);
  const script = new Child(
    [join(SCRIPTS, 'migrate-store.mjs'), dist, join(root, 'data')],
    recorderEnv(root, journal),
    ROOT,
  );
  const { code } = await script.ended;
  if (code !== 0) throw new Error(`the tables were not changed: ${script.stderr}`);
  const { keptAt } = JSON.parse(script.stdout) as { keptAt: number };
  const records = readJournal(journal);
  return {
    root,
    records,
    paths: pathsOf(records, root),
    classes: ['migration'],
    from: records.findIndex(({ at }) => at > keptAt),
    before: (at) => ({ acknowledged: [], effects: [], key: null, isKept: at > keptAt }),
  };
}

/** Opens stores in a process of its own, one after the other. */
class StoreReader {
  private readonly child: Child;

  constructor(dist: string) {
    this.child = new Child([join(SCRIPTS, 'read-store.mjs'), dist], {}, ROOT, 'pipe');
  }

  async read(dir: string, archive: string, isNext: boolean): Promise<Found> {
    const answer = this.child.line((line) => JSON.parse(line) as Found);
    this.child.process.stdin?.write(`${JSON.stringify({ dir, archive, isNext })}\n`);
    return answer;
  }

  async close(): Promise<void> {
    await this.child.end('SIGKILL');
  }
}
