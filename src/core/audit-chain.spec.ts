import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  cutIdOf,
  firstBroken as firstBrokenAt,
  linkAfter,
  recordHash,
  type AuditCut,
  type AuditKey,
  type AuditRecord,
  type LinkBefore,
  type StoredLink,
  type WholeLink,
} from './audit-chain.js';

const KEY: AuditKey = { id: 'k', hash: (text) => createHmac('sha256', 'secret').update(text).digest('hex') };
const record = (name: string): AuditRecord => ({ run: [name, null], intents: [['effect', '1']], attempts: [['call']] });

const DAY_MICROS = 86_400_000_000;
const NOW = new Date('2026-11-20T12:00:00Z');
const firstBroken = (before: LinkBefore | null, links: readonly StoredLink[], key: AuditKey) =>
  firstBrokenAt(before, links, key, NOW);

function chain(length: number): WholeLink[] {
  const links: WholeLink[] = [];
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
      takenBy: null,
      cut: null,
    });
  }
  return links;
}

/** The chain with its second link changed. */
const changed = (over: Partial<WholeLink>): WholeLink[] =>
  chain(3).map((link) => (link.n === 2 ? { ...link, ...over } : link));

/** The chain with an act as its second link, whatever became of it. */
function renamed(id: string, run: WholeLink['run']): StoredLink[] {
  const [first] = chain(1);
  const next = { org: 'acme', n: 2, runId: id, asOf: '2', keyId: KEY.id, record: recordHash(record(id)) };
  return [...chain(1), { ...next, link: linkAfter(first?.link ?? null, next, KEY), run, takenBy: null, cut: null }];
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

    expect(firstBroken({ n: 1, link: 'x', asOf: null }, links.slice(1), KEY)).toMatchObject({ n: 2 });
    expect(
      firstBroken(null, links, { ...KEY, hash: (text) => createHmac('sha256', 'another').update(text).digest('hex') }),
    ).toMatchObject({ n: 1 });
  });
});

describe('core/audit-chain: what a cut took', () => {
  const at = NOW.getTime() * 1_000;
  /** Days before the cut, as a time of a link. */
  const ago = (days: number): string => String(at - days * DAY_MICROS);

  /** Links of so many days before; those of `taken` were taken by a cut at the end, which says of itself what it says. */
  function cutChain(ages: readonly number[], taken: readonly number[], over: Partial<AuditCut> = {}): StoredLink[] {
    const whole: WholeLink[] = [];
    const add = (runId: string, asOf: string, cut: AuditCut | null): void => {
      const next = { org: 'acme', n: whole.length + 1, runId, asOf, keyId: KEY.id, record: recordHash(record(runId)) };
      const link = linkAfter(whole.at(-1)?.link ?? null, next, KEY);
      whole.push({ ...next, link, run: { is: 'there', record: record(runId) }, takenBy: null, cut });
    };
    for (const [place, age] of ages.entries()) add(`run-${place + 1}`, ago(age), null);
    const cut: AuditCut = {
      n: ages.length + 1,
      fromN: Math.min(...taken),
      toN: Math.max(...taken),
      links: taken.length,
      days: 400,
      newest: ago(401),
      at: String(at),
      ...over,
    };
    add(cutIdOf(cut.n), String(at), cut);
    return whole.map((link) =>
      taken.includes(link.n) ? { n: link.n, link: link.link, takenBy: ages.length + 1, cut } : link,
    );
  }

  const old = [500, 450, 401, 10];

  it.each<[string, StoredLink[]]>([
    ['holds from the beginning', cutChain(old, [1, 2, 3])],
    ['holds with links that stayed between', cutChain(old, [1, 3])],
    ['holds where a clock was put back a little', cutChain([450, 399.5, 401, 10], [3])],
    ['holds where all were taken', cutChain([500, 401], [1, 2])],
  ])('%s', (_, links) => {
    expect(firstBroken(null, links, KEY)).toBeNull();
    for (const [place, link] of links.entries())
      expect(firstBroken({ n: link.n, link: link.link, asOf: null }, links.slice(place + 1), KEY)).toBeNull();
  });

  it.each<[string, StoredLink[], number, RegExp]>([
    [
      'a cut of links that were younger than its age',
      cutChain(old, [1, 2, 3], { newest: ago(399) }),
      5,
      /^it took links that were younger than its 400 days$/,
    ],
    [
      'a cut behind a link that is younger than its age',
      cutChain([500, 390, 401, 10], [1, 3]),
      3,
      /^it took link 3, and an earlier one is younger/,
    ],
    ['a cut of a time to come', cutChain(old, [1], { at: String(at + 2 * DAY_MICROS) }), 5, /has not come yet/],
    [
      'a link that lies before its cut',
      cutChain(old, [2], { fromN: 3, toN: 3 }),
      2,
      /^no cut says that it took link 2$/,
    ],
    [
      'a link that lies behind its cut',
      cutChain(old, [2], { fromN: 1, toN: 1 }),
      2,
      /^no cut says that it took link 2$/,
    ],
    [
      'a link whose cut is not there',
      cutChain(old, [2]).map((link) => (link.takenBy === null ? link : { ...link, cut: null })),
      2,
      /^no cut says that it took link 2$/,
    ],
    [
      'another hash before a link that stayed',
      cutChain(old, [1, 2, 3]).map((link) => (link.n === 3 ? { ...link, link: 'x' } : link)),
      4,
      /or the one before it, was changed/,
    ],
    [
      'a link that was taken and is not there',
      cutChain(old, [1, 2, 3]).filter(({ n }) => n !== 2),
      3,
      /^link 2 is not/,
    ],
  ])('is broken by %s', (_, links, n, why) => {
    expect(firstBroken(null, links, KEY)).toEqual({ n, runId: expect.any(String), why: expect.stringMatching(why) });
  });
});
