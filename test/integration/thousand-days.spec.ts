import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { actions } from '../../src/actions/index.js';
import { Encryptor } from '../../src/core/encryptor.js';
import { newId } from '../../src/core/ids.js';
import type { JsonObject } from '../../src/core/json.js';
import { silentLogger } from '../../src/core/logger.js';
import { Secret } from '../../src/core/secret.js';
import { connectForge } from '../../src/forge/connected-forges.js';
import { ForgeOwners } from '../../src/forge/forge-owners.js';
import { createForgeClient } from '../../src/forge/http/create-forge-client.js';
import { ArchiveInbox } from '../../src/housekeeping/archive-inbox.js';
import { auditKey, checkPage } from '../../src/housekeeping/audit/audit-check.js';
import { HistoryPruner } from '../../src/housekeeping/history-pruner.js';
import { planIntents } from '../../src/pipeline/decide/plan-intents.js';
import { FeedPoller } from '../../src/polling/feed-poller.js';
import { KnownRepositories } from '../../src/polling/known-repositories.js';
import { ListPoller } from '../../src/polling/list-poller.js';
import { TaskPoller } from '../../src/polling/task-poller.js';
import { performAct } from '../../src/sandbox/acts/perform-act.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import type { Stores } from '../../src/store/open-stores.js';
import { aConfig } from '../builders/a-config.js';
import { decideAll } from '../builders/decide-all.js';
import { EffectRig } from '../builders/effect-rig.js';
import { given } from '../builders/given.js';
import { aRun } from '../builders/journal.js';
import { because } from '../builders/reasons.js';
import { makeWebhookApp } from '../builders/webhook-app.js';
import { ManualClock } from '../fakes/manual-clock.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const HISTORY_DAYS = 400;
const SECRET = 'the secret of the hook, 32 letters';
const ENCRYPTOR = new Encryptor(new Secret('0123456789abcdef'.repeat(4)));
const REPO = 'acme/app';
const LABEL = { name: 'kind/bug', color: '#d73a4a' };
const EVENTS = ['push', 'create', 'delete', 'issues', 'issue_comment', 'release', 'repository', 'workflow_job'];

