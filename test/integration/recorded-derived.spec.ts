import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/core/clock.js';
import type { Json, JsonObject } from '../../src/core/json.js';
import { silentLogger } from '../../src/core/logger.js';
import { deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { deduplicateInto } from '../../src/events/deduplicate.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { taskStateOf } from '../../src/events/normalize/task.js';
import { decideArrival } from '../builders/decide-all.js';
import { hashOf } from '../../src/core/ids.js';
import { aDelivery, anEntry } from '../builders/arrivals.js';
import { given } from '../builders/given.js';
import { InMemoryInboxStore } from '../fakes/in-memory-inbox-store.js';
import type { Act, ActFolder } from '../recordings-tool/act-file.js';
import { jsonTextOf, readActFolders } from '../recordings-tool/act-file.js';

const FULL_SET = process.env.FORGEHAND_RECORDINGS ?? resolve('../shared/recordings');
const FOLDERS = existsSync(FULL_SET) ? readActFolders(FULL_SET) : [];
const describeOnFullSet = FOLDERS.length > 0 ? describe : describe.skip;

type DerivedOfAct = Array<{ kind: string; derived: Json | undefined }>;

/** Every act of a folder, one after the other, and what was derived in each. */
async function play({ acts }: ActFolder): Promise<Map<string, DerivedOfAct>> {
  const inbox = new InMemoryInboxStore();
  const events = { readDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews };
  const deps = { inbox, queue: { ring: () => undefined }, clock: systemClock, logger: silentLogger, events };
  const byAct = new Map<string, DerivedOfAct>();
  for (const act of acts) {
    const told: DerivedOfAct = [];
    for (const id of await arrivalsOf(inbox, act)) {
      const decided = await decideArrival(deps, id);
      for (const eventId of decided?.created ?? []) {
        const event = given(await inbox.event(eventId));
        if (event.data.derived !== undefined) told.push({ kind: event.kind, derived: event.data.derived });
      }
    }
    byAct.set(act.title.toLowerCase(), told);
  }
  return byAct;
}

async function arrivalsOf(inbox: InMemoryInboxStore, act: Act): Promise<string[]> {
  const deliveries = act.deliveries.map((delivery) =>
    aDelivery({ org: act.org, eventType: delivery.event_type, text: jsonTextOf(delivery) }),
  );
  await inbox.storeDeliveries(deliveries);
  const repository = repositoryOf(act);
  const tasks = await inbox.storeEntries(
    (repository === null ? [] : (act.tasks ?? [])).map((row) => {
      const text = JSON.stringify({ ...row, repository });
      return anEntry({
        org: act.org,
        source: 'tasks',
        entryKey: `${String(row.id)}:${taskStateOf(String(row.status))}`,
        text,
        textHash: hashOf(text),
      });
    }),
  );
  return [...deliveries, ...tasks.filter(({ duplicate }) => !duplicate)].map(({ id }) => id);
}

/** Task rows do not name their repository; the act's deliveries do. */
function repositoryOf({ deliveries, tasks }: Act): object | null {
  const address = (tasks ?? [])
    .map((row) => /\/([^/]+\/[^/]+)\/actions\/runs\//.exec(String(row.url))?.[1])
    .find((name) => name !== undefined);
  if (address === undefined) return null;
  const told = deliveries.map((delivery) => (JSON.parse(jsonTextOf(delivery)) as { repository?: object }).repository);
  return (
    told.find((repository) => repository !== undefined) ?? { id: 37, full_name: address, name: address.split('/')[1] }
  );
}

const labels = (added: string[], removed: string[]): DerivedOfAct[number] => ({
  kind: 'issue.labeled',
  derived: { labels_added: added, labels_removed: removed, not_known: [] },
});
const assignees = (kind: string, added: string[], removed: string[]): DerivedOfAct[number] => ({
  kind,
  derived: { assignees_added: added, assignees_removed: removed, not_known: [] },
});
const milestone = (kind: string, before: string | null, after: string | null): DerivedOfAct[number] => ({
  kind,
  derived: { milestone_before: before, milestone_after: after, not_known: [] },
});
const release = (kind: string, isNew: boolean | null): DerivedOfAct[number] => ({
  kind,
  derived: isNew === null ? { not_known: ['became_public'] } : { became_public: isNew, not_known: [] },
});
const job = (derived: JsonObject): DerivedOfAct => [{ kind: 'task.finished', derived }];

/** By the title of the act; where two servers tell different things, what either derives. */
const EXPECTED: Readonly<Record<string, readonly DerivedOfAct[]>> = {
  'second label put on': [[labels(['feature'], [])]],
  // Gitea tells the labels in the middle of the exchange: it says what it is told, and never that the new one came.
  'labels replaced': [[labels(['prio/high'], ['bug', 'feature'])], [labels([], ['bug', 'feature'])]],
  'one label removed': [[labels([], ['prio/high'])], [labels([], [])]],
  'milestone set': [[milestone('issue.milestoned', null, '1.0')]],
  'milestone cleared': [[milestone('issue.demilestoned', '1.0', null)]],
  assigned: [
    [assignees('issue.assigned', ['ben'], []), assignees('issue.assigned', ['cleo'], [])],
    [assignees('issue.assigned', ['ben', 'cleo'], [])],
  ],
  unassigned: [
    [assignees('issue.unassigned', [], ['ben']), assignees('issue.unassigned', [], ['cleo'])],
    [assignees('issue.unassigned', [], ['ben', 'cleo'])],
  ],
  'pull request title edited to a draft': [
    [{ kind: 'pull_request.edited', derived: { left_draft: false, not_known: [] } }],
  ],
  'pull request labelled': [
    [{ kind: 'pull_request.labeled', derived: { labels_added: ['feature'], labels_removed: [], not_known: [] } }],
  ],
  'release with a new tag': [[release('release.published', true)]],
  'release edited (op 13)': [[release('release.updated', false)]],
  // No server tells that a draft was made, so nothing is held about it.
  'draft on an existing tag published': [[release('release.updated', null)]],
  'run 1 build: job success': [job({ failed_after_pass: false, not_known: ['previous_conclusion'] })],
  'run 1 test: job failure': [job({ not_known: ['previous_conclusion', 'failed_after_pass'] })],
  'run 1 test again: job success': [job({ previous_conclusion: 'failure', failed_after_pass: false, not_known: [] })],
  'run 2 build: job failure': [
    job({ previous_conclusion: 'success', failed_after_pass: true, not_known: [] }),
    // The job behind it was skipped and says nothing.
    [...job({ previous_conclusion: 'success', failed_after_pass: true, not_known: [] }), ...job({ not_known: [] })],
  ],
};

describeOnFullSet('recorded acts, what is derived', () => {
  it.each(FOLDERS.map((folder) => [folder.folder.split('/').slice(-2).join('/'), folder] as const))(
    '%s',
    async (_name, folder) => {
      const acts = await play(folder);
      const known = Object.entries(EXPECTED).filter(([title]) => acts.has(title));

      expect(known.length).toBeGreaterThan(12);
      for (const [title, either] of known)
        expect([title, acts.get(title)]).toEqual([
          title,
          either.find((one) => isDeepStrictEqual(one, acts.get(title))) ?? either[0],
        ]);
    },
  );
});
