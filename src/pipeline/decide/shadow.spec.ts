import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import { ALife, acmeRevision } from '../../../test/builders/a-life.js';
import { FakeForge } from '../../../test/fakes/fake-forge.js';
import { ForgeLookupReader } from '../../actions/lookups/forge-lookup-reader.js';
import type { JournalStore } from '../journal-store.port.js';
import { InMemoryJournalStore } from '../../../test/fakes/in-memory-journal-store.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { isWrite } from '../../forge/operations.js';
import type { OperationName } from '../../forge/operations.js';
import { aRun, anIntent } from '../../../test/builders/journal.js';
import type { Run } from '../../core/run.js';
import { compareShadow, isShadowRule, ruleIdOf, shadowRule, withoutIntents } from './shadow.js';
import { orgOf, shadowOrg } from '../../rules/revisions/shadow-org.js';
import type { ShadowPair } from './shadow.js';
import { because } from '../../../test/builders/reasons.js';

const HEAD = 'version: 1\norg: acme\nrules:\n';
const rule = (id: string, condition: string, more = ''): string =>
  `  - {id: ${id}, on: push, if: '${condition}', ${more}do: {label.ensure: {name: "\${{ event.branch }}", color: "#aabbcc"}}}\n`;
const LIVE = HEAD + rule('same', 'event.branch != "x"') + rule('narrow', 'event.branch == "main"');
const SHADOW =
  HEAD +
  rule('same', 'event.branch != "x"') +
  rule('narrow', 'event.branch == "main" || event.branch == "dev"', 'limits: {effects_per_run: 1, runs_per_hour: 1}, ');

/** A live and a shadow revision over one forge in memory. */
function beside(live: string, shadow: string, journal?: Pick<JournalStore, 'recordDecision'>) {
  const forge = new FakeForge();
  const reader = new ForgeLookupReader({ get: () => ({ client: forge.client, offers: () => true }) });
  const revision = acmeRevision(shadow);
  const life: ALife = new ALife(live, (request, scope) => reader.read(request, scope), {
    revisions: {
      active: async () => ({ id: 'rev-1', revision: life.revision, loadedAt: life.clock.now() }),
      shadow: async () => ({ id: 'shadow-1', revision, loadedAt: life.clock.now() }),
    },
    ...(journal ? { journal: Object.assign(new InMemoryJournalStore(new ManualClock()), journal) } : {}),
  });
  return { forge, life };
}

const push = (id: number, branch: string) =>
  anEvent({ id: `e${id}`, factKey: `k${id}`, data: { branch, ref: `refs/heads/${branch}` } });

async function pairsOf({ journal }: ALife): Promise<ShadowPair[]> {
  const shadows = await journal.runs({ shadow: true, limit: 1000 });
  return Promise.all(
    shadows.map(async (shadow) => {
      const eventId = shadow.cause.kind === 'event' ? shadow.cause.eventId : '';
      const [run] = await journal.runs({ rule: ruleIdOf(shadow.rule), eventId, limit: 1 });
      return { shadow, live: run ? { run, intents: await journal.intentsOfRun(run.id) } : null };
    }),
  );
}

