import { beforeEach, describe, expect, it } from '@jest/globals';
import { dispatchWorkflow } from '../../actions/workflow-dispatch.action.js';
import { EffectRig } from '../../../test/builders/effect-rig.js';
import type { JsonObject } from '../../core/json.js';
import { textOf } from '../../core/reason.js';
import { findFlip, FLIP_WINDOW_MS, overtakenBy, type FulfilledEffect } from './objections.js';

const HOUR_MS = 3_600_000;
const EVE = { id: '66', login: 'eve' };

describe('pipeline/execute/objections: overtaken', () => {
  it.each<[string, JsonObject, JsonObject, boolean]>([
    ['the same value', { name: 'V', value: '1' }, { name: 'V', value: '1' }, false],
    ['another value', { name: 'V', value: '1' }, { name: 'V', value: '2' }, true],
    ['another field of the object', { name: 'bug', color: '#111111' }, { name: 'bug', description: 'broken' }, false],
    ['a further entry of a list', { add: ['a'] }, { add: ['b'] }, false],
    ['an entry that was taken out since', { add: ['a', 'b'] }, { remove: ['b'] }, true],
    ['taking out an entry that was put in since', { remove: ['a'] }, { add: ['a'] }, true],
    ['an entry, where the whole list was set since', { add: ['a'] }, { set: ['b'] }, true],
    ['the whole list, where an entry was put in since', { set: ['a'] }, { add: ['b'] }, true],
  ])('an older intent for %s', (_what, older, newer, isStale) => {
    const reason = overtakenBy(
      { action: 'x', params: older },
      { id: 'i-2', rule: 'other', action: 'x', params: newer },
    );

    expect(reason === null ? null : textOf(reason)).toBe(
      isStale ? 'overtaken: rule other asked for something else later, and that came first (intent i-2)' : null,
    );
  });

  it('what makes a thing is stale when it was taken away since', () => {
    const params = { name: 'bug' };

    expect(
      overtakenBy({ action: 'label.ensure', params }, { id: 'i', rule: 'r', action: 'label.remove', params }),
    ).not.toBeNull();
  });

  it('is told of any two actions that differ; those that set no value, as a call of a workflow, are made nevertheless', () => {
    const effect = (ref: string) => ({ id: 'i', rule: 'r', action: 'workflow.dispatch', params: { ref } });

    expect(overtakenBy(effect('a'), effect('b'))).not.toBeNull();
    expect([dispatchWorkflow.overwrites, dispatchWorkflow.recover?.absolute]).toEqual([undefined, undefined]);
  });

  describe('on release', () => {
    let rig: EffectRig;

    beforeEach(() => {
      rig = new EffectRig();
      rig.members.set('eve', false);
      rig.settings.budgets = { ...rig.settings.budgets, perStranger: 1 };
    });

    const held = async (params: JsonObject, action = 'org_variable.set'): Promise<string> => {
      await rig.want('label.ensure', { name: 'spends', color: '#111111' }, { actor: EVE });
      const intent = await rig.want(action, params, { actor: EVE });
      expect(intent).toMatchObject({ state: 'planned', held: true });
      return intent.id;
    };

    it('an older intent does not overwrite a newer one', async () => {
      const older = await held({ name: 'V', value: 'old' });
      const newer = await rig.want('org_variable.set', { name: 'V', value: 'new' });
      rig.clock.advance(HOUR_MS);

      const released = await rig.work(older);

      expect(newer.state).toBe('done');
      expect(released).toMatchObject({
        state: 'cancelled',
        attempts: 0,
        result: { code: 'stale.overtaken', by: newer.id },
      });
      expect(rig.written.filter((name) => name.endsWith('OrgVariable'))).toHaveLength(1);
      expect(await rig.journal.run(released.runId)).toMatchObject({ state: 'cancelled' });
    });

    it('the same effect finds it done and ends unchanged', async () => {
      const older = await held({ name: 'bug', color: '#d73a4a' }, 'label.ensure');
      await rig.want('label.ensure', { name: 'bug', color: '#d73a4a' });
      rig.clock.advance(HOUR_MS);

      expect(await rig.work(older)).toMatchObject({ state: 'unchanged', attempts: 0 });
    });

    it('an intent that nobody overtook is made', async () => {
      const older = await held({ name: 'V', value: 'old' });
      rig.clock.advance(HOUR_MS);

      expect((await rig.work(older)).state).toBe('done');
    });
  });
});

const NOW = new Date('2026-11-20T12:00:00Z');
const A = { rule: 'a', params: { name: 'V', value: '1' } };
const B = { rule: 'b', params: { name: 'V', value: '2' } };
const history = (effects: ReadonlyArray<typeof A>, agoMs = 1_000): FulfilledEffect[] =>
  effects.map((effect, n) => ({ ...effect, sentAt: new Date(NOW.getTime() - agoMs * (n + 1)) }));

describe('pipeline/execute/objections: back and forth', () => {
  it('finds two rules that set one thing back and forth after two rounds, and names both', () => {
    expect(findFlip(A, history([B, A, B, A]), NOW)).toEqual(['a', 'b']);
  });

  it.each<[string, ReadonlyArray<typeof A>, number]>([
    ['one round', [B, A], 1_000],
    ['a round and a half', [B, A, B], 1_000],
    ['one rule that changes its mind', [{ ...B, rule: 'a' }, A, { ...B, rule: 'a' }, A], 1_000],
    ['two rules that want the same', [{ ...A, rule: 'b' }, A, { ...A, rule: 'b' }, A], 1_000],
    ['a third rule in between', [B, { ...A, rule: 'c' }, B, A], 1_000],
    ['rounds that lie far apart', [B, A, B, A], FLIP_WINDOW_MS],
  ])('is not: %s', (_, effects, agoMs) => {
    expect(findFlip(A, history(effects, agoMs), NOW)).toBeNull();
  });

  it('compares sealed values by their hash', () => {
    const sealed = (rule: string, hash: string, seal: string) => ({
      rule,
      params: { value: { $sealed: seal, $hash: hash } },
    });
    const before = [sealed('b', 'y', '1'), sealed('a', 'x', '2'), sealed('b', 'y', '3'), sealed('a', 'x', '4')];

    expect(
      findFlip(
        sealed('a', 'x', '5'),
        before.map((effect) => ({ ...effect, sentAt: NOW })),
        NOW,
      ),
    ).toEqual(['a', 'b']);
  });
});
