import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/core/clock.js';
import { hashOf, newId } from '../../src/core/ids.js';
import { silentLogger } from '../../src/core/logger.js';
import { deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { deduplicateInto } from '../../src/events/deduplicate.js';
import { readGroup, REVIEW_MARK, writtenTogether } from '../../src/events/review-rows.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { taskStateOf } from '../../src/events/normalize/task.js';
import { decideArrival } from '../builders/decide-all.js';
import type { Stored } from '../../src/core/arrival.js';
import { aDelivery } from '../builders/arrivals.js';
import { InMemoryInboxStore } from '../fakes/in-memory-inbox-store.js';
import type { Act, ActFolder } from '../recordings-tool/act-file.js';
import { factOf, jsonTextOf, readActFolders } from '../recordings-tool/act-file.js';

const FULL_SET = process.env.FORGEHAND_RECORDINGS ?? resolve('../shared/recordings');
const FOLDERS = readActFolders(existsSync(FULL_SET) ? FULL_SET : resolve('test/recordings'));

const ACTS = FOLDERS.flatMap(({ acts }) => acts);

type Told = (inbox: InMemoryInboxStore) => Promise<ReadonlyArray<Pick<Stored, 'id'> & Partial<Stored>>>;

/** Acts are a minute apart, as people are: what one act sends comes together. */
function deliveriesOf(act: Act): Told[] {
  const receivedAt = new Date(Date.UTC(2026, 10, 20) + ACTS.indexOf(act) * 60_000);
  return act.deliveries.map((delivery) => async (inbox) => {
    const told = aDelivery({
      org: act.org,
      hook: delivery.hook,
      eventType: delivery.event_type,
      event: '',
      contentType: delivery.content_type,
      body: Buffer.from(delivery.body),
      receivedAt,
    });
    await inbox.storeDeliveries([told]);
    return [told];
  });
}

function rowsOf(act: Act, repository: unknown): Told[] {
  const ids = (row: Record<string, unknown>) => ({
    ...row,
    id: String(row.id),
    repo_id: String(row.repo_id),
    act_user_id: String(row.act_user_id),
  });
  const groups = writtenTogether((act.feed ?? []).map(ids));
  const reviews = new Map(groups.flatMap((group) => [...readGroup(group, null)]));
  const feed = (act.feed ?? []).map((row) => {
    const review = reviews.get(String(row.id));
    return {
      source: 'feed' as const,
      key: String(row.id),
      row: review ? { ...row, [REVIEW_MARK]: review } : (row as object),
    };
  });
  const tasks = (act.tasks ?? []).map((row) => ({
    source: 'tasks' as const,
    key: `${String(row.id)}:${taskStateOf(String(row.status))}`,
    row: { ...row, repository },
  }));
  return [...feed, ...tasks].map(({ source, key, row }) => (inbox) => {
    const text = JSON.stringify(row);
    return inbox.storeEntries([
      {
        id: newId(),
        forge: 'main',
        org: act.org,
        source,
        entryKey: key,
        text,
        textHash: hashOf(text),
        readAt: new Date(),
      },
    ]);
  });
}

async function play(order: readonly Told[]): Promise<Array<{ kind: string; sources: number }>> {
  const inbox = new InMemoryInboxStore();
  const deps = {
    inbox,
    queue: { ring: () => undefined },
    clock: systemClock,
    logger: silentLogger,
    events: { readDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews },
  };
  const toldBy = new Map<string, number>();
  for (const tell of order) {
    for (const { id, duplicate } of await tell(inbox)) {
      if (duplicate) continue;
      await decideArrival(deps, id);
      for (const event of inbox.eventsToldBy(id)) toldBy.set(event, (toldBy.get(event) ?? 0) + 1);
    }
  }
  return inbox.allEvents().map(({ id, kind }) => ({ kind, sources: toldBy.get(id) ?? 0 }));
}

function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const keyed = items.map((item, index) => ({ item, key: hashOf(String(seed), String(index)) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ item }) => item);
}

/** Where a repository of the acts stands in full: task rows do not name theirs. All recorded tasks are of `app`. */
function appOf(folder: ActFolder): unknown {
  const bodies = folder.acts.flatMap((act) =>
    act.deliveries.map((delivery) => JSON.parse(jsonTextOf(delivery)) as { repository?: { name?: string } }),
  );
  return bodies.find((body) => body.repository?.name === 'app')?.repository;
}

const countKinds = (events: ReadonlyArray<{ kind: string }>): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { kind } of events) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

describe('integration/recorded-twins', () => {
  it.each(FOLDERS.map((folder): [string, ActFolder] => [folder.folder, folder]))(
    '%s: a row and a delivery of one fact are one event, whichever comes first',
    async (_name, folder) => {
      const { acts } = folder;
      const app = appOf(folder);
      const facts = new Set(acts.flatMap((act) => act.deliveries.map((delivery) => factOf(act, delivery)))).size;
      const hasJobDeliveries = acts.some((act) =>
        act.deliveries.some(({ event_type }) => event_type === 'workflow_job'),
      );
      const rows = acts.flatMap((act) => act.feed ?? []);
      // Facts that no delivery tells: renames, transfers, dismissed reviews, and on Forgejo every task.
      const feedOnly = rows.filter(({ op_type }) =>
        ['rename_repo', 'transfer_repo', 'pull_review_dismissed'].includes(op_type),
      ).length;
      const tasksOnly = hasJobDeliveries
        ? 0
        : new Set(
            acts.flatMap((act) =>
              (act.tasks ?? []).map((task) => `${String(task.id)}:${taskStateOf(String(task.status))}`),
            ),
          ).size;
      const deliveries = acts.flatMap(deliveriesOf);
      const entries = acts.flatMap((act) => rowsOf(act, app));

      const deliveriesFirst = await play([...deliveries, ...entries]);
      const actByAct = await play(acts.flatMap((act) => [...deliveriesOf(act), ...rowsOf(act, app)]));
      const rowsFirst = await play([...entries, ...deliveries]);

      expect(deliveriesFirst).toHaveLength(facts + feedOnly + tasksOnly);
      expect(countKinds(actByAct)).toEqual(countKinds(deliveriesFirst));
      expect(rowsFirst).toHaveLength(facts + feedOnly + tasksOnly);
      expect(
        [...deliveriesFirst, ...rowsFirst].every(
          ({ kind, sources }) => kind !== 'unrecognized' && sources >= 1 && sources <= 3,
        ),
      ).toBe(true);
    },
  );

  it.each([1, 2, 3, 4, 5])('in any order every fact is one event (seed %i)', async (seed) => {
    for (const folder of FOLDERS) {
      const app = appOf(folder);
      const inOrder = countKinds(await play(folder.acts.flatMap((act) => [...deliveriesOf(act), ...rowsOf(act, app)])));
      const anyhow = countKinds(
        await play(
          shuffled(
            folder.acts.flatMap((act) => [...deliveriesOf(act), ...rowsOf(act, app)]),
            seed,
          ),
        ),
      );

      expect(anyhow).toEqual(inOrder);
    }
  });
});
