import { describe, expect, it } from '@jest/globals';
import { aRun } from '../../test/builders/journal.js';
import { InMemoryInboxStore } from '../../test/fakes/in-memory-inbox-store.js';
import { InMemoryJournalStore } from '../../test/fakes/in-memory-journal-store.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import type { AppConfig } from '../config/app-config.js';
import { Metrics } from '../observability/metrics.js';
import { StoreControl } from './store-control.js';

const RULES: Record<string, readonly string[] | null> = { acme: ['labels', 'notes'], other: ['labels'] };

function aControl(rules = RULES): { control: StoreControl; journal: InMemoryJournalStore } {
  const journal = new InMemoryJournalStore(new ManualClock());
  const control = new StoreControl({
    config: { orgs: [{ name: 'acme' }, { name: 'other' }] } as unknown as AppConfig,
    version: '0',
    inbox: new InMemoryInboxStore(),
    journal,
    metrics: new Metrics(),
    running: null,
    forges: () => [],
    org: async () => ({ revision: null, heldBack: [], lacking: [] }),
    ruleIds: async (org) => rules[org] ?? null,
    cursorAge: async () => null,
    replayEvent: async () => [],
    runSchedule: async () => ({ tickId: '', runs: 0 }),
    explain: async () => Promise.reject(new Error('not asked')),
    record: () => undefined,
    nudge: () => undefined,
    now: () => new Date(),
  });
  return { control, journal };
}

describe('admin/store-control', () => {
  it.each([
    ['a rule of one organization', { org: 'ACME', rule: 'notes' }, { org: 'acme', rule: 'notes' }],
    ['a rule wherever it is', { rule: 'notes' }, { org: null, rule: 'notes' }],
    ['everything', {}, { org: null, rule: null }],
  ])('pauses %s', async (_what, scope, row) => {
    const { control, journal } = aControl();

    await control.pause(scope, 'ann');

    expect(await journal.paused()).toMatchObject([row]);
  });

  it.each([
    [{ rule: 'notse' }, 'there is no rule or policy notse in acme, other (did you mean notes?)'],
    [{ org: 'other', rule: 'notes' }, 'there is no rule or policy notes in other'],
    [{ org: 'acne' }, 'the config has no organization acne; it has acme, other'],
  ])('refuses to pause what nobody has: %j', async (scope, message) => {
    const { control, journal } = aControl();

    await expect(control.pause(scope, 'ann')).rejects.toThrow(message);

    expect(await journal.paused()).toEqual([]);
  });

  it('pauses a rule that is gone and has left runs, and any rule while no revision is known', async () => {
    const gone = aControl();
    await gone.journal.recordDecision({}, [{ run: aRun({ rule: 'old' }), intents: [] }]);
    const unknown = aControl({ acme: null, other: null });

    await gone.control.pause({ rule: 'old' }, 'ann');
    await unknown.control.pause({ rule: 'any' }, 'ann');

    expect([...(await gone.journal.paused()), ...(await unknown.journal.paused())].map(({ rule }) => rule)).toEqual(['old', 'any']);
  });
});
