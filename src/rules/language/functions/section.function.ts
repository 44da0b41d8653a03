import { defineFunction } from './define-function.js';

/** The part of a changelog below the heading that names the tag. */
export const section = defineFunction({
  name: 'section',
  summary:
    'The part of a Markdown text below the heading that names the tag (with or without "v"), up to the next heading of the same or a higher level; null when there is none.',
  params: [
    { name: 'markdown', type: 'string' },
    { name: 'tag', type: 'string' },
  ],
  result: 'dyn',
  example: ['section("# 1.5.0\\nnew\\n# 1.4.0\\nold", "v1.5.0")', 'new'],
  run: ([markdown, tag]) => findSection(markdown, tag),
});

function findSection(markdown: string, tag: string): string | null {
  const wanted = tag.replace(/^v(?=\d)/i, '').toLowerCase();
  if (wanted === '') return null;
  const lines = markdown.split(/\r?\n/);
  const headings = readHeadings(lines);
  const index = headings.findIndex(({ text }) => names(text, wanted));
  const start = headings[index];
  if (!start) return null;
  const end = headings.slice(index + 1).find(({ level }) => level <= start.level)?.line ?? lines.length;
  return lines
    .slice(start.line + start.lines, end)
    .join('\n')
    .trim();
}

interface Heading {
  line: number;
  /** How many lines the heading takes. */
  lines: number;
  level: number;
  text: string;
}

/** ATX (`## x`) and setext (underlined) headings outside fenced code. */
function readHeadings(lines: readonly string[]): Heading[] {
  const headings: Heading[] = [];
  let fence: string | null = null;
  for (const [line, text] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(text)?.[1];
    if (mark && (fence === null || (mark[0] === fence[0] && mark.length >= fence.length))) {
      fence = fence === null ? mark : null;
      continue;
    }
    if (fence !== null) continue;
    const [atx, marks = '', title = ''] = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/.exec(text) ?? [];
    const above = lines[line - 1];
    if (atx !== undefined) headings.push({ line, lines: 1, level: marks.length, text: title });
    else if (/^ {0,3}(=+|-+)[ \t]*$/.test(text) && isHeadingText(above)) {
      headings.push({ line: line - 1, lines: 2, level: text.includes('=') ? 1 : 2, text: above.trim() });
    }
  }
  return headings;
}

function isHeadingText(line: string | undefined): line is string {
  return line !== undefined && line.trim() !== '' && !/^ {0,3}(#|>|```|~~~|[-*+]\s|\d+[.)]\s)/.test(line);
}

/** The heading has the version as a word of its own: `[1.4.0] - 2026-01-01` names 1.4.0, and 1.4.0-rc.1 does not. */
function names(heading: string, wanted: string): boolean {
  const text = heading.toLowerCase();
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    const before = text.slice(0, at).replace(/v$/, '').at(-1) ?? ' ';
    const after = text.slice(at + wanted.length);
    if (!/[a-z0-9.+]/.test(before) && !/^([a-z0-9+_-]|\.[a-z0-9])/.test(after)) return true;
  }
  return false;
}
