import { describe, expect, it } from '@jest/globals';
import { hashOf } from '../../core/ids.js';
import { linkAfter, recordHash, type AuditKey, type WholeLink } from '../../core/audit-chain.js';
import { auditKey, checkPage as checkPageAt } from './audit-check.js';
import type { AuditStore } from './audit-store.port.js';

const KEY: AuditKey = { id: 'k', hash: (text) => hashOf('key', text) };
const NOW = new Date('2026-11-20T12:00:00Z');
const RECORD = { run: ['a run'], intents: [], attempts: [] };

/** A chain whose runs fare as told, and perhaps a run whose link was taken away. */
function storeOf(
  fates: ReadonlyArray<WholeLink['run']>,
  lost: { readonly behind: number; readonly runId: string } | null = null,
): Pick<AuditStore, 'links' | 'beyond'> {
  const chain: WholeLink[] = [];
  for (const [place, run] of fates.entries()) {
    const told = {
      org: 'acme',
      n: place + 1,
      runId: `run-${place + 1}`,
      asOf: '1',
      keyId: KEY.id,
      record: recordHash(RECORD),
    };
    chain.push({ ...told, link: linkAfter(chain.at(-1)?.link ?? null, told, KEY), run, takenBy: null, cut: null });
  }
  return {
    links: async (_org, after, limit) => ({
      before: chain[after - 1] ?? null,
      links: chain.slice(after, after + limit),
    }),
    beyond: async (_org, last) => (lost !== null && lost.behind === last ? lost.runId : null),
  };
}

type Checked = Parameters<typeof checkPageAt>;
const checkPage = (store: Checked[0], key: AuditKey, org: string, after: number, limit: number) =>
  checkPageAt(store, key, org, after, limit, NOW);

const there = { is: 'there', record: RECORD } as const;

describe('housekeeping/audit/audit-check', () => {
  it('tells of an organization without links that there is nothing, and that this is the end', async () => {
    expect(await checkPage(storeOf([]), KEY, 'acme', 0, 10)).toEqual({
      org: 'acme',
      checked: 0,
      head: null,
      broken: null,
      again: [],
      deleted: [],
      isEnd: true,
    });
  });

  it('checks so many links at once, and says where the next page begins', async () => {
    const store = storeOf([there, there, there]);

    const first = await checkPage(store, KEY, 'acme', 0, 2);
    const second = await checkPage(store, KEY, 'acme', first.head?.n ?? 0, 2);

    expect(first).toMatchObject({ checked: 2, head: { n: 2 }, broken: null, isEnd: false });
    expect(second).toMatchObject({ checked: 1, head: { n: 3 }, broken: null, isEnd: true });
    expect(Object.keys(second.head ?? {})).toEqual(['n', 'link']);
  });

  it('keeps the head of the page before where nothing new stands behind it', async () => {
    const store = storeOf([there]);

    const { head } = await checkPage(store, KEY, 'acme', 0, 1);

    expect(await checkPage(store, KEY, 'acme', 1, 1)).toMatchObject({ checked: 0, head, isEnd: true, broken: null });
  });

  it('names the first link that does not hold, and what was counted up to it', async () => {
    expect(await checkPage(storeOf([there, { is: 'gone' }, { is: 'unmarked' }]), KEY, 'acme', 0, 10)).toMatchObject({
      checked: 3,
      broken: { n: 2, runId: 'run-2', why: 'the run is gone' },
    });
  });

  it('names the runs that a person took up again, which break nothing', async () => {
    const page = await checkPage(storeOf([there, { is: 'sealed-again' }, { is: 'open-again' }]), KEY, 'acme', 0, 10);

    expect(page).toMatchObject({ broken: null, again: ['run-2', 'run-3'] });
  });

  it('names a run whose link was taken away at the end, as the link that should stand there', async () => {
    const why = 'the link of this run is not there';

    expect(await checkPage(storeOf([there], { behind: 1, runId: 'run-9' }), KEY, 'acme', 0, 10)).toMatchObject({
      broken: { n: 2, runId: 'run-9', why },
    });
    expect(await checkPage(storeOf([], { behind: 0, runId: 'run-9' }), KEY, 'acme', 0, 10)).toMatchObject({
      broken: { n: 1, runId: 'run-9', why },
    });
  });

  it('looks behind the last link at the end alone, and not where a link is broken already', async () => {
    const lost = { behind: 1, runId: 'run-9' };

    expect((await checkPage(storeOf([there, there], lost), KEY, 'acme', 0, 1)).broken).toBeNull();
    expect((await checkPage(storeOf([{ is: 'gone' }], lost), KEY, 'acme', 0, 10)).broken).toMatchObject({
      n: 1,
      why: 'the run is gone',
    });
  });

  it('makes its key of the one that seals values, told by a part of a hash', () => {
    const encryptor = { hash: (text: string) => hashOf('secret', text) };

    const { id, hash } = auditKey(encryptor);

    expect(id).toBe(encryptor.hash('forgehand audit').slice(0, 16));
    expect(hash('x')).toBe(encryptor.hash('x'));
  });
});
