import { beforeEach, describe, expect, it } from '@jest/globals';
import { actions } from '../../src/actions/index.js';
import { systemClock } from '../../src/core/clock.js';
import type { ForgeEvent } from '../../src/core/event.js';
import { newId } from '../../src/core/ids.js';
import { silentLogger } from '../../src/core/logger.js';
import type { Run } from '../../src/core/run.js';
import { silentSecurityLog } from '../../src/core/security-log.js';
import { deduplicateInto } from '../../src/events/deduplicate.js';
import { deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { decideArrival } from '../../src/pipeline/decide/decide-arrival.js';
import { AtOnceDecider } from '../../src/pipeline/decide/decide-at-once.js';
import { effectKeyOf } from '../../src/pipeline/decide/plan-intents.js';
import { EffectEchoDetector } from '../../src/pipeline/decide/detect-echoes.js';
import type { Stores } from '../../src/store/open-stores.js';
import { ALife, BOT, THE_SEALER, acmeRevision, theRules } from '../builders/a-life.js';
import { aDelivery } from '../builders/arrivals.js';
import { anIntent, aRun } from '../builders/journal.js';

const RULES = `
version: 1
org: acme
rules:
  - id: idle
    on: issue.opened
    if: event.issue.title == "wanted"
    do: { org_variable.set: { name: idle, value: '\${{ event.issue.title }}' } }
  - id: asks
    on: issue.closed
    lookup: { labels: { use: labels.list } }
    if: lookups.labels.size() > 0
    do: { org_variable.set: { name: asks, value: yes } }
  - id: told
    on: push
    do: { org_variable.set: { name: pushed, value: '\${{ event.branch }}' } }
`;

const REPOSITORY = {
  id: 7,
  name: 'app',
  full_name: 'acme/app',
  owner: { id: 3, login: 'acme' },
  private: false,
  default_branch: 'main',
};

type Kind = 'opened' | 'closed' | 'reopened';

/** @param minute of the act */
function issueText(number: number, action: Kind, minute: number, title = 'one'): string {
  const at = new Date(Date.UTC(2026, 10, 20, 12, minute)).toISOString().replace('.000', '');
  const state = action === 'closed' ? 'closed' : 'open';
  const issue = { id: 100 + number, number, title, state, created_at: at, updated_at: at };
  return JSON.stringify({
    action,
    number,
    issue: { ...issue, closed_at: action === 'closed' ? at : null },
    repository: REPOSITORY,
    sender: { id: 9, login: 'ben' },
  });
}

export type AtOnceStores = Pick<Stores, 'inbox' | 'journal' | 'recovery'>;

/** What needs no answer of anybody is decided in the transaction that makes the event; it comes to what it would come to afterwards. */
export function atOnceSuite(open: () => Promise<AtOnceStores>): void {
  let stores: AtOnceStores;
  let announced: string[];
  beforeEach(async () => {
    stores = await open();
    announced = [];
  });

  const queue = {
    announce: async (topic: string, ids: readonly string[]): Promise<void> =>
      void announced.push(...ids.map((id) => `${topic} ${id}`)),
  };

  function atOnce(): AtOnceDecider {
    const { journal, recovery } = stores;
    const accounts = { self: () => BOT };
    const alerts = { raise: () => undefined, resolve: () => undefined };
    const revision = acmeRevision(RULES);
    const common = { journal, recovery, actions, accounts, clock: systemClock, logger: silentLogger, alerts };
    return new AtOnceDecider({
      ...common,
      rules: theRules,
      echoes: new EffectEchoDetector(common),
      revisions: { active: async () => ({ id: 'rev-1', revision, loadedAt: new Date() }) },
      lookups: { read: async () => ({ missing: true }) },
      acts: { prove: async ({ actor }) => ({ proven: true, by: 'spec', actor }) },
      homes: {
        of: async () => ({ is: 'refused', code: 'repository_gone' }),
        forget: () => undefined,
        doubt: () => undefined,
      },
      security: silentSecurityLog,
      queue,
      tools: { actions, encryptor: THE_SEALER, newId },
    });
  }

  async function decide(ids: readonly string[], decider: AtOnceDecider | null = atOnce()): Promise<void> {
    const events = { readDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews };
    const deps = { inbox: stores.inbox, queue, events, clock: systemClock, logger: silentLogger };
    await Promise.all(ids.map((id) => decideArrival(decider ? { ...deps, atOnce: decider } : deps, id)));
  }

  async function store(texts: readonly string[], eventType = 'issues', org = 'acme'): Promise<string[]> {
    const deliveries = texts.map((text) =>
      aDelivery({ eventType, event: eventType, text, body: Buffer.from(text), org }),
    );
    await stores.inbox.storeDeliveries(deliveries);
    return deliveries.map(({ id }) => id);
  }

  const eventOf = async (arrival = ''): Promise<string> => (await stores.inbox.eventsOfArrival(arrival))[0] ?? '';
  const runsOf = (eventId: string): Promise<Run[]> => stores.journal.runs({ eventId, limit: 9 });

  it('stores an event that no rule asks for as decided, and wakes nobody', async () => {
    const ids = await store([issueText(1, 'reopened', 1)]);

    await decide(ids);

    const eventId = await eventOf(ids[0]);
    expect(await stores.inbox.event(eventId)).toMatchObject({ kind: 'issue.reopened' });
    expect([await stores.inbox.undecidedEvents(9), await runsOf(eventId), announced]).toEqual([[], [], []]);
  });

  it('writes the run of a rule whose condition does not hold as it is written afterwards', async () => {
    const [now = '', later = ''] = await store([issueText(1, 'opened', 1), issueText(2, 'opened', 1)]);
    await decide([now]);
    await decide([later], null);
    const life = new ALife(RULES, async () => ({ missing: true }), {
      journal: stores.journal,
      inbox: stores.inbox,
      clock: systemClock,
      tools: { actions, encryptor: THE_SEALER, newId },
    });
    await life.decides(await eventOf(later));

    const [written] = await runsOf(await eventOf(now));
    const [expected] = await runsOf(await eventOf(later));

    expect(written).toMatchObject({ rule: 'idle', state: 'not-fired', revisionId: 'rev-1' });
    const own = { id: '', runKey: '', cause: null, decidedAt: null, endedAt: null };
    expect({ ...written, ...own }).toEqual({ ...expected, ...own });
    expect(await stores.inbox.undecidedEvents(9)).toEqual([]);
  });

  it('writes what a rule wants with its event, and wakes who does it', async () => {
    const text = JSON.stringify({
      ...{ ref: 'refs/heads/work', before: '1'.repeat(40), after: '2'.repeat(40), commits: [], total_commits: 0 },
      ...{ repository: REPOSITORY, pusher: { id: 9, login: 'ben' }, sender: { id: 9, login: 'ben' } },
    });
    const ids = await store([text], 'push');

    await decide(ids);

    const [run] = await runsOf(await eventOf(ids[0]));
    const intents = await stores.journal.intentsOfRun(run?.id ?? '');
    expect(run).toMatchObject({ rule: 'told', state: 'open' });
    expect(intents).toMatchObject([{ params: { name: 'pushed' }, state: 'planned' }]);
    expect(announced).toEqual(intents.map(({ id }) => `intent ${id}`));
    expect(await stores.inbox.undecidedEvents(9)).toEqual([]);
  });

  it('leaves to the longer way what a rule asks the forge about', async () => {
    const ids = await store([issueText(1, 'closed', 1)]);

    await decide(ids);

    const eventId = await eventOf(ids[0]);
    expect([await stores.inbox.undecidedEvents(9), await runsOf(eventId)]).toEqual([[eventId], []]);
    expect(announced).toEqual([`event ${eventId}`]);
  });

  it('leaves an event behind an undecided one of its object, and no other', async () => {
    const ids = await store([issueText(1, 'closed', 1), issueText(1, 'reopened', 2), issueText(2, 'reopened', 2)]);

    await decide(ids);

    const [asks, behind] = [await eventOf(ids[0]), await eventOf(ids[1])];
    expect(await stores.inbox.undecidedEvents(9)).toEqual([asks, behind]);
    expect(await stores.inbox.isBehindAnother(behind)).toBe(true);
    // Once more, in a transaction of its own.
    const [third = ''] = await store([issueText(1, 'reopened', 3)]);
    await decide([third]);
    expect(await stores.inbox.undecidedEvents(9)).toEqual([asks, behind, await eventOf(third)]);
  });

  it('decides many events of one object at once, in the order in which they were stored', async () => {
    const ids = await store(Array.from({ length: 20 }, (_, n) => issueText(5, 'reopened', n)));

    await decide(ids);

    const events = await Promise.all(ids.map(async (id) => stores.inbox.event(await eventOf(id))));
    expect(events.map((event: ForgeEvent | null) => event?.factAt?.getTime())).toEqual(
      ids.map((_, n) => Date.UTC(2026, 10, 20, 12, n)),
    );
    expect(await stores.inbox.undecidedEvents(99)).toEqual([]);
  });

  describe('an event that may show an effect of ours', () => {
    const labelled = issueText(1, 'reopened', 1).replace('"title"', '"labels":[{"id":1,"name":"Bug"}],"title"');

    async function hasSent(org: string): Promise<void> {
      const repository = { kind: 'repository', id: '7', owner: 'acme', name: 'app' } as const;
      const action = actions.get('label.ensure');
      if (!action) throw new Error('no such action');
      const effectKey = effectKeyOf('main', action, repository, { name: 'Bug' });
      const intent = anIntent({ org, effectKey, lane: 'l' });
      await stores.journal.recordDecision({}, [{ run: aRun({ org }), intents: [intent] }]);
      const claim = await stores.journal.claim(intent.id, 'worker', 60_000);
      await stores.journal.markSent(intent.id, claim?.epoch ?? 0, {
        id: newId(),
        operation: 'createLabel',
        requestHash: '',
      });
    }

    it('is looked at first, where such an effect was sent', async () => {
      await hasSent('acme');
      const ids = await store([labelled]);

      await decide(ids);

      expect(await stores.inbox.undecidedEvents(9)).toEqual([await eventOf(ids[0])]);
    });

    it('is decided at once where none was, or by another organization alone', async () => {
      await hasSent('other');
      const ids = await store([labelled]);

      await decide(ids);

      expect(await stores.inbox.undecidedEvents(9)).toEqual([]);
    });

    it('is looked at first where the bot itself acted', async () => {
      const ids = await store([issueText(1, 'reopened', 1).replace('{"id":9,"login":"ben"}', JSON.stringify(BOT))]);

      await decide(ids);

      expect(await stores.inbox.undecidedEvents(9)).toHaveLength(1);
    });
  });
}
