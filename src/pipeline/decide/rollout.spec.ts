import { beforeEach, describe, expect, it } from '@jest/globals';
import { ALife, acmeRevision, aRepository } from '../../../test/builders/a-life.js';
import { anEvent } from '../../../test/builders/arrivals.js';
import { InMemoryRolloutStore } from '../../../test/fakes/in-memory-rollout-store.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import type { EventRepository } from '../../core/event.js';
import type { RolloutEvidence, RolloutRow } from '../rollout-store.port.js';
import { Rollout, isInCanary, isStaged, textOf } from './rollout.js';
import { because, saying, sentenceOf } from '../../../test/builders/reasons.js';

const REPOSITORIES = 20;
const rulesOf = (head: string, fault = ''): string => `
version: 1
org: acme
rules:
  - id: tried
    ${head}
    on: push
    if: {sound: "${fault === '' ? 'true' : `repo.name != '${fault}' || event.release.id == '1'`}"}
    do: {milestone.ensure: {title: backlog}}
`;

describe('pipeline/decide/rollout', () => {
  let alerts: string[];
  let life: ALife;
  let store: InMemoryRolloutStore;
  let rollout: Rollout;
  let n: number;

  function begin(text: string): void {
    alerts = [];
    n = 0;
    const given: { rollout?: Rollout } = {};
    // The journal of the life is the store's too, so the stage is asked through a hand that is filled below.
    life = new ALife(text, async () => ({ missing: true }), {
      rollout: { resolve: (...all) => (given.rollout as Rollout).resolve(...all) },
    });
    store = new InMemoryRolloutStore(life.journal);
    rollout = given.rollout = new Rollout(store, life.clock, {
      raise: (key) => void alerts.push(`raise ${key}`),
      resolve: (key) => void alerts.push(`resolve ${key}`),
    });
  }

  beforeEach(() => begin(rulesOf('canary: 10%')));

  const staged = () => {
    const [rule] = life.revision.rules;
    if (!rule) throw new Error('no rule');
    return { id: rule.id, kind: 'rule' as const, mode: rule.mode, canary: rule.canary, ruleHash: rule.textHash };
  };

  /** A push in each of twenty repositories. */
  async function aRound(): Promise<void> {
    for (let repo = 1; repo <= REPOSITORIES; repo += 1) {
      n += 1;
      await life.happens(
        anEvent({ id: `e${n}`, factKey: `e${n}`, repo: aRepository(repo), storedAt: life.clock.now() }),
      );
      life.clock.advance(1000);
    }
  }

  const runs = async () => (await life.journal.runs({ limit: 100_000 })).reverse();
  const promote = (to: number | 'live', force = false) =>
    rollout.promote('acme', staged(), to, 'ann', { force, minDecisions: 20 });

  describe('the choice of repositories', () => {
    const among = (rule: string, percent: number): string[] =>
      Array.from({ length: 10_000 }, (_, id) => String(id)).filter((id) => isInCanary(rule, { id }, percent));

    it.each([1, 10, 50, 100])('takes about %i%% of them', (percent) => {
      expect(Math.abs(among('tried', percent).length / 100 - percent)).toBeLessThan(1.5);
    });

    it('keeps those it had when it grows, and is another one for another rule', () => {
      const [small, large] = [among('tried', 10), new Set(among('tried', 30))];

      expect(small.every((id) => large.has(id))).toBe(true);
      expect(among('other', 10)).not.toEqual(small);
      expect(isInCanary('tried', null, 100)).toBe(false);
    });

    it('is the same on every machine', () => {
      expect(among('tried', 10).slice(0, 5)).toEqual(FIRST_OF_TRIED);
    });
  });

  it('writes in the repositories of the canary and records in the others', async () => {
    begin(rulesOf('canary: 30%'));
    await aRound();

    const decided = await runs();
    const chosen = Array.from({ length: REPOSITORIES }, (_, index) => isInCanary('tried', aRepository(index + 1), 30));
    expect(decided.map(({ mode }) => mode === 'live')).toEqual(chosen);
    expect(new Set(chosen)).toEqual(new Set([true, false]));
    expect(decided.find(({ mode }) => mode === 'dry-run')?.reason).toEqual(
      saying(expect.stringContaining('canary 30%: only recorded, this repository is not in it')),
    );
  });

  it('plans nothing that writes for a rule in shadow, over many events', async () => {
    begin(rulesOf('mode: shadow'));
    for (let round = 0; round < 25; round += 1) await aRound();

    const intents = (await Promise.all((await runs()).map(({ id }) => life.journal.intentsOfRun(id)))).flat();
    expect(intents).toHaveLength(25 * REPOSITORIES);
    expect(intents.filter(({ mode }) => mode === 'live')).toEqual([]);
  });

  it('promotes on enough decisions without an error, with the evidence', async () => {
    await expect(promote('live')).rejects.toThrow('it made 0 decisions since its stage began, 20 are wanted');
    await aRound();

    const row = await promote('live');

    expect(row).toMatchObject({ kind: 'promoted', stage: 'live', by: 'ann', forced: false });
    expect(row.evidence).toMatchObject({ from: 'canary 10%', decisions: 20, errors: 0, fired: 20 });
    n = 0;
    await life.happens(anEvent({ id: 'later', factKey: 'later', repo: aRepository(1), storedAt: life.clock.now() }));
    expect((await runs()).at(-1)).toMatchObject({
      mode: 'live',
      reason: saying(expect.stringContaining('promoted to live by ann')),
    });
  });

  it('begins to count again with each stage', async () => {
    await aRound();
    await promote(50);

    await expect(promote('live')).rejects.toThrow('it made 0 decisions since its stage began');
  });

  it('promotes without evidence when forced, and says so', async () => {
    expect(await promote('live', true)).toMatchObject({ stage: 'live', forced: true, evidence: { decisions: 0 } });
  });

  it('forgets a promotion when the text of the rule changes, and not when another does', async () => {
    await aRound();
    await promote('live');
    const before = staged();
    life.revision = acmeRevision(rulesOf('canary: 10%').replace('title: backlog', 'title: later'));

    expect(staged().ruleHash).not.toBe(before.ruleHash);
    expect(await rollout.stage('acme', staged())).toMatchObject({ kind: 'file', stage: 'canary', percent: 10 });
    const commented = acmeRevision(
      `# a word\n${rulesOf('canary: 10%').trim()}\n  - {id: another, on: push, do: {milestone.ensure: {title: x}}}\n`,
    );
    expect(commented.rules[0]?.textHash).toBe(before.ruleHash);
  });

  it.each(Array.from({ length: REPOSITORIES }, (_, index) => `app-${index + 1}`))(
    'never lets a rule out of its canary that fails in %s',
    async (faulty) => {
      begin(rulesOf('canary: 30%', faulty));
      for (let round = 1; round <= 5; round += 1) {
        await aRound();
        await expect(promote('live')).rejects.toThrow(/were errors|only a rule in mode shadow/);
      }

      const outside = (await runs()).filter(
        ({ mode, cause }) =>
          mode === 'live' &&
          cause.kind === 'event' &&
          !isInCanary('tried', life.events.get(cause.eventId)?.repo ?? null, 30),
      );
      expect(outside).toEqual([]);
      expect(store.rows.some(({ stage }) => stage === 'live')).toBe(false);
    },
  );

  it('falls back by itself at two errors in twenty decisions, with one alert, and writes nothing any more', async () => {
    const chosen = Array.from({ length: REPOSITORIES }, (_, index) => aRepository(index + 1)).find((repo) =>
      isInCanary('tried', repo, 30),
    );
    begin(rulesOf('canary: 30%', chosen?.name));
    for (const id of ['a', 'b'])
      await life.happens(anEvent({ id, factKey: id, repo: chosen ?? null, storedAt: life.clock.now() }));
    expect(await rollout.mayWrite('acme', staged())).toBe(false);

    await aRound();

    expect((await runs()).slice(2).every(({ mode }) => mode === 'dry-run')).toBe(true);
    expect(store.rows.map(({ kind, stage }) => [kind, stage])).toEqual([
      ['file', 'canary'],
      ['fallback', 'shadow'],
    ]);
    expect(alerts).toEqual(['raise canary.fell-back/acme/tried']);
    expect(store.rows[1]?.evidence).toMatchObject({ from: 'canary 30%', errors: 2 });
  });

  it('stays in its canary at one error in twenty', async () => {
    begin(rulesOf('canary: 30%', 'app-7'));
    await aRound();

    expect(await rollout.stage('acme', staged())).toMatchObject({ kind: 'file', stage: 'canary' });
    expect(alerts).toEqual([]);
  });

  it('asks nothing about rules that are not tried', async () => {
    begin(rulesOf('mode: live'));
    await aRound();

    expect(store.rows).toEqual([]);
    await expect(promote('live')).rejects.toThrow('tried is live already');
    begin(rulesOf('mode: dry-run'));
    await expect(promote('live')).rejects.toThrow('its file says so');
  });
});