const cleanUps: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** An organization on a sandbox forge, and what of the bot receives, polls, decides, acts, archives and deletes, in virtual time on one store. */
async function start(stores: Stores, clock: ManualClock) {
  const sandbox = await startSandbox({ profile: 'gitea', clock });
  cleanUps.push(() => sandbox.close());
  const queue = { ring: () => undefined };
  const hook = { id: 'acme', org: 'acme', forge: 'main', secrets: [new Secret(SECRET)], authorizations: [] };
  const app = await makeWebhookApp({ hooks: [hook], inbox: stores.inbox, queue, logger: silentLogger, clock });
  await app.init();
  cleanUps.push(() => app.close());
  await prepare(sandbox, (app.getHttpServer().address() as AddressInfo).port);
  const client = createForgeClient({
    baseUrl: sandbox.apiUrl,
    auth: { type: 'basic', username: sandbox.admin.login, password: new Secret(sandbox.admin.password) },
    ratePerS: 1000,
  });
  const { client: learning, capabilities } = await connectForge(client, { username: sandbox.admin.login });
  const polled = { forge: 'main', org: 'acme' };
  const offers = (): boolean => true;
  const owners = new ForgeOwners({ get: () => ({ client, offers }) }, stores.seenRepositories, aConfig({}), clock);
  const repositories = new KnownRepositories({ client, offers, owners, clock }, polled);
  const { inbox, cursors } = stores;
  const startedAt = new Date(clock.now().getTime() + 1_000);
  const common = { inbox, cursors, queue, clock, logger: silentLogger, startedAt, historyDays: HISTORY_DAYS, client };
  const feed = new FeedPoller(common, polled);
  const tasks = new TaskPoller({ ...common, offers, repositories, callsPerPoll: 50 }, polled);
  const lists = new ListPoller(
    { ...common, offers, repositories, callsPerVisit: 50, everyMs: () => HOUR_MS, graceMs: () => 60_000 },
    polled,
  );
  const folder = mkdtempSync(join(tmpdir(), 'forgehand-days-'));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  const archive = new ArchiveInbox(
    aConfig({ retention: { inboxDays: 90, historyDays: HISTORY_DAYS, archive: folder } }),
    { onFlushFailed: () => undefined },
    inbox,
    stores.archive,
    clock,
    silentLogger,
  );
  const rig = new EffectRig({ access: { client: learning, offers: (name) => capabilities.offers(name) } });
  const { journal, recovery } = stores;
  const worker = rig.processOf({ journal, recovery, clock, encryptor: ENCRYPTOR });
  const repo = given(await repositories.list(() => undefined)).map(({ id }) => id)[0] ?? '';
  rig.named.push(repo);

  /** All that came is decided, by rules of which none fires, and compared with the deliveries. @returns new events */
  const decide = async (): Promise<string[]> => {
    await decideAll(inbox, { clock });
    const events = await inbox.undecidedEvents(1_000);
    for (const eventId of events) {
      const run = aRun({ id: newId(), runKey: newId(), state: 'not-fired', cause: { kind: 'event', eventId } });
      await journal.recordDecision({ eventId }, [{ run, intents: [] }]);
    }
    const waiting = await stores.gaps.waiting(clock.now(), 1_000);
    await stores.gaps.settle([...new Set(waiting.map(({ arrivalId }) => arrivalId))], []);
    return events;
  };

  return {
    stores,
    client,
    folder,
    archive,
    decide,
    act: async (name: string, params: JsonObject = {}): Promise<void> => {
      await performAct(sandbox.parts, { as: 'olga', act: name, params: { repo: REPO, ...params } });
      clock.advance(1_000);
    },
    settled: () => sandbox.parts.deliveries.settled(),
    poll: async (): Promise<void> => {
      clock.advance(HOUR_MS);
      for (const source of [feed, tasks, lists])
        // As the loop of polls does it: the forge closes a connection on which nothing was asked for some seconds.
        try {
          await source.poll();
        } catch {
          await source.poll();
        }
    },
    /** A rule wants the label. @returns how that ended */
    wantLabel: async (eventId: string): Promise<string> => {
      const { run, intents } = planIntents(
        {
          forge: 'main',
          org: 'acme',
          rule: 'labels',
          kind: 'rule',
          mode: 'live',
          revisionId: 'rev-1',
          cause: { kind: 'event', eventId },
          repo: { id: repo, owner: 'acme', name: 'app', full_name: REPO, private: false },
          claim: null,
          isAskedFor: false,
          report: { rule: 'labels', verdict: 'fired', reason: because('wanted'), trace: null },
          steps: [{ stepId: 'only', stepNo: 0, action: 'label.ensure', items: [{ itemKey: 'item', params: LABEL }] }],
          lookups: {},
          decidedAt: clock.now(),
        },
        { actions, encryptor: ENCRYPTOR, newId, account: 'forgehand' },
      );
      const id = given(intents[0]).id;
      await journal.recordDecision({ eventId }, [{ run, intents }]);
      await worker.execute(given((await worker.claim([id]))[0]));
      return given(await journal.intent(id)).state;
    },
    /** What housekeeping does in the nights. */
    sleep: async (): Promise<ReadonlyMap<string, number>> => {
      for (const org of await stores.audit.unsealed()) await stores.audit.seal(org, 10_000, 0, auditKey(ENCRYPTOR));
      await archive.run();
      return new HistoryPruner(stores.retention, ENCRYPTOR, clock).run(HISTORY_DAYS);
    },
    labels: async (): Promise<unknown[]> => client.listLabels({ owner: 'acme', repo: 'app' }),
    count: async (table: string): Promise<number> => {
      const [row] = await stores.dataSource.query<Array<{ n: number }>>(`SELECT count(*)::int AS n FROM ${table}`);
      return row?.n ?? -1;
    },
  };
}

