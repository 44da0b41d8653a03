import { beforeEach, describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import { EffectRig } from '../../../test/builders/effect-rig.js';
import { FakeForge } from '../../../test/fakes/fake-forge.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { ForgeError } from '../../core/errors.js';
import type { EventActor } from '../../core/event.js';
import type { ActProver } from '../decide/act-proof.js';
import { KnownMembers } from './budget-keeper.js';
import { saying } from '../../../test/builders/reasons.js';

const HOUR_MS = 3_600_000;
const EVE = { id: '66', login: 'eve' };
const ANN = { id: '5', login: 'ann' };
const label = (n: number) => ({ name: `label-${n}`, color: '#d73a4a' });

describe('pipeline/execute/budget-keeper', () => {
  let rig: EffectRig;

  beforeEach(() => {
    rig = new EffectRig();
    rig.members.set('ann', true).set('eve', false);
  });

  const limit = (budgets: Partial<EffectRig['settings']['budgets']>): void => {
    rig.settings.budgets = { ...rig.settings.budgets, ...budgets };
  };

  it('lets a stranger cause five effects in an hour, and says why the others wait', async () => {
    limit({ perStranger: 5 });

    const intents = [];
    for (let n = 0; n < 8; n += 1) intents.push(await rig.want('label.ensure', label(n), { actor: EVE }));

    expect(rig.written).toHaveLength(5);
    expect(intents.at(-1)).toMatchObject({
      state: 'planned',
      held: true,
      tries: 0,
      reason: saying(
        'held: the budget of actor eve is spent, 5 effects per hour (orgs[].budgets); there is room again in 60 min',
      ),
    });
    expect(rig.alerts).toEqual(expect.arrayContaining(['budget.spent/acme/actor/eve']));
    rig.clock.advance(HOUR_MS);
    expect((await rig.work(intents[5]?.id ?? '')).state).toBe('done');
  });

  it('counts neither the status of a commit nor what the forge refuses against a stranger', async () => {
    limit({ perStranger: 1 });
    const status = (n: number) => ({ sha: 'a'.repeat(40), context: `check-${n}`, state: 'pending' });
    for (let n = 0; n < 3; n += 1)
      expect(await rig.want('status.set', status(n), { actor: EVE })).toMatchObject({ state: 'done' });
    rig.forge.failNext('createLabel', 'refused');
    expect((await rig.want('label.ensure', label(1), { actor: EVE })).state).toBe('refused');

    expect((await rig.want('label.ensure', label(2), { actor: EVE })).state).toBe('done');
    expect((await rig.want('label.ensure', label(3), { actor: EVE })).held).toBe(true);
    expect((await rig.want('status.set', status(4), { actor: EVE })).state).toBe('done');
  });

  it('does not hold up others, on the same repository either', async () => {
    limit({ perStranger: 1 });
    await rig.want('label.ensure', label(1), { actor: EVE });
    await rig.want('label.ensure', label(2), { actor: EVE });

    expect((await rig.want('label.ensure', label(3), { actor: ANN })).state).toBe('done');
    expect((await rig.want('label.ensure', label(4))).state).toBe('done');
  });

  it('takes somebody for a stranger of whom the forge does not tell', async () => {
    limit({ perStranger: 1, perActor: 2 });
    const made = async (login: string, id: string): Promise<number> => {
      const before = rig.written.length;
      for (let n = 0; n < 4; n += 1)
        await rig.want('label.ensure', { ...label(n), name: `${login}-${n}` }, { actor: { id, login } });
      return rig.written.length - before;
    };

    expect([await made('eve', '66'), await made('nobody-knows', '67'), await made('ann', '5')]).toEqual([1, 1, 2]);
  });

  describe('where a delivery alone says who caused it', () => {
    const claimed = async (actor: EventActor, count: number): Promise<void> => {
      for (let n = 0; n < count; n += 1) {
        const event = anEvent({ id: `by-${actor.login}-${n}`, kind: 'issue.opened', actor });
        rig.events.set(event.id, event);
        await rig.want(
          'label.ensure',
          { ...label(n), name: `${actor.login}-${n}` },
          { actor, eventId: event.id, isClaim: true },
        );
      }
    };
    const unproven: ActProver = {
      prove: async () => ({ proven: false, code: 'act.other_author', reason: 'the forge names eve' }),
    };

    it("gives nobody a member's budget for the name of a member, nor one more for each name", async () => {
      limit({ perStranger: 2, perActor: null });
      rig.acts = unproven;
      rig.members.set('bob', true).set('mallory', false);

      await claimed(ANN, 3);
      await claimed({ id: '7', login: 'bob' }, 3);
      await claimed({ id: '8', login: 'mallory' }, 3);
      await claimed({ id: '-2', login: 'gitea-actions' }, 3);

      expect(rig.written).toHaveLength(2);
      expect(rig.alerts).toContain('budget.spent/acme/actor/of unconfirmed deliveries');
    });

    describe('and several tell one act of a member', () => {
      const comment = (eventId: string, act: string) => {
        rig.events.set(eventId, anEvent({ id: eventId, kind: 'comment.created', actor: ANN }));
        acts.set(eventId, act);
        return (name: string, rule = 'r1') =>
          rig.want('label.ensure', { ...label(1), name }, { actor: ANN, eventId, isClaim: true, rule });
      };
      const acts = new Map<string, string>();
      beforeEach(() => {
        limit({ perStranger: 2, perActor: 3 });
        rig.acts = {
          prove: async (event) => {
            const act = acts.get(event.id) ?? '';
            return { proven: true, by: 'comment', actor: ANN, event, newer: [], acts: [act] };
          },
        };
      });

      it('charges her for the first alone, with all that it causes', async () => {
        const first = comment('t0', 'comment 55');
        await first('a');
        await first('b', 'r2');
        for (let n = 1; n <= 6; n += 1) await comment(`t${n}`, 'comment 55')(`again-${n}`);
        expect(rig.written).toHaveLength(2 + 2);
        expect(new Set(rig.alerts)).toEqual(new Set(['budget.spent/acme/actor/of unconfirmed deliveries']));

        expect((await comment('next', 'comment 56')('honest')).state).toBe('done');
        expect((await comment('last', 'comment 57')('over')).reason).toEqual(
          saying(expect.stringContaining('the budget of actor ann is spent, 3 effects')),
        );
      });

      it('asks the forge by the name of budgets, so that what a rule acted upon is none of their business', async () => {
        const rules: unknown[] = [];
        rig.acts = {
          prove: async (event, _, rule) => {
            rules.push(rule);
            return { proven: true, by: 'comment', actor: ANN, event, newer: [], acts: [] };
          },
        };
        await comment('t0', 'comment 55')('a');
        expect(rules).toEqual(['@budget']);
      });
    });

    it('gives members their own, where the forge confirms them', async () => {
      limit({ perStranger: 1, perActor: 3 });

      await claimed(ANN, 4);
      await claimed(EVE, 4);

      expect(rig.written).toHaveLength(3 + 1);
    });

    it('waits for a forge that cannot be asked, and burns no try', async () => {
      limit({ perStranger: 1 });
      rig.acts = {
        prove: async () =>
          Promise.reject(new ForgeError('not-sent', 'getIssue: nobody answers', { operation: 'getIssue' })),
      };
      rig.events.set('e', anEvent({ id: 'e', kind: 'issue.opened', actor: ANN }));

      const intent = await rig.want('label.ensure', label(1), { actor: ANN, eventId: 'e', isClaim: true });

      expect(intent).toMatchObject({
        state: 'planned',
        tries: 0,
        reason: saying(expect.stringContaining('waits for the forge to say who caused it')),
      });
      expect(rig.written).toEqual([]);
    });

    it('takes them for unconfirmed when the forge could not be asked for a day', async () => {
      limit({ perStranger: 1 });
      rig.acts = {
        prove: async () =>
          Promise.reject(new ForgeError('not-sent', 'getIssue: nobody answers', { operation: 'getIssue' })),
      };
      const ids: string[] = [];
      for (const eventId of ['e1', 'e2']) {
        rig.events.set(eventId, anEvent({ id: eventId, kind: 'issue.opened', actor: ANN }));
        ids.push(
          (await rig.want('label.ensure', { ...label(1), name: eventId }, { actor: ANN, eventId, isClaim: true })).id,
        );
      }
      rig.clock.advance(24 * HOUR_MS);

      const ended = [];
      for (const id of ids) ended.push(await rig.work(id));

      expect(ended).toMatchObject([
        { state: 'done' },
        { state: 'planned', held: true, reason: saying(expect.stringContaining('of unconfirmed deliveries')) },
      ]);
    });
  });

  it('counts by repository, whatever its name is now', async () => {
    limit({ perRepository: 1 });
    await rig.want('label.ensure', label(1));

    expect(await rig.want('label.ensure', label(2))).toMatchObject({
      state: 'planned',
      reason: saying(expect.stringContaining('repository acme/app is spent, 1 effect per')),
    });
    expect((await rig.want('org_variable.set', { name: 'V', value: '1' })).state).toBe('done');
  });

  it('stops a rule at its budget, with one alert, until a person lets it go on', async () => {
    limit({ perRule: 3 });
    const ids = [];
    for (let n = 0; n < 20; n += 1) ids.push(await rig.plan('label.ensure', label(n), { rule: 'everything' }));
    for (const id of ids) await rig.work(id);

    expect(rig.written).toHaveLength(3);
    expect((await rig.journal.paused()).map(({ rule, by }) => [rule, by])).toEqual([
      ['everything', 'breaker: budget spent'],
    ]);
    expect(rig.alerts).toEqual(['breaker.budget/acme/everything']);
    expect((await rig.want('label.ensure', label(99), { rule: 'other' })).state).toBe('done');

    rig.clock.advance(HOUR_MS);
    await rig.journal.resume('acme', 'everything');
    expect((await rig.work(ids[3] ?? '')).state).toBe('done');
  });

  it('counts nothing that a dry run would have done', async () => {
    limit({ effectsPerHour: 1, perStranger: 1, perRule: 1 });
    for (let n = 0; n < 3; n += 1) await rig.want('label.ensure', label(n), { mode: 'dry-run', actor: EVE });

    expect((await rig.want('label.ensure', label(9), { actor: EVE })).state).toBe('done');
  });

  it('counts a call whose outcome is not known', async () => {
    limit({ effectsPerHour: 1 });
    rig.forge.failNext('createLabel', 'unknown');
    await rig.want('label.ensure', label(1));

    expect((await rig.want('label.ensure', label(2))).reason).toEqual(
      saying(expect.stringContaining('budget of organization acme is spent')),
    );
  });
});

describe('pipeline/execute/known-members', () => {
  it.each([
    ['yes', null, true],
    ['no', new ForgeError('refused', 'no', { operation: 'checkOrgMember', status: 404 }), false],
    ['that it tells members alone', new ForgeError('moved', 'see', { operation: 'checkOrgMember', status: 303 }), null],
    ['that there is no such route', new ForgeError('not-offered', 'none', { operation: 'checkOrgMember' }), null],
  ])('takes the word of the forge, and keeps it: %s', async (_, error, answer) => {
    const forge = new FakeForge();
    let asked = 0;
    forge.answer('checkOrgMember', async () => {
      asked += 1;
      if (error) throw error;
      return undefined;
    });
    const members = new KnownMembers({ get: () => forge }, new ManualClock());

    expect([await members.isMember('main', 'acme', 'ann'), await members.isMember('main', 'acme', 'Ann')]).toEqual([
      answer,
      answer,
    ]);
    expect(asked).toBe(1);
  });

  it('asks again when the forge could not be asked', async () => {
    const forge = new FakeForge();
    let asked = 0;
    forge.answer('checkOrgMember', async () => {
      asked += 1;
      throw new ForgeError('not-sent', 'away', { operation: 'checkOrgMember' });
    });
    const members = new KnownMembers({ get: () => forge }, new ManualClock());

    expect([await members.isMember('main', 'acme', 'ann'), await members.isMember('main', 'acme', 'ann')]).toEqual([
      null,
      null,
    ]);
    expect(asked).toBe(2);
  });
});
