import { z } from 'zod';
import { firstBroken, kindOf, type AuditCut, type AuditKey } from '../../core/audit-chain.js';
import { count, fields, text, texts, time, type Shape } from '../../core/schema.js';
import type { AuditStore } from './audit-store.port.js';
import type { Encryptor } from '../../core/encryptor.js';

/** One part of a chain, as it was found. */
export const auditPage = z.object({
  org: text.describe('Empty = acts that concern no organization alone.'),
  checked: count,
  head: z.object({ n: count, link: text }).nullable().describe('The last link looked at.'),
  broken: z
    .object({ n: count, ...fields('runId why', text) })
    .nullable()
    .describe('`runId` of an act is its id, which begins with act-; of a cut it begins with cut-.'),
  again: texts.describe(
    'Runs and acts that were sealed once more: a person took them up again, or an erasure changed them.',
  ),
  deleted: z
    .array(z.object({ from: count, to: count, links: count, days: count, at: time }))
    .describe(
      'Links that retention deleted with their runs and acts, where the link that says so is on this page: of which numbers, how many, older than how many days, and when.',
    ),
  /** `head` is the last link. */
  isEnd: z.boolean(),
});
export type AuditPage = Shape<typeof auditPage>;

const KEY_ID_DIGITS = 16;

/** The chain uses the key that seals values. Somebody who can only write to the store does not have it. */
export function auditKey(encryptor: Pick<Encryptor, 'hash'>): AuditKey {
  return { id: encryptor.hash('forgehand audit').slice(0, KEY_ID_DIGITS), hash: (text) => encryptor.hash(text) };
}

/** Check the links of an organization behind `after`, at most so many. */
export async function checkPage(
  store: Pick<AuditStore, 'links' | 'beyond'>,
  key: AuditKey,
  org: string,
  after: number,
  limit: number,
  now: Date,
): Promise<AuditPage> {
  const { before, links } = await store.links(org, after, limit);
  const last = links.at(-1) ?? before;
  const isEnd = links.length < limit;
  const broken = firstBroken(before, links, key, now);
  const whole = links.flatMap((link) => (link.takenBy === null ? [link] : []));
  const again = whole.flatMap(({ run, runId }) =>
    run.is === 'sealed-again' || run.is === 'open-again' ? [runId] : [],
  );
  const cuts = whole.flatMap(({ n, cut }) => (cut && (!broken || n < broken.n) ? [cut] : []));
  const head = last && { n: last.n, link: last.link };
  const page = { org, checked: links.length, head, again, deleted: cuts.map(deletedBy), isEnd };
  if (broken || !isEnd) return { ...page, broken };
  const beyond = await store.beyond(org, last?.n ?? 0);
  if (beyond === null) return { ...page, broken: null };
  const why = `the link of this ${kindOf(beyond)} is not there`;
  return { ...page, broken: { n: (last?.n ?? 0) + 1, runId: beyond, why } };
}

function deletedBy({ fromN, toN, links, days, at }: AuditCut): AuditPage['deleted'][number] {
  return { from: fromN, to: toN, links, days, at: new Date(Number(BigInt(at) / 1000n)) };
}