async function prepare({ parts, url, controlToken }: Sandbox, port: number): Promise<void> {
  const control = async (route: string, body: object): Promise<void> => {
    const headers = { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/_sandbox/${route}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${route}: ${answer.status} ${await answer.text()}`);
  };
  for (const what of [{ user: 'olga' }, { org: 'acme', owner: 'olga' }, { repo: REPO, auto_init: true }])
    await control('given', what);
  const hook = { org: 'acme', url: `http://127.0.0.1:${port}/webhooks/acme`, secret: SECRET, events: EVENTS };
  await control('hooks', hook);
  await performAct(parts, { as: 'olga', act: 'issue.open', params: { repo: REPO, title: 'an old one' } });
}

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`integration/a thousand days: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    beforeEach(() => test.reset());
    afterAll(() => test?.close());

    it('nothing that was forgotten comes back as new: not by a poll, not by a body that is sent again, not out of the archive', async () => {
      const clock = new ManualClock(new Date(Math.floor(Date.now() / 1000) * 1000).toISOString());
      const bot = await start(test.stores, clock);
      const { inbox } = bot.stores;
      await bot.settled();
      clock.advance(5_000);
      await bot.poll();
      await bot.decide();
      for (let n = 1; n <= 60; n += 1) {
        if (n <= 30) await bot.act('push', { commits: [{ message: `${n}`, files: { 'a.txt': `${n}\n` } }] });
        else await bot.act('issue.open', { title: `Issue ${n}` });
        await bot.act('workflow.run', { workflow: 'ci', jobs: [{ name: 'build', result: 'success' }] });
        await bot.settled();
      }
      for (let n = 1; n <= 5; n += 1) await bot.act('release.publish', { tag: `v${n}`, name: `Release ${n}` });
      await bot.settled();
      const events: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        await bot.poll();
        events.push(...(await bot.decide()));
      }
      expect(events.length).toBeGreaterThan(150);

      // The bot makes a label, and a person deletes it.
      expect(await bot.wantLabel(given(events[0]))).toBe('done');
      const label = given((await bot.labels())[0]) as { id: string };
      await bot.client.deleteLabel({ owner: 'acme', repo: 'app', id: label.id });
      expect(await bot.wantLabel(given(events[1]))).toBe('suppressed');

      const bodies = [];
      for (const { id, kind: is } of await inbox.list({ limit: 10_000 })) {
        const arrival = given(await inbox.get(id));
        if (is === 'delivery' && arrival.kind === 'delivery') bodies.push(arrival);
      }
      expect(bodies.length).toBeGreaterThan(100);

      for (const days of [HISTORY_DAYS + 1, 1_000 - HISTORY_DAYS - 1]) {
        clock.advance(days * DAY_MS);
        const deleted = await bot.sleep();
        // Of a row that was polled the list must first begin seven days later.
        clock.advance(8 * DAY_MS);
        const later = await bot.sleep();
        expect((deleted.get('events') ?? 0) + (later.get('events') ?? 0)).toBeGreaterThan(0);
        expect([await bot.count('events'), await bot.count('runs')]).toEqual([0, 0]);

        for (let n = 0; n < 3; n += 1) {
          await bot.poll();
          expect(await bot.decide()).toEqual([]);
        }
        await inbox.storeDeliveries(
          bodies.map((delivery) => ({ ...delivery, id: newId(), deliveryId: newId(), receivedAt: clock.now() })),
        );
        expect(await bot.decide()).toEqual([]);
        const files = readdirSync(bot.folder);
        let restored = 0;
        for (const file of files) restored += (await bot.archive.restore(join(bot.folder, file))).history;
        expect([files.length > 0, restored > 0]).toEqual([true, true]);
        expect(await bot.decide()).toEqual([]);

        // What is new is new, and the label stays as the person left it.
        await bot.act('issue.open', { title: `after ${days} days` });
        await bot.settled();
        await bot.poll();
        const fresh = await bot.decide();
        expect(fresh).toHaveLength(1);
        expect(await bot.wantLabel(given(fresh[0]))).toBe('suppressed');
        expect(await bot.labels()).toEqual([]);
        const chain = await checkPage(bot.stores.audit, auditKey(ENCRYPTOR), 'acme', 0, 10_000, clock.now());
        expect([chain.broken, chain.deleted.length > 0]).toEqual([null, true]);
      }
    }, 240_000);
  });
}
