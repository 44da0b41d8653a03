import { describe, expect, it } from '@jest/globals';
import { because } from '../../test/builders/reasons.js';
import { ForgeError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import {
  changed,
  conflict,
  notYet,
  refused,
  there,
  toWrite,
  unchanged,
  type AnyAction,
  type Decision,
  type Memory,
} from './define-action.js';
import { ensure, verdictOf } from './look-compare-write.js';

const target = { kind: 'repository', id: '7', owner: 'acme', name: 'app' } as never;
const SOME = because('some');

/** A label, in the words of the operations that there are. */
function anAction(over: Partial<AnyAction> = {}): AnyAction {
  return {
    operations: ['createLabel'],
    whereOffered: ['listLabels'],
    looksBy: ['listLabels'],
    about: () => ({ what: 'label', name: 'bug' }),
    look: async () => ({}),
    compare: () => toWrite(null, { makes: true }),
    write: async () => changed(SOME),
    ...over,
  } as unknown as AnyAction;
}

/** What becomes of an open call by one answer of the comparison. */
function after(decision: Decision<unknown>, snapshot: JsonObject | null = null, over: Partial<AnyAction> = {}): object {
  const call = { snapshot, sends: 1, equalFailures: 0, message: null, sentAgoMs: 0, firstSentAt: new Date(0) };
  return verdictOf(anAction({ compare: () => decision, ...over }), { target }, {} as never, {}, call);
}

describe('actions/look-compare-write: after a lost answer', () => {
  it.each<[string, object, object]>([
    ['there', after(there(SOME)), { is: 'done', sure: true, objectId: null }],
    ['there, and may vanish', after(there(SOME, { isSure: false })), { is: 'done', sure: false }],
    ['there, made since', after(there(SOME, { ids: ['5'] }), { ids: ['4'] }), { is: 'done', objectId: '5' }],
    ['there, one of two made since', after(there(SOME, { ids: ['4', '5'] }), { ids: ['4'] }), { is: 'done' }],
    ['there before the call', after(there(SOME, { ids: ['4'] }), { ids: ['4'] }), { is: 'unchanged' }],
    [
      'there, and the call was to edit it',
      after(there(SOME, { ids: ['3', '4'] }), { ids: ['4'], edits: '4' }),
      { is: 'done', detail: { edited: '4' } },
    ],
    ['there, and another was to be edited', after(there(SOME, { ids: ['5'] }), { edits: '4' }), { is: 'unchanged' }],
    ['left alone', after(unchanged(SOME)), { is: 'unchanged' }],
    ['in the way', after(conflict(SOME)), { is: 'conflict' }],
    ['impossible', after(refused(SOME)), { is: 'refused' }],
    ['waiting for others', after(notYet(SOME)), { is: 'resend' }],
    ['nobody can tell', after({ kind: 'person', reason: SOME }), { is: 'person' }],
    ['to be made still', after(toWrite(null, { makes: true })), { is: 'resend' }],
    ['to be written still', after(toWrite(null)), { is: 'resend' }],
  ])('%s', (_, verdict, expected) => {
    expect(verdict).toMatchObject(expected);
  });

  it.each<[string, JsonObject | null, JsonObject, string]>([
    ['as before', { color: 'red' }, { color: 'red' }, 'resend'],
    ['a third value', { color: 'red' }, { color: 'blue' }, 'conflict'],
    ['a third value where there was none', { color: null }, { color: 'blue' }, 'conflict'],
    ['another field than the call was to change', { size: 1 }, { color: 'blue' }, 'conflict'],
    [
      'empty, and left out before',
      { list: null, flag: null, text: null },
      { list: [], flag: false, text: '' },
      'resend',
    ],
    ['gone, and left out now', { flag: false }, { flag: null }, 'resend'],
    ['nothing remembered', null, { color: 'blue' }, 'resend'],
  ])('to be changed still, %s', (_, before, now, expected) => {
    expect(after(toWrite(null, { remember: { before: now } }), { before })).toMatchObject({ is: expected });
  });

  it.each<[string, JsonObject, readonly string[], string]>([
    ['what it was to edit is as before', { ids: ['4'], edits: '4' }, ['4'], 'resend'],
    ['it was to make one, and somebody made it otherwise', { ids: [] }, ['4'], 'conflict'],
    ['it was to make one, and one of an earlier name could be renamed', { ids: [] }, [], 'resend'],
  ])('an object that differs: %s', (_, snapshot, ids, expected) => {
    const edit = toWrite(null, { edits: '4', differs: 'color', remember: { ids: [...ids], edits: '4' } });

    expect(after(edit, snapshot)).toMatchObject({ is: expected });
  });

  it.each([
    ['nothing', 'person'],
    ['doubled', 'person'],
    ['told-twice', 'person'],
    ['run-twice', 'person'],
    ['maybe-changed', 'person'],
    ['harmless', 'resend'],
    ['harmless-draft', 'resend'],
    ['refused-twice', 'resend'],
  ] as const)('not to be read, and "%s" follows => %s', (unread, expected) => {
    const call = { snapshot: null, sends: 1, equalFailures: 0, message: null, sentAgoMs: 0, firstSentAt: new Date(0) };
    const action = anAction({ recover: { unread } });

    expect(verdictOf(action, { target }, {} as never, undefined, call).is).toBe(expected);
  });
});

interface Given {
  readonly memory?: Memory | null;
  readonly lastMade?: Date | null;
  readonly openCalls?: number;
  /** Default: it lists labels. */
  readonly forge?: object;
}

/** Done once: its outcome, and what was asked and remembered on the way. */
async function once(action: AnyAction, given: Given = {}): Promise<{ kind: string; way: unknown[] }> {
  const { memory = null, lastMade = null, openCalls = 0, forge = { listLabels: async () => [] } } = given;
  const way: unknown[] = [];
  const context = {
    target,
    forge,
    openCalls,
    mirrorHosts: [],
    recall: async () => memory,
    lastMade: async () => lastMade,
    remember: (snapshot: JsonObject) => void way.push(snapshot),
  };
  const note =
    <Args extends unknown[], Answer>(name: string, next: (...args: Args) => Answer) =>
    (...args: Args): Answer => {
      way.push(name);
      return next(...args);
    };
  const noted = {
    ...action,
    look: note('look', action.look.bind(action)),
    compare: note('compare', action.compare.bind(action)),
    write: note('write', action.write.bind(action)),
  };
  const { kind } = await ensure(noted as AnyAction, context as never, {} as never);
  return { kind, way };
}

const refusedWith = (status: number) => async (): Promise<never> => {
  throw new ForgeError('refused', SOME, { operation: 'createLabel', status });
};

describe('actions/look-compare-write: doing it', () => {
  it('looks, compares, remembers, and writes', async () => {
    const action = anAction({ compare: () => toWrite(null, { remember: { ids: [] } }) });

    expect(await once(action)).toEqual({ kind: 'changed', way: ['look', 'compare', { ids: [] }, 'write'] });
  });

  it('ends without a call where the comparison says so', async () => {
    expect(await once(anAction({ compare: () => there(SOME) }))).toEqual({
      kind: 'unchanged',
      way: ['look', 'compare'],
    });
  });

  it('reads nothing where the parameters never fit', async () => {
    expect(await once(anAction({ unfit: () => ({ reason: SOME }) }))).toEqual({ kind: 'refused', way: [] });
  });

  it.each<[string, Given, string]>([
    ['the same wish was done before', { memory: { isSameWish: true, params: {}, detail: {} } }, 'unchanged'],
    ['another wish was', { memory: { isSameWish: false, params: {}, detail: {} } }, 'conflict'],
    ['none was', {}, 'changed'],
    ['none was, and the journal is no witness of what nobody can see', { lastMade: new Date(0) }, 'changed'],
  ])('has the journal as its memory where the forge does not tell: %s', async (_, given, expected) => {
    const { kind, way } = await once(anAction(), { ...given, forge: {} });

    expect(kind).toBe(expected);
    expect(way).not.toContain('look');
  });

  it('takes a route that turns out to be missing for a forge that does not tell, where it can do without', async () => {
    const look = async (): Promise<never> => {
      throw new ForgeError('not-offered', SOME, { operation: 'listLabels', status: 404 });
    };

    expect((await once(anAction({ look }))).kind).toBe('changed');
    const { looksBy: _, ...needsIt } = anAction({ look });
    await expect(once(needsIt)).rejects.toMatchObject({ kind: 'not-offered' });
  });

  it('does not make again what a person took away, unless an event would have told it', async () => {
    const matcher = { undoneBy: () => [] };

    expect((await once(anAction(), { lastMade: new Date(0) })).kind).toBe('undone');
    expect((await once(anAction({ recover: { matcher } }), { lastMade: new Date(0) })).kind).toBe('changed');
  });

  it.each<[string, Decision<unknown> | 'unseen', number, string]>([
    ['is as wanted', there(SOME), 0, 'unchanged'],
    ['is not as wanted', conflict(SOME), 0, 'conflict'],
    ['is not there', toWrite(null), 1, 'conflict'],
    ['cannot be seen', 'unseen', 0, 'conflict'],
    ['cannot be seen, and an earlier call of ours is open', 'unseen', 1, 'unchanged'],
  ])('looks once more when the forge refuses a second one: the first %s', async (_, decision, openCalls, expected) => {
    let looks = 0;
    const action = anAction({
      whenTaken: () => SOME,
      write: refusedWith(409),
      look: async () => (looks++ > 0 && decision === 'unseen' ? undefined : {}),
      compare: () => (looks > 1 && decision !== 'unseen' ? decision : toWrite(null)),
    });

    expect(await once(action, { openCalls })).toMatchObject({ kind: expected });
    expect(looks).toBe(2);
  });

  it('lets other refusals pass', async () => {
    await expect(once(anAction({ write: refusedWith(409) }))).rejects.toMatchObject({ kind: 'refused' });
    await expect(once(anAction({ whenTaken: () => SOME, write: refusedWith(422) }))).rejects.toMatchObject({
      facts: { status: 422 },
    });
  });
});