describe('pipeline/decide/rollout, rule by rule', () => {
  const NOBODY: RolloutEvidence = { decisions: 0, fired: 0, notFired: 0, errors: 0, live: 0, recorded: {}, newest: [] };
  const RULE = { id: 'r', kind: 'rule', mode: 'live', canary: 50, ruleHash: 'h1' } as const;
  const [inside, outside] = [true, false].map((isIn) => {
    const id = Array.from({ length: 100 }, (_, n) => String(n)).find(
      (one) => isInCanary('r', { id: one }, 50) === isIn,
    );
    return { ...aRepository(Number(id)) };
  }) as [EventRepository, EventRepository];
  let rows: RolloutRow[];
  let evidence: RolloutEvidence;
  let asked: unknown[];
  let told: unknown[];
  let isBeaten: boolean;
  let clock: ManualClock;
  let rollout: Rollout;

  beforeEach(() => {
    rows = [];
    evidence = NOBODY;
    asked = [];
    told = [];
    isBeaten = false;
    clock = new ManualClock();
    rollout = new Rollout(
      {
        newest: async () => rows.at(-1) ?? null,
        list: async () => rows,
        add: async (row, after) => {
          if (isBeaten || (rows.at(-1)?.id ?? null) !== after) return false;
          rows.push(row);
          return true;
        },
        evidence: async (...all) => (asked.push(all), evidence),
      },
      clock,
      {
        raise: (key, alert, facts) => void told.push(['raise', key, sentenceOf(alert), facts]),
        resolve: (...all) => void told.push(['resolve', ...all]),
      },
    );
  });

  const errors = (count: number): RolloutEvidence => ({
    ...NOBODY,
    decisions: 20,
    errors: count,
    newest: Array.from({ length: 20 }, (_, n) => ({
      runId: `run-${n}`,
      isError: n < count,
      reason: because(`reason ${n}`),
    })),
  });
  const promote = (
    to: number | 'live',
    how: { force: boolean; minDecisions: number } = { force: true, minDecisions: 1 },
    rule: typeof RULE | object = RULE,
  ) => rollout.promote('acme', rule as typeof RULE, to, 'ann', how);

  it('leaves the mode to the file where nothing is tried', async () => {
    for (const mode of ['live', 'dry-run'] as const)
      expect(await rollout.resolve('acme', { ...RULE, mode, canary: null }, inside)).toEqual({ mode, note: null });

    expect(await rollout.resolve('acme', { ...RULE, mode: 'dry-run' }, inside)).toEqual({
      mode: 'dry-run',
      note: null,
    });
    expect(rows).toEqual([]);
  });

  it.each([
    ['a rule that is live', { mode: 'live', canary: null }, true],
    ['a rule in dry-run', { mode: 'dry-run', canary: null }, false],
    ['a rule of a canary', {}, true],
    ['a rule in shadow', { mode: 'shadow', canary: null }, false],
    ['a policy that is live', { kind: 'policy', canary: null }, true],
    ['a policy in shadow', { kind: 'policy', mode: 'shadow', canary: null }, false],
  ])('says whether %s may still write', async (_, over, may) => {
    expect(await rollout.mayWrite('acme', { ...RULE, ...over } as typeof RULE)).toBe(may);
  });

  it('tries rules alone, and those alone that are in shadow or have a canary', () => {
    const staged = (over: object): boolean => isStaged({ ...RULE, ...over } as typeof RULE);

    expect([
      staged({}),
      staged({ mode: 'shadow', canary: null }),
      staged({ canary: undefined }),
      staged({ canary: null }),
      staged({ mode: 'dry-run' }),
    ]).toEqual([true, true, false, false, false]);
    expect([staged({ kind: 'policy' }), staged({ kind: 'policy', mode: 'shadow' })]).toEqual([false, false]);
  });

  it('begins with what the file says, and knows it by the text of the rule', async () => {
    await rollout.resolve('acme', RULE, inside);
    await rollout.resolve('acme', RULE, outside);
    await rollout.resolve('acme', { ...RULE, mode: 'shadow', canary: null, ruleHash: 'h2' }, inside);
    await rollout.resolve('acme', { id: 'r', kind: 'rule', mode: 'shadow' }, inside);

    const own = {
      id: expect.any(String),
      org: 'acme',
      rule: 'r',
      kind: 'file',
      by: 'the rule file',
      at: clock.now(),
      evidence: {},
      forced: false,
    };
    expect(rows).toEqual([
      { ...own, ruleHash: 'h1', stage: 'canary', percent: 50 },
      { ...own, ruleHash: 'h2', stage: 'shadow', percent: null },
      { ...own, ruleHash: '', stage: 'shadow', percent: null },
    ]);
  });

  it('takes the stage that another process began first', async () => {
    const other = { ...(await rollout.stage('acme', RULE)), by: 'another' };
    rows = [];
    isBeaten = true;
    const begun = rollout.stage('acme', RULE);
    rows = [other];

    expect(await begun).toEqual(other);
  });

  it('says with each mode why it is so', async () => {
    expect(await rollout.resolve('acme', RULE, inside)).toEqual({ mode: 'live', note: 'canary 50%' });
    expect(await rollout.resolve('acme', RULE, outside)).toEqual({
      mode: 'shadow',
      note: 'canary 50%: only recorded, this repository is not in it',
    });
    expect(await rollout.resolve('acme', RULE, null)).toEqual({
      mode: 'shadow',
      note: 'canary 50%: only recorded, it is about no repository',
    });
    await promote('live');
    expect(await rollout.resolve('acme', RULE, outside)).toEqual({ mode: 'live', note: 'promoted to live by ann' });
    expect(await rollout.resolve('acme', { ...RULE, mode: 'shadow', canary: null, ruleHash: 'h2' }, inside)).toEqual({
      mode: 'shadow',
      note: null,
    });
  });

  it('falls back at the second error, tells it once, and says so from then on', async () => {
    await rollout.stage('acme', RULE);
    evidence = errors(1);
    expect(await rollout.mayWrite('acme', RULE)).toBe(true);
    evidence = errors(2);
    clock.advance(5_000);

    expect(await rollout.resolve('acme', RULE, inside)).toEqual({
      mode: 'shadow',
      note: 'its canary fell back to shadow',
    });
    expect(await rollout.mayWrite('acme', RULE)).toBe(false);

    expect(rows.at(-1)).toMatchObject({
      kind: 'fallback',
      stage: 'shadow',
      percent: null,
      by: 'forgehand',
      forced: false,
      at: clock.now(),
    });
    expect(rows.at(-1)?.evidence).toEqual({
      from: 'canary 50%',
      since: rows[0]?.at.toISOString(),
      decisions: 20,
      fired: 0,
      not_fired: 0,
      errors: 2,
      live: 0,
      recorded: {},
    });
    expect(told).toEqual([
      [
        'raise',
        'canary.fell-back/acme/r',
        'the canary of rule r in acme fell back to shadow and writes nothing: 2 of its last 20 decisions were errors',
        { org: 'acme', rule: 'r', errors: 2, of: 20, first: 'reason 1' },
      ],
    ]);
    expect(asked).toEqual([
      ['acme', 'r', rows[0]?.at, 20],
      ['acme', 'r', rows[0]?.at, 20],
    ]);
  });

  it('is told of a fallback by the process that wrote it alone', async () => {
    await rollout.stage('acme', RULE);
    evidence = errors(2);
    isBeaten = true;

    expect(await rollout.mayWrite('acme', RULE)).toBe(true);

    expect([rows.length, told]).toEqual([1, []]);
  });

  it('promotes to a share of the repositories, or to all of them', async () => {
    expect(await promote(75)).toMatchObject({
      kind: 'promoted',
      stage: 'canary',
      percent: 75,
      by: 'ann',
      forced: true,
      evidence: { from: 'canary 50%' },
    });
    expect(await promote('live')).toMatchObject({
      kind: 'promoted',
      stage: 'live',
      percent: null,
      evidence: { from: 'canary 75%' },
    });
    expect(told).toEqual([
      ['resolve', 'canary.fell-back/acme/r'],
      ['resolve', 'canary.fell-back/acme/r'],
    ]);
  });

  it('needs no force where the evidence is good, and then records none', async () => {
    evidence = { ...NOBODY, decisions: 3, fired: 2, notFired: 1, live: 1, recorded: { 'label.ensure done': 1 } };

    const row = await promote('live', { force: true, minDecisions: 3 });

    expect(row.forced).toBe(false);
    expect(row.evidence).toEqual({
      from: 'canary 50%',
      since: clock.now().toISOString(),
      decisions: 3,
      fired: 2,
      not_fired: 1,
      errors: 0,
      live: 1,
      recorded: { 'label.ensure done': 1 },
    });
  });

  it.each<[string, RolloutEvidence, string]>([
    ['no decision', NOBODY, 'it made 0 decisions since its stage began, 2 are wanted'],
    ['too few', { ...NOBODY, decisions: 1 }, 'it made 1 decision since its stage began, 2 are wanted'],
    ['an error', errors(1), '1 of its 20 decisions were errors (run run-0: reason 0)'],
    ['an error long ago', { ...errors(0), errors: 1 }, '1 of its 20 decisions were errors'],
  ])('is not promoted on %s', async (_, found, why) => {
    evidence = found;

    await expect(promote('live', { force: false, minDecisions: 2 })).rejects.toMatchObject({
      code: 'NOT_ENOUGH_EVIDENCE',
      message: `r stays canary 50%: ${why} (--force promotes it anyway, and is recorded)`,
    });
  });

  it('is not promoted where its file says another thing', async () => {
    for (const [mode, why] of [
      ['live', 'is live already'],
      ['dry-run', 'is in mode dry-run: its file says so'],
    ])
      await expect(promote('live', undefined, { ...RULE, mode, canary: null })).rejects.toMatchObject({
        code: 'NOTHING_TO_PROMOTE',
        message: `r ${why}; only a rule in mode shadow or with a canary can be promoted`,
      });
  });

  it('is not promoted by one who looked at another stage', async () => {
    await rollout.stage('acme', RULE);
    isBeaten = true;

    await expect(promote('live')).rejects.toMatchObject({
      code: 'CHANGED_MEANWHILE',
      message: 'the stage of r has just changed: check it and try again',
    });
    expect(told).toEqual([]);
  });

  it('is named in words', () => {
    expect([
      textOf({ stage: 'canary', percent: 12.5 }),
      textOf({ stage: 'shadow', percent: null }),
      textOf({ stage: 'live', percent: null }),
    ]).toEqual(['canary 12.5%', 'shadow', 'live']);
  });
});

const FIRST_OF_TRIED = ['1', '13', '46', '59', '77'];
