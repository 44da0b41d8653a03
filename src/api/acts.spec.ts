import { describe, expect, it } from '@jest/globals';
import { StoreUnavailable, UserError } from '../core/errors.js';
import { silentLogger } from '../core/logger.js';
import type { ControlCaller } from '../core/operators.js';
import type { ActStore } from './act-store.port.js';
import { Acts, type ActToRecord } from './acts.js';
import { Ids } from './operations/shared.js';

const ANN: ControlCaller = {
  kind: 'person',
  name: 'person:ann@main',
  login: 'ann',
  scopes: ['read', 'operate', 'approve'],
  grants: [{ org: 'acme', repositories: null, scopes: ['read', 'operate', 'approve'] }],
};
const VISIBLE = [{ org: 'acme', repositories: null }];

type Begun = Parameters<ActStore['begin']>[0];

function recorder(names: readonly string[] = ['acme', 'other'], over: Partial<ActStore> = {}) {
  const begun: Begun[] = [];
  const ended: string[] = [];
  const store: ActStore = {
    begin: async (act) => void begun.push(act),
    end: async (id, outcome) => void ended.push(`${id === begun.at(-1)?.id} ${outcome}`),
    list: async () => [],
    orgOf: async (id) => (id === 'abcd-whole' ? 'acme' : id === 'of-other' ? 'other' : null),
    ...over,
  };
  const orgs = names.map((name) => ({ key: name, name, label: name }));
  const acts = new Acts(
    store,
    new Ids({ like: async (text) => (text === 'abcd' ? [{ kind: 'intent' as const, id: 'abcd-whole' }] : []) }),
    { find: (typed) => orgs.find(({ name }) => name === typed.toLowerCase()) as never, visible: () => orgs as never },
    silentLogger,
  );
  const carryOut = (over_: Partial<ActToRecord> = {}, work: () => unknown = () => 'an answer') =>
    acts.carryOut(
      { operation: 'pause', about: [], takesOrg: false, input: {}, caller: ANN, visibility: VISIBLE, ...over_ },
      work,
    );
  return { begun, ended, carryOut };
}

describe('api/acts', () => {
  it('records an act before it is carried out, and its outcome afterwards', async () => {
    const { begun, ended, carryOut } = recorder();
    const answer = await carryOut({}, () => [begun.length, ended.length]);

    expect(answer).toEqual([1, 0]);
    expect(begun).toMatchObject([
      { id: expect.stringMatching(/^act-/), by: 'person:ann@main', byKind: 'person', operation: 'pause' },
    ]);
    expect(ended).toEqual(['true done']);
  });

  it('tells an answer that refuses from one that did', async () => {
    const { ended, carryOut } = recorder();

    await carryOut({}, () => ({ outcome: 'refused', reasons: ['the rules changed'] }));
    await carryOut({}, () => ({ outcome: 'applied', reasons: [] }));

    expect(ended).toEqual(['true refused', 'true done']);
  });

  it.each([
    [new UserError('NOT_FOUND', 'with a text that is not kept'), 'NOT_FOUND'],
    [new Error('a fault'), 'INTERNAL'],
  ])('keeps the code of an error, and throws it on: %s', async (error, code) => {
    const { ended, carryOut } = recorder();

    await expect(carryOut({}, () => Promise.reject(error))).rejects.toBe(error);
    expect(ended).toEqual([`true ${code}`]);
  });

  it('carries nothing out that cannot be recorded', async () => {
    const { carryOut } = recorder(['acme'], { begin: () => Promise.reject(new StoreUnavailable('away')) });
    let isDone = false;

    await expect(carryOut({}, () => (isDone = true))).rejects.toThrow('away');
    expect(isDone).toBe(false);
  });

  it('answers what was done when the outcome cannot be recorded any more', async () => {
    const { carryOut } = recorder(['acme'], { end: () => Promise.reject(new StoreUnavailable('away')) });

    expect(await carryOut()).toBe('an answer');
  });

  it('keeps the named fields and the reason, cut where they are long, and nothing else of the input', async () => {
    const { begun, carryOut } = recorder();
    const input = {
      name: 'n'.repeat(500),
      scopes: ['read', 'approve'],
      force: true,
      to: 50,
      reason: 'why',
      token: 'x',
    };
    await carryOut({ about: ['name', 'scopes', 'force', 'to', 'absent'], input });

    expect(begun[0]?.about).toEqual({ name: 'n'.repeat(200), scopes: 'read, approve', force: true, to: 50 });
    expect(begun[0]?.reason).toBe('why');
    expect(JSON.stringify(begun)).not.toContain('token');
  });

  it.each<[string, Partial<ActToRecord>, string | null, object]>([
    ['as the config writes it', { takesOrg: true, input: { org: 'ACME' } }, 'acme', {}],
    ['not one that is not visible', { takesOrg: true, input: { org: 'other' } }, null, {}],
    ['none where all are meant', { takesOrg: true }, null, {}],
    ['of the id, which is told whole', { about: ['id'], input: { id: 'ABCD' } }, 'acme', { id: 'abcd-whole' }],
    ['not of an id that is not visible', { about: ['id'], input: { id: 'of-other' } }, null, { id: 'of-other' }],
  ])('tells the organization: %s', async (_, asked, org, about) => {
    const { begun, carryOut } = recorder();
    await carryOut(asked);

    expect(begun[0]).toMatchObject({ org, about });
  });

  it('takes the only organization of the bot where an operation could name one', async () => {
    const { begun, carryOut } = recorder(['acme']);
    await carryOut({ takesOrg: true });
    await carryOut({ takesOrg: false });

    expect(begun.map(({ org }) => org)).toEqual(['acme', null]);
  });
});
