import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type AnyAction, changed } from '../actions/define-action.js';
import { actions } from '../actions/index.js';
import { BotError } from '../core/errors.js';
import { intentReason } from '../core/run-reasons.js';
import type { IntentState } from '../core/states.js';
import type { ForgeClient } from '../forge/forge-client.js';
import type { IntentStatus } from '../rules/revisions/active-revisions.port.js';
import { EffectRig, MIRROR_PASSWORD } from '../../test/builders/effect-rig.js';
import { because, saying } from '../../test/builders/reasons.js';
import { claimOne } from '../../test/builders/journal.js';

const BUG = { name: 'bug', color: '#d73a4a' };
const MINUTE_MS = 60_000;

describe('pipeline/execute', () => {
  let rig: EffectRig;

  beforeEach(() => {
    rig = new EffectRig();
  });

  it('refuses an effect whose power was taken away, and tells the security log', async () => {
    rig.settings.powers = [];

    const intent = await rig.want('repo.create_for_user', { username: 'ann', name: 'notes' });

    expect(intent).toMatchObject({ state: 'refused', reason: saying(expect.stringContaining('repo.create_for_user')) });
    expect(rig.written).toEqual([]);
    expect(rig.security).toEqual([
      {
        class: 'power_refused',
        org: 'acme',
        power: 'repo.create_for_user',
        action: 'repo.create_for_user',
        rule: 'wish-1',
        runId: intent.runId,
        intentId: intent.id,
      },
    ]);
  });

  it('asks once what was sent of an effect, however many of its guards want to know', async () => {
    rig.forge.failNext('createLabel', 'not-sent');
    const { id } = await rig.want('label.ensure', BUG);
    rig.clock.advance(MINUTE_MS);
    const asked = jest.spyOn(rig.journal, 'sentOfEffects');

    expect((await rig.work(id)).state).toBe('done');

    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('asks nothing about an effect of which the claim knows that nothing was ever sent', async () => {
    const asked = [jest.spyOn(rig.journal, 'sentOfEffects'), jest.spyOn(rig.journal, 'undoOf')];

    expect((await rig.want('label.ensure', BUG)).state).toBe('done');

    for (const question of asked) expect(question).not.toHaveBeenCalled();
  });

  it('stores the answer of its call with its end', async () => {
    const alone = jest.spyOn(rig.journal, 'recordAnswer');
    const together = jest.spyOn(rig.journal, 'settle');

    const { id } = await rig.want('label.ensure', BUG);

    const answer = { outcome: 'done', objectId: expect.anything() };
    expect(together.mock.calls.map(([settlement]) => settlement.answer)).toEqual([expect.objectContaining(answer)]);
    expect(alone).toHaveBeenCalledTimes(1);
    expect(await rig.journal.attemptsOfIntent(id)).toMatchObject([answer]);
  });

  it('stores the answer of its call before any further call', async () => {
    const known: Array<string | null | undefined> = [];
    const readsOn: AnyAction = {
      ...(actions.get('label.ensure') as AnyAction),
      name: 'label.read_on',
      look: async () => ({ own: [], inherited: [], uses: null }),
      write: async ({ forge }: { forge: Pick<ForgeClient, 'createLabel' | 'listLabels'> }) => {
        await forge.createLabel({ owner: 'acme', repo: 'app', body: BUG });
        await forge.listLabels({ owner: 'acme', repo: 'app' });
        return changed(because('made'));
      },
    } as never;
    (actions as Map<string, AnyAction>).set('label.read_on', readsOn);
    const id = await rig.plan('label.read_on', BUG);
    rig.forge.answer('listLabels', async () => {
      known.push((await rig.journal.attemptsOfIntent(id))[0]?.outcome);
      return [];
    });

    expect((await rig.work(id)).state).toBe('done');
    (actions as Map<string, AnyAction>).delete('label.read_on');

    expect(known).toEqual(['done']);
  });

  describe('retries', () => {
    it('waits as long as the forge asks, burns no try, and then comes through', async () => {
      rig.forge.failNext('createLabel', 'rate-limited', { status: 429, retryAfterS: 7 });

      const limited = await rig.want('label.ensure', BUG);
      const early = await rig.work(limited.id);
      rig.clock.advance(8_000);
      const late = await rig.work(limited.id);

      expect(limited).toMatchObject({ state: 'planned', tries: 0, dueAt: new Date('2026-11-20T12:00:08Z') });
      expect([early.state, late.state]).toEqual(['planned', 'done']);
      expect((await rig.journal.attemptsOfIntent(late.id)).map(({ n, outcome }) => [n, outcome])).toEqual([
        [1, 'rate-limited'],
        [2, 'done'],
      ]);
    });

    it('tries again what was not sent, and gives up after eight tries with its reason', async () => {
      const id = await rig.plan('label.ensure', BUG);
      for (let n = 0; n < 8; n += 1) {
        rig.forge.failNext('createLabel', 'not-sent');
        await rig.work(id);
        rig.clock.advance(15 * MINUTE_MS);
      }

      expect(await rig.work(id)).toMatchObject({
        state: 'dead',
        tries: 8,
        reason: saying(expect.stringContaining('given up after 8 tries: createLabel: not-sent')),
      });
      expect(rig.written).toEqual([]);
      expect(rig.alerts).toEqual(['intent.dead/acme/wish-1']);
    });

    it('comes back from the dead by a retry, with all its tries', async () => {
      const id = await rig.plan('label.ensure', BUG);
      for (let n = 0; n < 8; n += 1) {
        rig.forge.failNext('createLabel', 'not-sent');
        await rig.work(id);
        rig.clock.advance(15 * MINUTE_MS);
      }

      expect(await rig.journal.retry(id, 'ann')).toBe(true);

      expect((await rig.work(id)).state).toBe('done');
    });

    it('takes a read without a usable answer for what it is: nothing happened', async () => {
      rig.forge.failNext('listLabels', 'unknown', { status: 502 });

      const intent = await rig.want('label.ensure', BUG);
      rig.clock.advance(MINUTE_MS);

      expect(intent).toMatchObject({ state: 'planned', tries: 1 });
      expect((await rig.work(intent.id)).state).toBe('done');
    });

    it('lets others of its repository go on where a read fails for its object, and holds back what names it', async () => {
      rig.forge.failNext('listLabels', 'unknown', { status: 500 });
      const failing = await rig.want('label.ensure', BUG);
      const held = await rig.plan('issue.label', { number: '1', add: ['bug'] });
      const other = await rig.plan('milestone.ensure', { title: '1.4' });

      expect(failing).toMatchObject({ state: 'planned', tries: 1, aside: true, object: 'label bug' });
      expect(await claimOne(rig.journal, held, 'another', 1)).toBeNull();
      expect((await rig.work(other)).state).toBe('done');
      rig.clock.advance(MINUTE_MS);
      expect((await rig.work(failing.id)).state).toBe('done');
      expect(await claimOne(rig.journal, held, 'another', 1)).not.toBeNull();
    });

    it('keeps its place while the forge answers nobody, and steps aside where the forge answers others', async () => {
      const id = await rig.plan('label.ensure', BUG);
      const silent = async (): Promise<unknown> => {
        rig.forge.failNext('listLabels', 'unknown');
        rig.clock.advance(15 * MINUTE_MS);
        return rig.work(id);
      };

      expect(await silent()).not.toHaveProperty('aside');
      rig.forge.failNext('getSelf', 'not-sent');
      expect(await silent()).not.toHaveProperty('aside');
      expect(await silent()).toHaveProperty('aside', true);
    });

    it.each([
      ['not-sent', {}],
      ['rate-limited', { status: 429, retryAfterS: 7 }],
    ] as const)('keeps its place where the whole forge is in the way (%s)', async (kind, facts) => {
      rig.forge.failNext('listLabels', kind, facts);

      const { id } = await rig.want('label.ensure', BUG);
      const other = await rig.plan('milestone.ensure', { title: '1.4' });

      expect(await rig.journal.intent(id)).not.toHaveProperty('aside');
      expect(await claimOne(rig.journal, other, 'another', 1)).toBeNull();
    });

    it.each(['refused', 'moved', 'not-offered'] as const)('does not try again what was %s', async (kind) => {
      rig.forge.failNext('createLabel', kind, { status: kind === 'moved' ? 301 : 403 });

      const intent = await rig.want('label.ensure', BUG);

      expect(intent).toMatchObject({ state: 'refused', reason: saying(`createLabel: ${kind} on purpose`) });
      expect(rig.forge.calls.filter((call) => call === 'createLabel')).toHaveLength(1);
    });

    it('waits when the budget of the organization is spent', async () => {
      rig.settings.budgets = { ...rig.settings.budgets, effectsPerHour: 1 };
      await rig.want('label.ensure', BUG);

      const second = await rig.want('label.ensure', { ...BUG, name: 'other' });
      rig.clock.advance(61 * MINUTE_MS);

      expect(second).toMatchObject({ state: 'planned', reason: saying(expect.stringContaining('budget')), tries: 0 });
      expect((await rig.work(second.id)).state).toBe('done');
    });
  });

  describe('the guard before the call', () => {
    it('writes the attempt before the call and its answer after', async () => {
      const id = await rig.plan('label.ensure', BUG);
      const seen: unknown[] = [];
      rig.forge.onWrite = async () =>
        void seen.push((await rig.journal.intent(id))?.state, (await rig.journal.attemptsOfIntent(id))[0]?.outcome);

      const intent = await rig.work(id);

      expect(seen).toEqual(['sent', null]);
      expect(intent.state).toBe('done');
    });

    it.each<[string, (rig: EffectRig, id: string) => Promise<unknown>]>([
      ['a pause of everything', (r) => r.journal.pause({ org: null, rule: null, by: 'ann', at: r.clock.now() })],
      ['a pause of the rule', (r) => r.journal.pause({ org: 'acme', rule: 'wish-1', by: 'ann', at: r.clock.now() })],
    ])('sends nothing after %s that came while it read', async (_, pause) => {
      const id = await rig.plan('label.ensure', BUG);
      rig.forge.answer('listLabels', async () => (await pause(rig, id), []));

      const intent = await rig.work(id);

      expect(intent).toMatchObject({ state: 'planned', attempts: 0 });
      expect(rig.written).toEqual([]);
    });

    it.each<[string, IntentStatus, IntentState]>([
      ['gone', { is: 'cancelled', reason: intentReason('intent.rule-gone', { isLocal: false }) }, 'cancelled'],
      [
        'known better by another process',
        { is: 'later', reason: intentReason('intent.rule-gone', { isLocal: true }) },
        'planned',
      ],
    ])('neither asks nor sends anything for a rule that is %s', async (_, status, state) => {
      rig.status = status;

      const intent = await rig.want('label.ensure', BUG);

      expect(intent).toMatchObject({
        state,
        reason: status.is === 'wanted' ? null : status.reason,
        attempts: 0,
      });
      expect(rig.forge.calls).toEqual([]);
    });

    it('sends nothing for a rule that went while it read, and cancels the rest of its run', async () => {
      rig.forge.answer(
        'listLabels',
        async () => (
          (rig.status = {
            is: 'cancelled',
            reason: intentReason('intent.rule-mode', { mode: 'dry-run', isLocal: false }),
          }),
          []
        ),
      );

      const intent = await rig.want('label.ensure', BUG);

      expect(intent).toMatchObject({
        state: 'cancelled',
        reason: saying('the rule is in mode dry-run now'),
        attempts: 0,
      });
      expect(await rig.journal.run(intent.runId)).toMatchObject({ state: 'cancelled' });
      expect(rig.written).toEqual([]);
    });

    it('sends nothing when the lease was lost while it read, and touches nothing of the new owner', async () => {
      const id = await rig.plan('label.ensure', BUG);
      rig.forge.answer('listLabels', async () => {
        rig.clock.advance(5_000);
        await rig.journal.reclaimExpired();
        await claimOne(rig.journal, id, 'other', 5_000);
        return [];
      });

      const intent = await rig.work(id);

      expect(intent).toMatchObject({ state: 'claimed', epoch: 2, attempts: 0 });
      expect(rig.written).toEqual([]);
    });

    it('gives up when the process stood still right before the call, and tries again: that burns no try', async () => {
      const id = await rig.plan('label.ensure', BUG);
      const { markSent } = rig.journal;
      rig.journal.markSent = async (...args) => {
        const attempt = await markSent.apply(rig.journal, args);
        rig.clock.advanceMonotonic(1_000);
        return attempt;
      };

      const stood = await rig.work(id);
      rig.journal.markSent = markSent;
      rig.clock.advance(MINUTE_MS);

      expect(stood).toMatchObject({
        state: 'planned',
        tries: 0,
        reason: saying(expect.stringContaining('stood still')),
      });
      expect(await rig.journal.attemptsOfIntent(id)).toMatchObject([{ outcome: 'not-sent' }]);
      expect((await rig.work(id)).state).toBe('done');
      expect(rig.written).toEqual(['createLabel']);
    });

    it('makes the call however long the store kept it waiting before it was asked', async () => {
      const id = await rig.plan('label.ensure', BUG);
      const { markSent } = rig.journal;
      rig.journal.markSent = async (...args) => {
        rig.clock.advanceMonotonic(10_000);
        return markSent.apply(rig.journal, args);
      };

      expect((await rig.work(id)).state).toBe('done');
      expect(rig.written).toEqual(['createLabel']);
    });

    it('does not accept a second write of one action', async () => {
      const twice: AnyAction = {
        ...(actions.get('label.ensure') as AnyAction),
        name: 'label.twice',
        write: async ({ forge }: { forge: { createLabel: (args: object) => Promise<unknown> } }) => {
          for (const name of ['a', 'b'])
            await forge.createLabel({ owner: 'acme', repo: 'app', body: { name, color: '#000000' } });
          return changed(because('two'));
        },
      } as never;
      (actions as Map<string, AnyAction>).set('label.twice', twice);

      const intent = await rig.want('label.twice', BUG);
      (actions as Map<string, AnyAction>).delete('label.twice');

      expect(rig.written).toEqual(['createLabel']);
      expect(intent).toMatchObject({ state: 'done', reason: saying(expect.stringContaining('after the write')) });
    });
  });

  describe('a lost owner', () => {
    async function sentAndLost(outcome: 'done' | 'refused' | 'rate-limited' | null): Promise<string> {
      const id = await rig.plan('label.ensure', BUG);
      const claim = await claimOne(rig.journal, id, 'killed', 5_000);
      const attempt = await rig.journal.markSent(id, claim?.epoch ?? 0, {
        id: 'attempt',
        operation: 'createLabel',
        requestHash: 'h',
      });
      if (outcome)
        await rig.journal.recordAnswer(attempt?.id ?? '', { outcome, status: null, message: null, objectId: null });
      rig.clock.advance(5_000);
      await rig.journal.reclaimExpired();
      return id;
    }

    async function handleUnknown(): Promise<void> {
      await rig.unknown.pass(9);
    }

    it.each<['done' | 'refused' | 'rate-limited' | null, string]>([
      [null, 'unknown'],
      ['done', 'done'],
      ['refused', 'refused'],
      ['rate-limited', 'planned'],
    ])('leaves an intent sent with the answer %s, which becomes %s', async (outcome, state) => {
      const id = await sentAndLost(outcome);
      expect((await rig.journal.intent(id))?.state).toBe('unknown');

      await handleUnknown();

      expect((await rig.journal.intent(id))?.state).toBe(state);
      expect(rig.written).toEqual([]);
    });

    it.each<[string, 'done' | 'unknown']>([
      ['its answer comes late and settles it', 'done'],
      ['another worker sent it again by then: its answer changes nothing', 'unknown'],
    ])('was only slow: %s', async (what, state) => {
      const id = await rig.plan('label.ensure', BUG);
      rig.forge.onWrite = async () => {
        rig.clock.advance(5_000);
        await rig.journal.reclaimExpired();
        await handleUnknown();
        if (what.startsWith('another')) {
          await rig.journal.move({
            intentId: id,
            epoch: null,
            from: ['unknown'],
            to: 'planned',
            reason: because('a person said so'),
            dueAt: rig.clock.now(),
          });
          const claim = await claimOne(rig.journal, id, 'other', 5_000);
          await rig.journal.markSent(id, claim?.epoch ?? 0, {
            id: 'other',
            operation: 'createLabel',
            requestHash: 'h',
          });
          await rig.journal.move({
            intentId: id,
            epoch: claim?.epoch ?? 0,
            from: ['sent'],
            to: 'unknown',
            reason: because('no answer'),
          });
          await handleUnknown();
        }
      };

      expect((await rig.work(id)).state).toBe(state);
    });

    it('settles what waits for a person by its late answer, also where it was read about meanwhile', async () => {
      const core = new EffectRig({ profile: 'core' });
      const id = await core.plan('label.ensure', BUG);
      const seen: unknown[] = [];
      core.forge.onWrite = async () => {
        core.clock.advance(5_000);
        await core.journal.reclaimExpired();
        await core.unknown.pass(9);
        seen.push((await core.journal.intent(id))?.state);
      };

      expect((await core.work(id)).state).toBe('done');
      expect(seen).toEqual(['waiting']);
    });

    it('is replaced at once when it had only claimed', async () => {
      const id = await rig.plan('label.ensure', BUG);
      await claimOne(rig.journal, id, 'killed', 5_000);
      rig.clock.advance(5_000);
      await rig.journal.reclaimExpired();

      expect((await rig.work(id)).state).toBe('done');
    });
  });

  describe('the target', () => {
    it('is found by its number when its name changed', async () => {
      const id = await rig.plan('label.ensure', BUG);
      rig.forge.repositories.clear();
      rig.forge.addRepository('renamed', { id: '7' });

      expect((await rig.work(id)).state).toBe('done');
      expect(rig.forge.writes[0]?.args).toMatchObject({ owner: 'acme', repo: 'renamed' });
    });

    it('is found anew when a read is redirected, although its name was read just before', async () => {
      await rig.want('label.ensure', { ...BUG, name: 'first' });
      const id = await rig.plan('label.ensure', BUG);
      rig.forge.repositories.clear();
      rig.forge.addRepository('renamed', { id: '7' });
      rig.forge.failNext('listLabels', 'moved', { status: 301 });

      expect((await rig.work(id)).state).toBe('done');
      expect(rig.forge.writes.at(-1)?.args).toMatchObject({ owner: 'acme', repo: 'renamed' });
    });

    it('is refused by its code, with no call, where the decision saw that it is not ours', async () => {
      const id = await rig.plan('label.ensure', BUG, { ownership: { is: 'refused', code: 'repository_elsewhere' } });
      const intent = await rig.journal.intent(id);

      expect([intent?.orderKey, intent?.effectKey]).toEqual([
        'main/refused/acme',
        'main | createLabel | repository 7 refused to acme | bug',
      ]);
      expect(await rig.work(id)).toMatchObject({ state: 'refused', result: { code: 'repository_elsewhere' } });
      expect(rig.forge.calls).toEqual([]);
    });

    it('is never one that a body puts under the owner of another organization', async () => {
      rig.forge.addRepository('vault', { id: '9', full_name: 'victim/vault', owner: { login: 'victim' } });
      const repo = { id: '9', owner: 'victim', name: 'vault', full_name: 'victim/vault', private: false };

      expect(await rig.want('label.ensure', BUG, { repo })).toMatchObject({
        state: 'refused',
        result: { code: 'repository_elsewhere' },
      });
      expect(rig.written).toEqual([]);
    });

    it('is not the one that took over its name', async () => {
      const id = await rig.plan('label.ensure', BUG);
      rig.forge.addRepository('app', { id: '8' });

      expect(await rig.work(id)).toMatchObject({ state: 'refused', result: { code: 'repository_gone' } });
      expect(rig.written).toEqual([]);
    });

    it('is let go when it went to another owner', async () => {
      const id = await rig.plan('label.ensure', BUG);
      rig.forge.repositories.clear();
      rig.forge.addRepository('app', { id: '7', full_name: 'evil/app', owner: { login: 'evil' } });

      expect(await rig.work(id)).toMatchObject({ state: 'refused', result: { code: 'repository_elsewhere' } });
      expect(rig.written).toEqual([]);
    });

    it('is read once for many intents, and again when that is long ago', async () => {
      await rig.want('label.ensure', BUG);
      await rig.want('label.ensure', { ...BUG, name: 'b' });
      rig.clock.advance(10_000);
      await rig.want('label.ensure', { ...BUG, name: 'c' });

      expect(rig.forge.calls.filter((call) => call === 'getRepoById')).toHaveLength(2);
    });
  });

  it.each<[string, string, (rig: EffectRig) => void]>([
    ['no such action', 'there is no action', () => undefined],
    ['the organization left the config', 'organization acme is no longer in the config', () => undefined],
  ])('refuses with its reason: %s', async (what, reason) => {
    const id = await rig.plan('label.ensure', BUG);
    const lacking = what === 'no such action' ? { actions: new Map() } : { orgs: { get: () => null } };
    await rig.attempt(id, rig.processOf(lacking));

    expect(await rig.journal.intent(id)).toMatchObject({
      state: 'refused',
      reason: saying(expect.stringContaining(reason)),
    });
  });

  it('tells of a fault of ours only its name', async () => {
    rig.forge.answer('listLabels', async () => {
      throw new TypeError('canary: cannot read x of undefined');
    });

    const intent = await rig.want('label.ensure', BUG);

    expect(intent).toMatchObject({ state: 'planned', tries: 1, reason: saying('internal fault (TypeError)') });
  });

  it('claims nothing more once it is told to end', async () => {
    const id = await rig.plan('label.ensure', BUG);

    rig.effects.abort();

    expect(await rig.attempt(id)).toBeNull();
  });

  it('keeps no secret in any stored row, whatever happens', async () => {
    const value = 'canary-variable-value-2f4e';
    const mirror = {
      remote_address: 'https://mirror.example.org/acme/app.git',
      remote_username: 'bot',
      remote_password: { $secret: 'mirror_token' },
    };
    for (const mode of ['live', 'dry-run'] as const) {
      await rig.want(
        'push_mirror.ensure',
        { ...mirror, remote_address: `https://mirror.example.org/acme/${mode}.git` },
        { mode },
      );
      await rig.want('org_variable.set', { name: `V_${mode.replace('-', '_')}`, value }, { mode });
    }
    for (const kind of ['unknown', 'refused', 'not-sent', 'rate-limited'] as const) {
      rig.forge.failNext('createPushMirror', kind, { status: 500 });
      await rig.want('push_mirror.ensure', {
        ...mirror,
        remote_address: `https://mirror.example.org/acme/${kind}.git`,
      });
      rig.clock.advance(60 * MINUTE_MS);
      rig.forge.failNext('createUserVariable', kind, { status: 500 });
      await rig.want('user_variable.create', { name: `V_${kind.replace('-', '_')}`, value });
      rig.clock.advance(60 * MINUTE_MS);
    }
    rig.forge.answer('createOrgVariable', async () => {
      throw new BotError('ODD', 'an odd fault');
    });
    await rig.want('org_variable.set', { name: 'ODD', value });

    const stored = JSON.stringify(rig.journal.dump(), (_, field: unknown) =>
      typeof field === 'bigint' ? String(field) : field,
    );
    expect(stored).toContain('createPushMirror');
    for (const canary of [MIRROR_PASSWORD, value]) {
      for (const form of [
        canary,
        Buffer.from(canary).toString('base64').replace(/=+$/, ''),
        Buffer.from(canary).toString('hex'),
        encodeURIComponent(canary),
      ]) {
        expect(stored).not.toContain(form);
      }
    }
  });
});
