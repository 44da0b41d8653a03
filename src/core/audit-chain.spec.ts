import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { firstBroken, linkAfter, recordHash, type AuditKey, type AuditRecord, type StoredLink } from './audit-chain.js';

const KEY: AuditKey = { id: 'k', hash: (text) => createHmac('sha256', 'secret').update(text).digest('hex') };
const record = (name: string): AuditRecord => ({ run: [name, null], intents: [['effect', '1']], attempts: [['call']] });

function chain(length: number): StoredLink[] {
  const links: StoredLink[] = [];
  for (let n = 1; n <= length; n += 1) {
    const next = {
      org: 'acme',
      n,
      runId: `run-${n}`,
      asOf: String(n),
      keyId: KEY.id,
      record: recordHash(record(`run-${n}`)),
    };
    links.push({
      ...next,
      link: linkAfter(links.at(-1)?.link ?? null, next, KEY),
      run: { is: 'there', record: record(`run-${n}`) },
    });
  }
  return links;
}

/** The chain with its second link changed. */
const changed = (over: Partial<StoredLink>): StoredLink[] =>
  chain(3).map((link) => (link.n === 2 ? { ...link, ...over } : link));

/** The chain with an act as its second link, whatever became of it. */
function renamed(id: string, run: StoredLink['run']): StoredLink[] {
  const [first] = chain(1);
  const next = { org: 'acme', n: 2, runId: id, asOf: '2', keyId: KEY.id, record: recordHash(record(id)) };
  return [...chain(1), { ...next, link: linkAfter(first?.link ?? null, next, KEY), run }];
}

describe('core/audit-chain', () => {
  it.each<[string, Partial<AuditRecord>]>([
    ['a value', { run: ['other', null] }],
    ['none in place of an empty text', { run: ['one', ''] }],
    ['the word that stands for none', { run: ['one', '-'] }],
    ['a value more', { run: ['one', null, null] }],
    ['values that meet elsewhere', { intents: [['effec', 't1']] }],
    ['a row less', { intents: [] }],
    ['a row more', { attempts: [['call'], ['call']] }],
    ['a row of another table', { intents: [['effect', '1'], ['call']], attempts: [] }],
  ])('gives another hash for %s', (_, over) => {
    const one = record('one');

    expect(recordHash({ ...one, ...over })).not.toBe(recordHash(one));
    expect(recordHash(record('one'))).toBe(recordHash(one));
  });

  it('holds from its beginning, and from any link that is known', () => {
    const links = chain(4);

    expect(firstBroken(null, links, KEY)).toBeNull();
    expect(firstBroken(links[1] ?? null, links.slice(2), KEY)).toBeNull();
    expect(firstBroken(null, [], KEY)).toBeNull();
  });

  it('asks nothing of a run that was taken up again but its link', () => {
    for (const is of ['sealed-again', 'open-again'] as const)
      expect(firstBroken(null, changed({ run: { is } }), KEY)).toBeNull();
    expect(firstBroken(null, changed({ run: { is: 'open-again' }, record: 'x' }), KEY)).toMatchObject({ n: 2 });
  });

  it.each<[string, StoredLink[], number, RegExp]>([
    [
      'a record that is not the run’s',
      changed({ run: { is: 'there', record: record('other') } }),
      2,
      /one of its effects/,
    ],
    ['a run that is gone', changed({ run: { is: 'gone' } }), 2, /the run is gone/],
    ['a run without its mark', changed({ run: { is: 'unmarked' } }), 2, /does not say/],
    ['an act that is gone', renamed('act-1', { is: 'gone' }), 2, /^the act is gone$/],
    ['a changed act', renamed('act-1', { is: 'there', record: record('x') }), 2, /^the act was changed$/],
    ['a link of another run', changed({ runId: 'run-9' }), 2, /was changed/],
    ['a link of another time', changed({ asOf: '9' }), 2, /was changed/],
    ['a link of another organization', changed({ org: 'other' }), 2, /was changed/],
    ['another hash of the link', changed({ link: 'x' }), 2, /was changed/],
    ['another key', changed({ keyId: 'other' }), 2, /another keys\.data/],
    ['a link that is missing', chain(3).filter(({ n }) => n !== 2), 3, /^link 2 is not there$/],
    ['links that are missing', chain(4).filter(({ n }) => n !== 2 && n !== 3), 4, /^links 2 to 3 are not there$/],
    ['no beginning', chain(3).slice(1), 2, /^link 1 is not there$/],
    [
      'two links in each other’s place',
      [...chain(3).slice(0, 1), ...chain(3).slice(1).reverse()],
      3,
      /^link 2 is not there$/,
    ],
  ])('is broken by %s', (_, links, n, why) => {
    expect(firstBroken(null, links, KEY)).toEqual({ n, runId: expect.any(String), why: expect.stringMatching(why) });
  });

  it('does not go on behind a link that is not the one before', () => {
    const links = chain(3);

    expect(firstBroken({ n: 1, link: 'x' }, links.slice(1), KEY)).toMatchObject({ n: 2 });
    expect(
      firstBroken(null, links, { ...KEY, hash: (text) => createHmac('sha256', 'another').update(text).digest('hex') }),
    ).toMatchObject({ n: 1 });
  });
});
