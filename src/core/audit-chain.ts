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

/** With this begin the ids of cuts, before the number of the link. */
export const CUT_ID = 'cut-';

export function isAct(id: string): boolean {
  return id.startsWith(ACT_ID);
}

export function isCut(id: string): boolean {
  return id.startsWith(CUT_ID);
}

export function cutIdOf(n: number): string {
  return `${CUT_ID}${n}`;
}

/** What a link is of. */
export function kindOf(id: string): 'run' | 'act' | 'cut' {
  return isAct(id) ? 'act' : isCut(id) ? 'cut' : 'run';
}

/** Links that retention took with their runs and acts. It is a link of the same chain itself. Times: microseconds since 1970, decimal. */
export interface AuditCut {
  /** Number of its own link. */
  readonly n: number;
  /** Numbers of the first and of the last link that it took. Some between them may have stayed, or belong to another cut. */
  readonly fromN: number;
  readonly toN: number;
  /** How many it took. */
  readonly links: number;
  /** The age that was configured. */
  readonly days: number;
  /** Of the youngest link that it took. */
  readonly newest: string;
  readonly at: string;
}

/** Makes and checks links. Without its key, nobody can make a chain that fits a changed row. */
export interface AuditKey {
  readonly id: string;
  hash(text: string): string;
}

/** A link as found. */
export type StoredLink = WholeLink | TakenLink;

/** Number and hash of a link that a cut took. */
export interface TakenLink extends Pick<AuditLink, 'n' | 'link'> {
  /** Number of the cut's link. */
  readonly takenBy: number;
  /** Null = there is none of that number. */
  readonly cut: AuditCut | null;
}

/** A link with what became of its run. */
export interface WholeLink extends AuditLink {
  readonly takenBy: null;
  /** What it says, if it is the link of a cut. */
  readonly cut: AuditCut | null;
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

/** The link before: the time where it still has one. */
export interface LinkBefore extends Pick<AuditLink, 'n' | 'link'> {
  readonly asOf: string | null;
}

const DAY_MICROS = 86_400_000_000n;

/**
 * Check links in their order.
 * @param before the link that the first of them must follow; null = it is the first of all
 * @returns the first that does not hold; null = all hold
 */
export function firstBroken(
  before: LinkBefore | null,
  links: readonly StoredLink[],
  key: AuditKey,
  now: Date,
): BrokenLink | null {
  let previous = before;
  let asOf = before?.asOf ?? null;
  for (const link of links) {
    const isWhole = link.takenBy === null;
    const why = gapOf(previous, link) ?? (isWhole ? faultOf(previous, link, key, now) : faultOfTaken(link, asOf));
    if (why !== null) return { n: link.n, runId: isWhole ? link.runId : cutIdOf(link.takenBy), why };
    if (isWhole) ({ asOf } = link);
    previous = { n: link.n, link: link.link, asOf };
  }
  return null;
}

function gapOf(previous: LinkBefore | null, link: StoredLink): string | null {
  const wanted = (previous?.n ?? 0) + 1;
  if (link.n === wanted) return null;
  return link.n === wanted + 1 ? `link ${wanted} is not there` : `links ${wanted} to ${link.n - 1} are not there`;
}

function faultOf(previous: LinkBefore | null, link: WholeLink, key: AuditKey, now: Date): string | null {
  if (link.keyId !== key.id) return 'it was sealed under another keys.data, or the chain was changed';
  if (link.link !== linkAfter(previous?.link ?? null, link, key)) return 'the link, or the one before it, was changed';
  const what = kindOf(link.runId);
  switch (link.run.is) {
    case 'gone':
      return `the ${what} is gone`;
    case 'unmarked':
      return `the ${what} does not say any more that it is sealed`;
    case 'there':
      if (recordHash(link.run.record) === link.record) return link.cut && faultOfCut(link.cut, now);
      return CHANGED[what];
    default:
      return null;
  }
}

const CHANGED = {
  run: 'the run, one of its effects or one of its calls was changed, added or removed',
  act: 'the act was changed',
  cut: 'the cut, or a link that it took, was changed, added or removed',
};

/** Clocks differ, and links are sealed some minutes after each other: a day is no fault. */
function faultOfCut(cut: AuditCut, now: Date): string | null {
  if (BigInt(cut.newest) > youngest(cut)) return `it took links that were younger than its ${cut.days} days`;
  if (BigInt(cut.at) > BigInt(now.getTime()) * 1000n + DAY_MICROS) return 'its time has not come yet';
  return null;
}

/** The hash itself is held by the cut, and by the link behind. @param asOf of the nearest link before it that was not taken; null = not known */
function faultOfTaken({ n, takenBy, cut }: TakenLink, asOf: string | null): string | null {
  if (!cut || takenBy <= n || n < cut.fromN || n > cut.toN) return `no cut says that it took link ${n}`;
  if (asOf !== null && BigInt(asOf) > youngest(cut) + DAY_MICROS)
    return `it took link ${n}, and an earlier one is younger than its ${cut.days} days`;
  return null;
}

function youngest({ at, days }: AuditCut): bigint {
  return BigInt(at) - BigInt(days) * DAY_MICROS;
}
