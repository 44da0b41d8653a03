import { defineFunction } from './define-function.js';

/** The part of a changelog below the heading that names the tag. */
export const section = defineFunction({
  name: 'section',
  summary:
    'The part of a Markdown text below the heading that names the tag (with or without "v"), up to the next heading of the same or a higher level, or of another release; null when there is none.',
  params: [
    { name: 'markdown', type: 'string' },
    { name: 'tag', type: 'string' },
  ],
  result: 'dyn',
  example: ['section("# 1.5.0\\nnew\\n# 1.4.0\\nold", "v1.5.0")', 'new'],
  charge: ([markdown, tag]) => markdown.length / 8 + tag.length,
  run: ([markdown, tag]) => findSection(markdown, tag),
});

function findSection(markdown: string, tag: string): string | null {
  const wanted = tag.replace(/^v(?=\d)/i, '').toLowerCase();
  if (wanted === '') return null;
  const lines = markdown.split(/\r?\n/);
  const headings = readHeadings(lines);
  const named = headings.filter(({ text }) => names(text, wanted));
  // "Upgrade to 1.4.0" may stand before "1.4.0".
  const start = named.find(({ text }) => isOfVersion(text)) ?? named[0];
  if (!start) return null;
  // Some tools write a patch release one level deeper, below the release before which it stands.
  const first = start.text.slice(0, start.text.indexOf(wanted)).replace(/v$/, '');
  const isOfOther = ({ text }: Heading): boolean =>
    isOfVersion(text.startsWith(first) ? text.slice(first.length) : text) && !names(text, wanted);
  const ends = (heading: Heading): boolean =>
    heading.line > start.line && (heading.level <= start.level || isOfOther(heading));
  const end = headings.find(ends)?.line ?? lines.length;
  const body = lines.slice(start.line + start.lines, end);
  while (body.length > 0 && isAnchor(body.at(-1) ?? '')) body.pop();
  return body.join('\n').trim();
}

/** An empty line, or a place to jump to, which belongs to the heading that follows. */
function isAnchor(line: string): boolean {
  return /^\s*(?:<a\s+(?:name|id)=[^<>]*>\s*(?:<\/a>)?)?\s*$/i.test(line);
}

interface Heading {
  line: number;
  /** How many lines the heading takes. */
  lines: number;
  level: number;
  /** What people read of it, in lower case; longer ones are cut. */
  text: string;
}

const MAX_HEADING = 300;

/** ATX (`## x`) and setext (underlined) headings outside fenced code and comments. */
function readHeadings(lines: readonly string[]): Heading[] {
  const headings: Heading[] = [];
  let fence: string | null = null;
  let isComment = false;
  for (const [line, text] of lines.entries()) {
    if (fence === null) {
      const wasComment = isComment;
      isComment = staysComment(text, isComment);
      if (wasComment) continue;
    }
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(text)?.[1];
    if (mark && (fence === null || (mark[0] === fence[0] && mark.length >= fence.length))) {
      fence = fence === null ? mark : null;
      continue;
    }
    if (fence !== null) continue;
    const [atx, marks = '', title = ''] = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/.exec(text) ?? [];
    const above = lines[line - 1];
    if (atx !== undefined) headings.push({ line, lines: 1, level: marks.length, text: readable(title) });
    else if (/^ {0,3}(=+|-+)[ \t]*$/.test(text) && isHeadingText(above)) {
      headings.push({ line: line - 1, lines: 2, level: text.includes('=') ? 1 : 2, text: readable(above) });
    }
  }
  return headings;
}

function isHeadingText(line: string | undefined): line is string {
  return line !== undefined && line.trim() !== '' && !/^ {0,3}(#|>|```|~~~|[-*+]\s|\d+[.)]\s)/.test(line);
}

/** Whether a comment is open at the end of a line. */
function staysComment(line: string, isOpen: boolean): boolean {
  const from = isOpen ? line.lastIndexOf('-->') : line.lastIndexOf('<!--');
  if (from === -1) return isOpen;
  return isOpen ? line.includes('<!--', from) : !line.includes('-->', from);
}

/** A heading without what its Markdown only points to: addresses of links and pictures, tags, marks. */
function readable(heading: string): string {
  return heading
    .slice(0, MAX_HEADING)
    .replace(/\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])/g, ']')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\b(?:[a-z][a-z+.-]{1,15}:\/\/|www\.)\S*/gi, ' ')
    .replace(/:[a-z][a-z0-9_+-]*:/gi, ' ')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/[ \t]+#+[ \t]*$/, '')
    .trim()
    .toLowerCase();
}

/**
 * The heading has the version as a word of its own: `[1.4.0] - 2026-01-01` names 1.4.0; 1.4.0-rc.1 does not, and neither do a range
 * `1.3.0...1.4.0`, nor `1.5.0 (since 1.4.0)`, which is about 1.5.0.
 */
function names(text: string, wanted: string): boolean {
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    const before =
      text
        .slice(Math.max(0, at - 2), at)
        .replace(/v$/, '')
        .at(-1) ?? ' ';
    const after = text.slice(at + wanted.length, at + wanted.length + 3);
    const isWord = !/[\p{L}\p{N}.+]/u.test(before) && !/^(?:[\p{L}\p{N}+_-]|\.[\p{L}\p{N}.])/u.test(after);
    if (isWord && !isOther(text.slice(0, at)) && !isRange(text.slice(at + wanted.length))) return true;
  }
  return false;
}

/** Whether what stands before a version says that the heading is about another one. Several of one release stand side by side. */
function isOther(before: string): boolean {
  if (/\b(?:since|from|after|before|until|was)\s+v?$/.test(before)) return true;
  const rest = /(?<![\p{L}\p{N}.])v?\d+(?:\.\d+)+(.*)$/u.exec(before)?.[1];
  return rest !== undefined && !/^[\])]*\s*(?:[,/&+]|and)\s*[[(]*v?$/.test(rest);
}

/** Whether what stands behind a version goes on to a second one. */
function isRange(after: string): boolean {
  return /^(?:–|\s*(?:->|→|to|until)\s*)v?\d+\.\d/.test(after);
}

const MONTH = /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b/g;

/** The heading of a release: nothing stands there but a version, and perhaps its day or its name in quotes. */
function isOfVersion(text: string): boolean {
  const rest =
    /^[^\p{L}\p{N}]*(?:\d{4}-\d\d-\d\d[^\p{L}\p{N}]+)?(?:version|release|patch|hotfix)?[^\p{L}\p{N}]*v?\d+(?:\.\d+)+(?:[-+][0-9a-z.+-]+)?(?![\p{L}\p{N}.])(.*)$/u.exec(
      text,
    )?.[1];
  return (
    rest !== undefined &&
    !/\p{L}/u.test(
      rest
        .replace(/["“„«][^"“”»]*["”“»]/g, '')
        .replace(/\d(?:st|nd|rd|th)\b/g, '')
        .replace(MONTH, '')
        .replace(/\b(?:yanked|unreleased|released)\b/g, ''),
    )
  );
}
