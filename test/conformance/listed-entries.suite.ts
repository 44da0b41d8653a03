import { beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/core/clock.js';
import type { ForgeEvent } from '../../src/core/event.js';
import type { JsonObject } from '../../src/core/json.js';
import { stringifyJson } from '../../src/core/json.js';
import { silentLogger } from '../../src/core/logger.js';
import { deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { deduplicateInto } from '../../src/events/deduplicate.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { decideArrival } from '../builders/decide-all.js';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import { aDelivery, anEntry } from '../builders/arrivals.js';
import { REPOSITORY, SENDER, sampleBody } from '../builders/sample-bodies.js';

const AT = Date.parse('2026-11-20T18:00:00Z');
const timeOf = (second: number): string => new Date(AT + second * 1000).toISOString().replace('.000', '');
const SINCE = timeOf(-60);

/** What lists show becomes events beside deliveries and rows, with the real deciding, on whatever the inbox stands. */
export function listedEntriesSuite(open: () => Promise<InboxStore>): void {
  let inbox: InboxStore;
  let issue = 5_000;

  beforeEach(async () => {
    inbox = await open();
    issue += 1;
  });

  const decide = async (id: string): Promise<void> =>
    void (await decideArrival(
      {
        inbox,
        queue: { ring: () => undefined },
        clock: systemClock,
        logger: silentLogger,
        events: { readDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews },
      },
      id,
    ));

  const theIssue = (over: JsonObject = {}): JsonObject => ({
    id: issue,
    number: issue,
    title: 'Crash',
    body: 'It crashes',
    state: 'open',
    labels: [],
    assignees: [],
    milestone: null,
    user: SENDER,
    created_at: timeOf(-3600),
    updated_at: timeOf(-3600),
    ...over,
  });
  const labels = (...names: string[]): JsonObject => ({ labels: names.map((name) => ({ id: name.length, name })) });

  const delivered = async (eventType: string, action: string, over: JsonObject): Promise<void> => {
    const text = stringifyJson({ ...sampleBody('issues'), action, number: issue, issue: theIssue(over) });
    const delivery = aDelivery({ eventType, text, body: Buffer.from(text) });
    await inbox.storeDeliveries([delivery]);
    await decide(delivery.id);
  };
  const listed = async (over: JsonObject, around: JsonObject = {}): Promise<void> => {
    const object = theIssue(over);
    const row = { list: 'issues', since: SINCE, repository: REPOSITORY, object, ...around };
    const entryKey = `issue/37/${issue}@${String(object.updated_at)}`;
    const [stored] = await inbox.storeEntries([anEntry({ source: 'lists', entryKey, text: stringifyJson(row) })]);
    if (stored && !stored.duplicate) await decide(stored.id);
  };
  const read = async (opType: string, content: string, second: number): Promise<void> => {
    const row = {
      id: issue * 10 + second,
      op_type: opType,
      content,
      created: timeOf(second),
      repo: REPOSITORY,
      act_user: SENDER,
      ref_name: '',
    };
    const [stored] = await inbox.storeEntries([anEntry({ entryKey: String(row.id), text: stringifyJson(row) })]);
    if (stored && !stored.duplicate) await decide(stored.id);
  };
  const told = async (): Promise<ForgeEvent[]> => {
    const events = await Promise.all((await inbox.undecidedEvents(10_000)).map((id) => inbox.event(id)));
    return events.flatMap((event) => (event?.data.number === issue ? [event] : []));
  };
  const kinds = async (): Promise<string[]> => (await told()).map(({ kind }) => kind).sort();
  const sourcesOf = async ({ id }: ForgeEvent): Promise<string[]> =>
    (await inbox.arrivalsOfEvent(id)).map(({ source }) => source);

  describe('what a list shows', () => {
    it('is no event at the first look, and each difference from it is one later', async () => {
      await listed(labels('bug'), { baseline: true });
      await listed({ ...labels('bug', 'urgent'), assignees: [SENDER], title: 'Crash at start', updated_at: timeOf(5) });

      expect(await kinds()).toEqual(['issue.assigned', 'issue.edited', 'issue.labeled']);
      const labeled = (await told()).find(({ kind }) => kind === 'issue.labeled');
      expect(labeled).toMatchObject({
        source: 'lists',
        actor: null,
        factAt: new Date(timeOf(5)),
        data: { derived: { labels_added: ['urgent'], labels_removed: [] } },
      });
    });

    it('says nothing new about what deliveries told', async () => {
      await listed({}, { baseline: true });
      await delivered('issue_label', 'label_updated', { ...labels('bug'), updated_at: timeOf(1) });
      await delivered('issues', 'edited', { ...labels('bug'), title: 'Crash at start', updated_at: timeOf(2) });
      await listed({ ...labels('bug'), title: 'Crash at start', updated_at: timeOf(2) });

      expect(await kinds()).toEqual(['issue.edited', 'issue.labeled']);
    });

    it('takes a delivery of the same change that comes later, though it is older than the last change', async () => {
      await listed({}, { baseline: true });
      await listed({ ...labels('bug'), updated_at: timeOf(90) });
      await delivered('issue_label', 'label_updated', { ...labels('bug'), updated_at: timeOf(3) });

      const events = await told();
      expect(events.map(({ kind }) => kind)).toEqual(['issue.labeled']);
      expect(events[0] && (await sourcesOf(events[0]))).toEqual(['lists', 'webhook']);
    });

    it('does not take a delivery of a change that came after it was read', async () => {
      await listed({}, { baseline: true });
      await listed({ ...labels('bug'), updated_at: timeOf(3) });
      await delivered('issue_label', 'label_updated', { ...labels('bug', 'urgent'), updated_at: timeOf(60) });

      expect(await kinds()).toEqual(['issue.labeled', 'issue.labeled']);
    });

    it.each<[string, () => Promise<void>]>([
      ['a delivery', () => delivered('issues', 'opened', { created_at: timeOf(0), updated_at: timeOf(0) })],
      ['a row of the feed', () => read('create_issue', `${issue}|Crash`, 0)],
    ])('is one event with %s of the same opening, whichever comes first', async (_other, tell) => {
      await tell();
      await listed({ ...labels('bug'), created_at: timeOf(0), updated_at: timeOf(30) });
      const first = await kinds();
      issue += 1;
      await listed({ ...labels('bug'), created_at: timeOf(0), updated_at: timeOf(30) });
      await tell();

      expect(first).toEqual(['issue.labeled', 'issue.opened']);
      expect(await kinds()).toEqual(['issue.labeled', 'issue.opened']);
    });

    it('tells who opened an issue, when it was closed, and that it was opened again', async () => {
      await listed({ created_at: timeOf(0), updated_at: timeOf(0) });
      await listed({ created_at: timeOf(0), state: 'closed', closed_at: timeOf(7), updated_at: timeOf(9) });
      await listed({ created_at: timeOf(0), updated_at: timeOf(20) });

      const events = await told();
      expect(events.map(({ kind, actor, factAt }) => [kind, actor?.login ?? null, factAt?.toISOString()])).toEqual([
        ['issue.opened', SENDER.login, new Date(timeOf(0)).toISOString()],
        ['issue.closed', null, new Date(timeOf(7)).toISOString()],
        ['issue.reopened', null, new Date(timeOf(20)).toISOString()],
      ]);
    });

    it('joins the closing that a row of the feed told, and its delivery that comes last', async () => {
      await listed({}, { baseline: true });
      await read('close_issue', `${issue}|`, 7);
      await listed({ state: 'closed', closed_at: timeOf(7), updated_at: timeOf(7) });
      await delivered('issues', 'closed', { state: 'closed', closed_at: timeOf(7), updated_at: timeOf(7) });

      expect(await kinds()).toEqual(['issue.closed']);
    });
  });
}
