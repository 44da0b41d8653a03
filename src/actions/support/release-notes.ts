import { markedPart, marksOf, partIn, withPart } from './marked-part.js';
import { escapeMarkdown } from '../../core/escape-markdown.js';

/** A tag with the time of its commit; null where the forge tells none. */
interface DatedTag {
  readonly name: string;
  readonly createdAt: string | null;
}

interface Version {
  /** What it is a version of: `web-` of `web-v1.4.0`; empty where nothing, or a word like `v` or `release`, stands before the numbers. */
  readonly component: string;
  readonly numbers: readonly number[];
  /** `rc.1` of `v1.4.0-rc.1`; null = a release. */
  readonly pre: string | null;
}

/**
 * The tag that comes before another one of the same component: `web-1.1.0` before `web-1.2.0`, whatever `api-1.1.9` says. Tags that are versions are ordered as
 * such, so that v1.4.2 follows v1.4.1 even when v1.5.0 came in between; candidates (`-rc.1`) count only before a candidate. Others are ordered by the time of
 * their commits, after those that begin with the same text before a number, where there are any.
 * @param tag may be one that is yet to be made
 * @returns null when there is none before it
 */
export function previousTag(tag: string, tags: readonly DatedTag[]): string | null {
  const others = tags.filter(({ name }) => name !== tag);
  const version = versionOf(tag);
  if (version !== null) {
    const before = others
      .flatMap(({ name }) => {
        const other = versionOf(name);
        return other !== null &&
          other.component === version.component &&
          (other.pre === null || version.pre !== null) &&
          compareVersions(other, version) < 0
          ? [{ name, other }]
          : [];
      })
      .sort((a, b) => compareVersions(b.other, a.other));
    return before[0]?.name ?? null;
  }
  const own = tags.find(({ name }) => name === tag)?.createdAt ?? null;
  const until = own === null ? Infinity : Date.parse(own);
  const before = others
    .flatMap(({ name, createdAt }) => (createdAt === null ? [] : [{ name, at: Date.parse(createdAt) }]))
    .filter(({ at }) => at < until)
    .sort((a, b) => b.at - a.at);
  const beginning = beginningOf(tag);
  const alike = before.find(({ name }) => beginning !== null && beginningOf(name) === beginning);
  return (alike ?? before[0])?.name ?? null;
}

/** Words that say "a version" and not of what. */
const JUST_A_VERSION = /^(?:v|ver|version|r|rel|release)?[-_/@.]?v?$/i;

function versionOf(tag: string): Version | null {
  const match = /^(|.*?[^\d.])(\d{1,9}(?:\.\d{1,9}){1,3})(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/.exec(tag);
  if (match === null) return null;
  const [, prefix = '', numbers = '', pre = null] = match;
  const component = JUST_A_VERSION.test(prefix) ? '' : prefix.replace(/(?<=[^A-Za-z])v$/i, '');
  return { component, numbers: numbers.split('.').map(Number), pre };
}

/** `web-` of `web-5`; null where no number follows. */
function beginningOf(tag: string): string | null {
  return /^(\D*)\d/.exec(tag)?.[1] ?? null;
}

function compareVersions(a: Version, b: Version): number {
  for (let n = 0; n < Math.max(a.numbers.length, b.numbers.length); n += 1) {
    const difference = (a.numbers[n] ?? 0) - (b.numbers[n] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.pre === null || b.pre === null) return a.pre === b.pre ? 0 : a.pre === null ? 1 : -1;
  return comparePre(a.pre.split('.'), b.pre.split('.'));
}

/** Part by part; numbers by their value and before words, and fewer parts before more. */
function comparePre(a: readonly string[], b: readonly string[]): number {
  for (let n = 0; n < Math.max(a.length, b.length); n += 1) {
    const [one, other] = [a[n], b[n]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
    if (isNumber && isOtherNumber && Number(one) !== Number(other)) return Number(one) - Number(other);
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

const MARKS = marksOf('notes');
/** Nobody reads more, and a first release may have thousands. */
export const MAX_CHANGES = 300;

export interface NoteGroup {
  readonly title: string;
  /** A change that bears one of them belongs to it. */
  readonly labels: readonly string[];
}

/** One merged pull request, as people wrote it. */
export interface MergedChange {
  readonly number: number;
  readonly title: string;
  readonly author: string;
  readonly labels: readonly string[];
}

interface NoteStyle {
  readonly groups: readonly NoteGroup[];
  /** Title of what belongs to none of them; empty = left out. */
  readonly other: string;
  /** Labels whose bearers are left out. */
  readonly skip: readonly string[];
  /** Null = the first release. */
  readonly since: string | null;
}

/**
 * The notes between our markers: each of the newest 300 changes in the first group of which it bears a label, by number. Titles and logins are text of
 * others: they mention nobody, close nothing and hold no markup.
 */
export function renderNotes(changes: readonly MergedChange[], { groups, other, skip, since }: NoteStyle): string {
  const changesToList = [...changes].filter((change) => !bears(change, skip)).sort((a, b) => a.number - b.number);
  const newest = changesToList.slice(-MAX_CHANGES);
  const remaining = new Set(newest);
  const sections = groups.map(({ title, labels }): [string, MergedChange[]] => {
    const own = [...remaining].filter((change) => bears(change, labels));
    for (const change of own) remaining.delete(change);
    return [title, own];
  });
  if (other !== '') sections.push([other, [...remaining]]);
  const parts = sections
    .filter(([, own]) => own.length > 0)
    .map(([title, own]) => `### ${title}\n\n${own.map(line).join('\n')}`);
  const heading = since === null ? '## Changes' : `## Changes since ${escapeMarkdown(since)}`;
  const earlier = changesToList.length - newest.length;
  if (earlier > 0) parts.push(`And ${earlier} earlier ${earlier === 1 ? 'one' : 'ones'}.`);
  return markedPart(MARKS, [heading, ...(parts.length > 0 ? parts : ['None.'])]);
}

function line({ number, title, author }: MergedChange): string {
  const by = author === '' ? '' : `, ${escapeMarkdown(author)}`;
  return `- ${escapeMarkdown(title)} (#${number}${by})`;
}

function bears({ labels }: MergedChange, wanted: readonly string[]): boolean {
  return labels.some((label) => wanted.some((one) => one.toLowerCase() === label.toLowerCase()));
}

/** The part between our markers, with them; null = there is none, `broken` = markers that do not belong together. */
export function notesIn(body: string | null | undefined): string | null | 'broken' {
  return partIn(body, MARKS);
}

/** The body with these notes in the place of ours, or behind what people wrote; all else stays as it is. */
export function withNotes(body: string | null | undefined, notes: string): string {
  return withPart(body, MARKS, notes);
}
