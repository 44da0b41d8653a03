import { beforeEach, describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import { InMemoryJournalStore } from '../../../test/fakes/in-memory-journal-store.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { actions } from '../../actions/index.js';
import { Encryptor } from '../../core/encryptor.js';
import type { ForgeEvent } from '../../core/event.js';
import { silentLogger } from '../../core/logger.js';
import { CHECK_RULE } from '../../core/own-rules.js';
import type { Run } from '../../core/run.js';
import { Secret } from '../../core/secret.js';
import type { ActiveRevision } from '../../rules/revisions/active-revisions.port.js';
import { OwnRuns } from './own-runs.js';
import { RuleChecks } from './rule-checks.js';

const SHA = 'a'.repeat(40);
const STATUS = { context: 'forgehand/rules', state: 'success', description: 'These rules would be taken' } as const;

function anActive(...modes: string[]): ActiveRevision {
  const rules = modes.map((mode, n) => ({ id: `r${n}`, mode }));
  return { id: 'rev-1', loadedAt: new Date(0), revision: { rules, policies: [] } } as unknown as ActiveRevision;
}

describe('pipeline/answer/rule-checks', () => {
  let clock: ManualClock;
  let journal: InMemoryJournalStore;
  let isHere: boolean;
  let isTried: boolean;
  let warned: Array<string | undefined>;
  let checks: RuleChecks;

  beforeEach(() => {
    clock = new ManualClock();
    journal = new InMemoryJournalStore(clock);
    [isHere, isTried, warned] = [true, true, []];
    let n = 0;
    const tools = { actions, encryptor: new Encryptor(new Secret('ab'.repeat(32))), newId: () => `id-${(n += 1)}` };
    checks = new RuleChecks(
      {
        commitOf: async ({ data }) => (isHere ? String(data['sha']) : null),
        judge: async () => ({ isTried, problems: [], history: null, status: STATUS }),
      },
      journal,
      { run: async (_topic, _id, work) => work() },
      new OwnRuns(tools, clock),
      { ...silentLogger, warn: (_facts: unknown, text?: string) => void warned.push(text) },
    );
  });

  const pull = (id: string, sha = SHA, number = 3): ForgeEvent =>
    anEvent({ id, factKey: id, kind: 'pull_request.synchronized', data: { number, sha } });
  const record = async (event: ForgeEvent, active: ActiveRevision | null = anActive('live')): Promise<void> =>
    void (await journal.recordDecision({ eventId: event.id }, await checks.planned(active, event)));
  const runs = (): Promise<Run[]> => journal.runs({ rule: CHECK_RULE, limit: 9 });
  const due = async (): Promise<Run> => {
    clock.advance(1_000);
    const [id = ''] = await journal.dueRuns(9);
    return (await journal.run(id)) as Run;
  };

  it('is a run that waits, written with the event once, and wants one status for repository, commit and context', async () => {
    const event = pull('e1');
    await record(event);
    await record(event);
    expect(await runs()).toMatchObject([{ state: 'gathering', mode: 'live', revisionId: 'rev-1' }]);

    await journal.decideGathered(await checks.decide(await due(), event));

    const [run] = await runs();
    expect(run).toMatchObject({ state: 'open', reason: { code: 'run.check', params: { problems: 0 } } });
    expect(await journal.intentsOfRun(run?.id ?? '')).toMatchObject([
      {
        action: 'status.set',
        params: { sha: SHA, ...STATUS },
        effectKey: `${event.forge} | createStatus | repository 7 | ${SHA} forgehand/rules`,
        countsFor: { rule: true, actor: null },
      },
    ]);
  });

  it('says of files that nobody tried that they were not checked', async () => {
    isTried = false;
    const event = pull('e1');
    await record(event);
    await journal.decideGathered(await checks.decide(await due(), event));

    expect(await runs()).toMatchObject([{ state: 'open', reason: { code: 'run.check.untried' } }]);
  });

  it('checks the last head of a pull request, where several come close together', async () => {
    await record(pull('e1'));
    await record(pull('e2', 'b'.repeat(40)));
    await record(pull('e3', SHA, 4));

    expect((await runs()).map(({ cause, state }) => [cause, state])).toEqual([
      [{ kind: 'event', eventId: 'e3' }, 'gathering'],
      [{ kind: 'event', eventId: 'e2' }, 'gathering'],
      [{ kind: 'event', eventId: 'e1' }, 'coalesced'],
    ]);
  });

  it.each([
    ['rules of which none is live', anActive('dry-run', 'shadow'), 'dry-run'],
    ['rules of which one is live', anActive('dry-run', 'live'), 'live'],
    ['no rule', anActive(), 'live'],
    ['no revision yet', null, 'live'],
  ])('with %s', async (_, active, mode) => {
    expect(await checks.planned(active, pull('e1'))).toMatchObject([{ run: { mode } }]);
  });

  it('wants nothing where the rules come from elsewhere, also since then', async () => {
    const event = pull('e1');
    await record(event);
    isHere = false;

    expect(await checks.planned(anActive('live'), pull('e2'))).toEqual([]);
    expect(await checks.decide(await due(), event)).toMatchObject({
      run: { state: 'not-fired', reason: { code: 'run.check.none' } },
      intents: [],
    });
  });

  it('makes one at a time, which no other process takes meanwhile, and waits for it at the end', async () => {
    await record(pull('e1'));
    await record(pull('e2', SHA, 4));
    clock.advance(1_000);
    const [first, second] = await Promise.all((await journal.dueRuns(9)).map((id) => journal.run(id)));
    const began: string[] = [];
    let end = (): void => undefined;
    const work = (id: string) => (): Promise<void> => {
      began.push(id);
      return new Promise((resolve) => (end = resolve));
    };

    checks.begin(first as Run, work('first'));
    checks.begin(second as Run, work('second'));
    await Promise.resolve();
    await Promise.resolve();
    expect(began).toEqual(['first']);
    expect(await journal.dueRuns(9)).toEqual([second?.id]);

    let isStopped = false;
    const stopping = checks.stop().then(() => (isStopped = true));
    await Promise.resolve();
    expect(isStopped).toBe(false);
    end();
    await stopping;
    checks.begin(second as Run, work('second'));
    expect(began).toEqual(['first']);
  });

  it('goes on after one that failed', async () => {
    await record(pull('e1'));
    const run = await due();
    const began: number[] = [];

    checks.begin(run, () => (began.push(1), Promise.reject(new Error('lost the store'))));
    while (warned.length === 0) await new Promise(setImmediate);
    await new Promise(setImmediate);
    checks.begin(run, async () => void began.push(2));
    await checks.stop();
    expect(began).toEqual([1, 2]);
    expect(warned).toEqual(['check.failed']);
  });
});
