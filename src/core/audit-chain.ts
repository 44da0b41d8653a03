import { hashOf } from './ids.js';

/** Values of one row as text, in an order that never changes; null = none. */
export type AuditRow = readonly (string | null)[];

/** One run as the store holds it: itself, its effects, its calls. Of an act of a person, itself alone. */
export interface AuditRecord {
  readonly run: AuditRow;
  readonly intents: readonly AuditRow[];
  readonly attempts: readonly AuditRow[];
}

/** One link of an organization's chain. `record` and `link` are hex. */
export interface AuditLink {
  readonly org: string;
  /** From 1 on, without gaps. */
  readonly n: number;
  /** Id of the run, or of the act of a person (`isAct`). */
  readonly runId: string;
  /** What happened later is not part of the record; microseconds since 1970, decimal. */
  readonly asOf: string;
  /** Identifies the key of the link. */
  readonly keyId: string;
  readonly record: string;
  readonly link: string;
}

/** With this begin the ids of acts of people, so that a link says what it is of, also when that is gone. */
export const ACT_ID = 'act-';

export function isAct(id: string): boolean {
  return id.startsWith(ACT_ID);
}

/** Makes and checks links. Without its key, nobody can make a chain that fits a changed row. */
export interface AuditKey {
  readonly id: string;
  hash(text: string): string;
}

/** A link as found, with what became of its run. */
export interface StoredLink extends AuditLink {
  readonly run:
    | { readonly is: 'there'; readonly record: AuditRecord }
    /** A later link sealed the run again; or a person revived it, and it has not ended yet. */
    | { readonly is: 'sealed-again' | 'open-again' }
    | { readonly is: 'gone' }
    /** The run ended before the link was made, and is not marked as sealed. */
    | { readonly is: 'unmarked' };
}

export interface BrokenLink {
  readonly n: number;
  readonly runId: string;
  readonly why: string;
}

/** Hex. The same for the same rows; differs with any value, and with the number of rows. */
export function recordHash({ run, intents, attempts }: AuditRecord): string {
  const rows = (list: readonly AuditRow[]): string => hashOf(...list.map(rowHash));
  return hashOf(rowHash(run), rows(intents), rows(attempts));
}

function rowHash(row: AuditRow): string {
  return hashOf(...row.map((value) => (value === null ? '-' : `=${value}`)));
}

/** Hex. @param previous the link before it; null for the first of an organization */
export function linkAfter(
  previous: string | null,
  { org, n, runId, asOf, keyId, record }: Omit<AuditLink, 'link'>,
  key: AuditKey,
): string {
  return key.hash(hashOf('audit', previous ?? '', org, String(n), runId, asOf, keyId, record));
}

/**
 * Check links in their order.
 * @param before the link that the first of them must follow; null = it is the first of all
 * @returns the first that does not hold; null = all hold
 */
export function firstBroken(
  before: Pick<AuditLink, 'n' | 'link'> | null,
  links: readonly StoredLink[],
  key: AuditKey,
): BrokenLink | null {
  let previous = before;
  for (const link of links) {
    const why = faultOf(previous, link, key);
    if (why !== null) return { n: link.n, runId: link.runId, why };
    previous = link;
  }
  return null;
}

function faultOf(previous: Pick<AuditLink, 'n' | 'link'> | null, link: StoredLink, key: AuditKey): string | null {
  const wanted = (previous?.n ?? 0) + 1;
  if (link.n !== wanted)
    return link.n === wanted + 1 ? `link ${wanted} is not there` : `links ${wanted} to ${link.n - 1} are not there`;
  if (link.keyId !== key.id) return 'it was sealed under another keys.data, or the chain was changed';
  if (link.link !== linkAfter(previous?.link ?? null, link, key)) return 'the link, or the one before it, was changed';
  const what = isAct(link.runId) ? 'act' : 'run';
  switch (link.run.is) {
    case 'gone':
      return `the ${what} is gone`;
    case 'unmarked':
      return `the ${what} does not say any more that it is sealed`;
    case 'there':
      if (recordHash(link.run.record) === link.record) return null;
      return what === 'act'
        ? 'the act was changed'
        : 'the run, one of its effects or one of its calls was changed, added or removed';
    default:
      return null;
  }
}
