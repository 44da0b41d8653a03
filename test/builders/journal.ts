import type { NewIntent, NewRun } from '../../src/core/run.js';
import type { Claim, JournalStore } from '../../src/pipeline/journal-store.port.js';
import { because } from './reasons.js';

const AT = new Date('2026-11-20T12:00:00Z');

/** A run of rule `r1` in acme, caused by an event. */
export function aRun(over: Partial<NewRun> = {}): NewRun {
  const id = over.id ?? 'run-1';
  return {
    id,
    forge: 'main',
    org: 'acme',
    rule: 'r1',
    kind: 'rule',
    revisionId: 'rev-1',
    cause: { kind: 'event', eventId: 'event-1' },
    runKey: `key-${id}`,
    mode: 'live',
    state: 'open',
    reason: because('wanted'),
    trace: [],
    lookups: {},
    decidedAt: AT,
    ...over,
  };
}

/** An intent for a label in repository 7 (acme/app); order key and effect key of its own unless told. */
export function anIntent(over: Partial<NewIntent> = {}): NewIntent {
  const id = over.id ?? 'intent-1';
  return {
    id,
    runId: 'run-1',
    forge: 'main',
    org: 'acme',
    rule: 'r1',
    revisionId: 'rev-1',
    stepId: `step-${over.stepNo ?? 0}`,
    stepNo: 0,
    itemKey: id,
    intentKey: `intent-key-${id}`,
    action: 'label.ensure',
    params: { name: id, color: '#ee0701' },
    target: { kind: 'repository', id: '7', owner: 'acme', name: 'app', private: false },
    orderKey: `orderKey-${id}`,
    effectKey: `effect-${id}`,
    mode: 'live',
    plannedAt: AT,
    ...over,
  };
}

/** Null where there was nothing to claim. */
export async function claimOne(
  journal: Pick<JournalStore, 'claim'>,
  id: string,
  owner: string,
  leaseMs: number,
): Promise<Claim | null> {
  return (await journal.claim([id], owner, leaseMs))[0] ?? null;
}

const ORGS = ['acme', 'beta', 'gamma', 'other'];

/** What is due of the organizations of the tests, one after another: what events caused, then what is in the background. */
export async function dueOf(journal: Pick<JournalStore, 'dueIntents'>, limit: number): Promise<string[]> {
  const due = [];
  for (const background of [false, true])
    for (const org of ORGS) due.push(...(await journal.dueIntents(limit, { org, background })));
  return due.slice(0, limit);
}