describe('pipeline/decide/shadow', () => {
  it('decides each event with both revisions, stored with the revision of each, under keys of their own', async () => {
    const { life } = beside(LIVE, SHADOW);
    await life.happens(push(1, 'main'));
    await life.happens(push(1, 'main'));

    const runs = (await life.journal.runs({ limit: 99 })).reverse();

    expect(runs.map((run) => [run.rule, run.revisionId, run.mode, run.state])).toEqual([
      ['same', 'rev-1', 'live', 'open'],
      ['narrow', 'rev-1', 'live', 'open'],
      ['shadow/same', 'shadow-1', 'dry-run', 'done'],
      ['shadow/narrow', 'shadow-1', 'dry-run', 'done'],
    ]);
    expect(new Set(runs.map(({ runKey }) => runKey)).size).toBe(4);
    expect(await life.journal.intentsOfRun(runs[3]?.id ?? '')).toEqual([]);
    expect(runs[3]?.trace).toMatchObject({
      wanted: [{ action: 'label.ensure', item: 'main', params: { name: 'main', color: '#aabbcc' } }],
    });
  });

  it('tells by rule where both agree, and samples of where they differ', async () => {
    const { life } = beside(LIVE, SHADOW);
    for (const [n, branch] of ['main', 'dev', 'x'].entries()) await life.happens(push(n, branch));

    expect(compareShadow(await pairsOf(life))).toEqual([
      {
        rule: 'narrow',
        decided: 3,
        fired: 2,
        agree: 2,
        differ: 1,
        samples: [
          expect.objectContaining({
            eventId: 'e1',
            shadow: expect.objectContaining({ verdict: 'fired' }),
            live: expect.objectContaining({ verdict: 'not-fired' }),
          }),
        ],
      },
      { rule: 'same', decided: 3, fired: 2, agree: 3, differ: 0, samples: [] },
    ]);
  });

  it('tells effects that differ, and rules that the live revision does not have', async () => {
    const { life } = beside(LIVE, `${SHADOW.replaceAll('#aabbcc', '#000000')}${rule('new', 'true')}`);
    await life.happens(push(1, 'main'));

    expect(
      compareShadow(await pairsOf(life)).map(({ rule: id, differ, samples }) => [
        id,
        differ,
        samples[0]?.live?.verdict ?? null,
      ]),
    ).toEqual([
      ['narrow', 1, 'fired'],
      ['new', 1, null],
      ['same', 1, 'fired'],
    ]);
  });

  describe('the comparison', () => {
    const run = (over: Partial<Run> = {}): Run => ({ ...aRun(over), endedAt: null, ...over });
    const intent = anIntent({ stepId: 's', itemKey: 'bug', params: { name: 'bug' } });
    const wanted = [{ step: 's', action: 'label.ensure', item: 'bug', params: { name: 'bug' } }];
    const differs = (shadow: Partial<Run>, live: Partial<Run> | null, intents = [intent]): boolean => {
      const [told] = compareShadow([
        { shadow: run({ rule: 'shadow/r', ...shadow }), live: live && { run: run({ rule: 'r', ...live }), intents } },
      ]);
      return told?.differ === 1;
    };

    it('is by the verdict, whatever became of what was wanted', () => {
      for (const state of ['done', 'open', 'failed', 'cancelled'] as const)
        expect(differs({ state: 'done', trace: { wanted } }, { state })).toBe(false);
      for (const state of ['not-fired', 'error', 'gathering', 'coalesced'] as const) {
        expect(differs({ state: 'done', trace: { wanted } }, { state }, [])).toBe(true);
        expect(differs({ state, trace: [] }, { state }, [])).toBe(false);
        expect(differs({ state, trace: [] }, { state: 'open' }, [])).toBe(true);
      }
    });

    it('is by what both want, where both fire', () => {
      const done = { state: 'done' as const };

      expect(differs({ ...done, trace: { wanted } }, done, [])).toBe(true);
      expect(differs({ ...done, trace: [] }, done, [])).toBe(false);
      expect(differs({ ...done, trace: [] }, done)).toBe(true);
      expect(differs({ ...done, trace: { wanted: [{ ...wanted[0], item: 'other' }] } }, done)).toBe(true);
    });

    it('with a rule that the live revision did not ask is a difference when the shadow fires', () => {
      expect([
        differs({ state: 'done' }, null),
        differs({ state: 'not-fired' }, null),
        differs({ state: 'error' }, null),
      ]).toEqual([true, false, false]);
    });

    it('keeps the newest three samples, each with its event and both sides', () => {
      const pairs = ['e5', 'e4', 'e3', 'e2', 'e1'].map((eventId) => ({
        shadow: run({
          id: `s-${eventId}`,
          rule: 'shadow/r',
          state: 'done',
          reason: because('held'),
          cause: { kind: 'event', eventId },
        }),
        live: { run: run({ id: `l-${eventId}`, rule: 'r', state: 'not-fired', reason: because('no') }), intents: [] },
      }));

      const [told] = compareShadow(pairs);

      expect(told).toMatchObject({ rule: 'r', decided: 5, fired: 5, agree: 0, differ: 5 });
      expect(told?.samples.map(({ eventId }) => eventId)).toEqual(['e5', 'e4', 'e3']);
      expect(told?.samples[0]).toEqual({
        eventId: 'e5',
        shadow: { run: 's-e5', verdict: 'fired', reason: 'held' },
        live: { run: 'l-e5', verdict: 'not-fired', reason: 'no' },
      });
    });

    it('of what no event caused names none', () => {
      const shadow = run({ rule: 'shadow/r', state: 'done', cause: { kind: 'tick', tickId: 't', subject: '7' } });

      expect(compareShadow([{ shadow, live: null }])[0]?.samples).toMatchObject([{ eventId: '', live: null }]);
    });
  });

  it('tells nothing of what is sealed or secret', () => {
    const params = {
      name: 'A',
      value: { $sealed: 'v1.x', $hash: 'canary' },
      password: { $secret: 'mirror_token' },
      labels: { bug: true },
    };

    const { run, intents } = withoutIntents({
      run: aRun({ trace: { seen: 1 } }),
      intents: [anIntent({ stepId: 's', itemKey: 'A', params })],
    });

    expect([run.state, intents]).toEqual(['done', []]);
    expect(run.trace).toEqual({
      seen: 1,
      wanted: [{ step: 's', action: 'label.ensure', item: 'A', params: { name: 'A', labels: { bug: true } } }],
    });
    expect(withoutIntents({ run: aRun({ state: 'error', trace: [] }), intents: [] }).run).toMatchObject({
      state: 'error',
      trace: { wanted: [] },
    });
  });

  it('has names of its own for rules and for the organization, which lead back', () => {
    expect([shadowRule('r'), isShadowRule('shadow/r'), isShadowRule('r'), ruleIdOf('shadow/r'), ruleIdOf('r')]).toEqual(
      ['shadow/r', true, false, 'r', 'r'],
    );
    expect([shadowOrg('acme'), orgOf('acme/shadow'), orgOf('acme'), orgOf('a/shadow/b')]).toEqual([
      'acme/shadow',
      'acme',
      'acme',
      'a/shadow/b',
    ]);
  });

  it('is held by no limit of the live rule and counts for none', async () => {
    const { life } = beside(LIVE, SHADOW);
    for (let n = 0; n < 5; n++) await life.happens(push(n, 'main'));

    expect(await life.journal.firedInLastHour('acme', 'narrow', 99)).toBe(5);
    expect((await life.journal.runs({ rule: 'shadow/narrow', limit: 99 })).map(({ state }) => state)).toEqual(
      Array(5).fill('done'),
    );
  });

  it('writes nothing in 10,000 events, and leaves nothing to be written', async () => {
    const reading = `${SHADOW}  - {id: reads, on: push, lookup: {there: labels.list}, if: 'lookups.there.size() == 0', do: {label.ensure: {name: a, color: "#aabbcc"}}}\n`;
    const told = { runs: 0, intents: 0 };
    const { forge, life } = beside('version: 1\norg: acme\nrules: []\n', reading, {
      recordDecision: async (_, plans) => {
        told.runs += plans.length;
        told.intents += plans.reduce((sum, { intents }) => sum + intents.length, 0);
        return [];
      },
    });
    for (let n = 0; n < 10_000; n++) await life.happens(push(n, n % 2 === 0 ? 'main' : 'dev'));

    expect(told).toEqual({ runs: 30_000, intents: 0 });
    expect(forge.calls.length).toBeGreaterThanOrEqual(10_000);
    expect(forge.calls.filter((operation: OperationName) => isWrite(operation))).toEqual([]);
    expect(forge.writes).toEqual([]);
  }, 120_000);
});
