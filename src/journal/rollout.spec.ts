import { beforeEach, describe, expect, it } from '@jest/globals';
import { ALife, acmeRevision, aRepository } from '../../test/builders/a-life.js';
import { anEvent } from '../../test/builders/arrivals.js';
import { InMemoryRolloutStore } from '../../test/fakes/in-memory-rollout-store.js';
import { Rollout, isInCanary } from './rollout.js';

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

describe('journal/rollout', () => {
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
    life = new ALife(text, async () => ({ missing: true }), { rollout: { resolve: (...all) => (given.rollout as Rollout).resolve(...all) } });
    store = new InMemoryRolloutStore(life.journal);
    rollout = given.rollout = new Rollout({
      store,
      clock: life.clock,
      alerts: { raise: (key) => void alerts.push(`raise ${key}`), resolve: (key) => void alerts.push(`resolve ${key}`) },
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
      await life.happens(anEvent({ id: `e${n}`, factKey: `e${n}`, repo: aRepository(repo), storedAt: life.clock.now() }));
      life.clock.advance(1000);
    }
  }

  const runs = async () => (await life.journal.runs({ limit: 100_000 })).reverse();
  const promote = (to: number | 'live', force = false) => rollout.promote('acme', staged(), to, 'ann', { force, minDecisions: 20 });

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
    expect(decided.find(({ mode }) => mode === 'dry-run')?.reason).toContain('canary 30%: only recorded, this repository is not in it');
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
    expect((await runs()).at(-1)).toMatchObject({ mode: 'live', reason: expect.stringContaining('promoted to live by ann') });
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
    const commented = acmeRevision(`# a word\n${rulesOf('canary: 10%').trim()}\n  - {id: another, on: push, do: {milestone.ensure: {title: x}}}\n`);
    expect(commented.rules[0]?.textHash).toBe(before.ruleHash);
  });

  it.each(Array.from({ length: REPOSITORIES }, (_, index) => `app-${index + 1}`))('never lets a rule out of its canary that fails in %s', async (faulty) => {
    begin(rulesOf('canary: 30%', faulty));
    for (let round = 1; round <= 5; round += 1) {
      await aRound();
      await expect(promote('live')).rejects.toThrow(/were errors|only what is in mode shadow/);
    }

    const outside = (await runs()).filter(
      ({ mode, cause }) => mode === 'live' && cause.kind === 'event' && !isInCanary('tried', life.events.get(cause.eventId)?.repo ?? null, 30),
    );
    expect(outside).toEqual([]);
    expect(store.rows.some(({ stage }) => stage === 'live')).toBe(false);
  });

  it('falls back by itself at two errors in twenty decisions, with one alert, and writes nothing any more', async () => {
    const chosen = Array.from({ length: REPOSITORIES }, (_, index) => aRepository(index + 1)).find((repo) => isInCanary('tried', repo, 30));
    begin(rulesOf('canary: 30%', chosen?.name));
    for (const id of ['a', 'b']) await life.happens(anEvent({ id, factKey: id, repo: chosen ?? null, storedAt: life.clock.now() }));
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

const FIRST_OF_TRIED = ['1', '13', '46', '59', '77'];
