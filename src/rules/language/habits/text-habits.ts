import { emptyTable } from '../../../core/table.js';

/** Text of an expression as people write it elsewhere. */
export interface TextHabit {
  /** As it is written there. */
  readonly example: string;
  readonly pattern: RegExp;
  readonly write: string | ((match: RegExpExecArray) => string);
}

const listOrText = (path: string, text: string): string =>
  /^(?:event\.)?labels$/.test(path)
    ? `${text} in event.labels`
    : /(?:labels|assignees|reviewers|commits|items)$/.test(path)
      ? `${path}.exists(x, x.${/commits$/.test(path) ? 'message' : /labels$/.test(path) ? 'name' : 'login'} == ${text})`
      : /(?:title|body|message|login|name|branch|tag|ref|text)$/.test(path)
        ? `${path}.contains(${text})`
        : `${path}.exists(x, x.name == ${text}) of a list, ${path}.contains(${text}) of a text`;

const PATH = '[A-Za-z_][\\w.]*';
const QUOTED = '"[^"]*"|\'[^\']*\'';

/** The first that fits is told; the more particular ones stand first. */
export const TEXT_HABITS: readonly TextHabit[] = [
  {
    example: 'github.event.sender.login',
    pattern: /\bgithub\.(?:actor|triggering_actor|event\.sender\.login)\b/,
    write: 'event.actor.login',
  },
  { example: 'github.event_name', pattern: /\bgithub\.event_name\b/, write: 'event.kind' },
  { example: 'github.repository', pattern: /\bgithub\.repository\b/, write: 'repo.full_name' },
  {
    example: 'github.ref',
    pattern: /\bgithub\.(?:ref_name|ref|base_ref)\b/,
    write: 'event.branch or event.tag (event.ref is the whole ref)',
  },
  { example: 'github.head_ref', pattern: /\bgithub\.head_ref\b/, write: 'event.pull_request.head.ref' },
  { example: 'github.sha', pattern: /\bgithub\.sha\b/, write: 'event.sha' },
  {
    example: "contains(github.event.pull_request.title, 'x')",
    pattern: new RegExp(
      `\\b(contains|startsWith|endsWith)\\(\\s*(?:github\\.)?(${PATH})\\s*,\\s*(${QUOTED})\\s*\\)`,
      'i',
    ),
    write: ([, name = '', path = '', text = '']) => {
      const here = path
        .replace(/^(?:event\.)?(?=(?:issue|pull_request|comment|review|release|ref|sha)\b)/, 'event.')
        .replace(/\.\*\.\w+$/, '');
      if (name === 'contains' && /labels$/.test(here)) return listOrText(here, text);
      const method =
        name.toLowerCase() === 'contains' ? 'contains' : name.toLowerCase() === 'endswith' ? 'endsWith' : 'startsWith';
      return `${here}.${method}(${text})`;
    },
  },
  { example: 'github.event.issue.title', pattern: /\bgithub\.(event\.[\w.]+)/, write: ([, path = '']) => path },
  {
    example: 'event.pull_request.labels.contains("bug")',
    pattern: new RegExp(
      `(${PATH}(?:labels|assignees|requested_reviewers|commits))(?:\\.\\*\\.\\w+)?\\.(?:contains|includes|has|indexOf)\\(\\s*(${QUOTED})\\s*\\)`,
    ),
    write: ([, path = '', text = '']) => listOrText(path, text),
  },
  {
    example: '"bug" in event.pull_request.labels',
    pattern: new RegExp(`(${QUOTED})\\s+(?:not\\s+)?in\\s+(${PATH})`),
    write: ([, text = '', path = '']) => listOrText(path, text),
  },
  {
    example: 'event.pull_request.labels.some(l => l.name === "bug")',
    pattern: new RegExp(`(${PATH})\\.(some|any|find|every|filter|map)\\(\\s*\\(?(\\w+)\\)?\\s*=>`),
    write: ([, path = '', name = '', variable = '']) =>
      `${path}.${tableOfLoops[name] ?? 'exists'}(${variable}, …): no arrow, the name and a comma`,
  },
  {
    example: 'event.issue.title.includes("x")',
    pattern: /\.includes\(/,
    write: 'text.contains("x"); of a list: "x" in list',
  },
  { example: 'event.issue.title =~ "x"', pattern: /[=!]~/, write: 'text.matches("pattern")' },
  {
    example: '/^fix/.test(event.issue.title)',
    pattern: /(?:^|[\s(=,&|!])\/(?:[^/\\\n]|\\.)+\/[a-z]*(?:\.test\(|\s*$|\s*[)&|])/,
    write: 'text.matches("pattern"), a text in quotes',
  },
  { example: 'event.branch === "main"', pattern: /===/, write: '==' },
  { example: 'event.branch !== "main"', pattern: /!==/, write: '!=' },
  { example: 'event.branch <> "main"', pattern: /<>/, write: '!=' },
  { example: 'event.branch = "main"', pattern: /[^=!<>]=\s*(?:"|'|true|false|\d)/, write: '== to compare' },
  { example: 'l => l.name', pattern: /=>/, write: 'list.exists(l, l.name == "…"), without an arrow' },
  {
    example: 'event.issue.milestone?.title',
    pattern: new RegExp(`(${PATH})\\?\\.(\\w+)`),
    write: ([, path = '', field = '']) => `has(${path}) && ${path} != null && ${path}.${field} …`,
  },
  {
    example: 'event.tag ?? "none"',
    pattern: new RegExp(`(${PATH})\\s*\\?\\?\\s*(${QUOTED}|[\\w.]+)`),
    write: ([, path = '', other = '']) => `has(${path}) ? ${path} : ${other}`,
  },
  {
    example: 'event.pull_request.labels[].name',
    pattern: /\[(?:\*|)\]/,
    write: 'list.exists(x, x.name == "…"), or list.map(x, x.name)',
  },
  { example: "f'v{event.tag}'", pattern: /(?<!\w)f(?=["'])/, write: '"v" + event.tag' },
  { example: 'has(event)', pattern: /\bhas\(\s*\w*\s*\)/, write: 'has(event.FIELD): it asks whether a field is there' },
  { example: '`v${event.tag}`', pattern: /`/, write: '"v" + event.tag, in quotes' },
  { example: '"v${event.tag}"', pattern: /\$\{(?!\{)/, write: '"v" + event.tag' },
  { example: '“main”', pattern: /[“”„‟‘’‚‛«»]/, write: 'plain quotes: " or \'' },
  {
    example: 'base=main',
    pattern: /^\s*[-\w#]+\s*(?:~=|[=:])\s*[\w/.-]+\s*$/,
    write: 'event.branch == "main": a field, an operator, a text in quotes',
  },
  { example: 'not event.issue.is_locked', pattern: /(?:^|[\s(])not\s+[\w(]/, write: '!' },
  { example: 'a and b', pattern: /[\w)"']\s+and\s+[\w("'!]/, write: '&&' },
  { example: 'a or b', pattern: /[\w)"']\s+or\s+[\w("'!]/, write: '||' },
  { example: 'a is b', pattern: /[\w)]\s+is\s+(?:not\s+)?[\w"']/, write: '==' },
  { example: 'a eq b', pattern: /[\w)]\s+eq\s+[\w"']/, write: '==' },
  { example: 'a & b', pattern: /[^&]&[^&]/, write: '&&' },
  { example: 'a | b', pattern: /[^|]\|[^|]/, write: '||' },
  { example: 'event.commits.size', pattern: /\.size\b(?!\s*\()/, write: '.size()' },
  { example: 'event.issue.labels.length', pattern: /\.length\b/, write: '.size()' },
  { example: 'event.created;', pattern: /;\s*$/, write: 'one expression, without ;' },
];

const tableOfLoops: Readonly<Record<string, string>> = Object.assign(emptyTable<string>(), {
  some: 'exists',
  any: 'exists',
  find: 'filter',
  every: 'all',
  filter: 'filter',
  map: 'map',
});

/** What to write for an expression that is written as elsewhere; null = it is like none that is known. */
export function textHabitOf(source: string): string | null {
  for (const { pattern, write } of TEXT_HABITS) {
    const match = pattern.exec(source);
    if (match) return typeof write === 'string' ? write : write(match);
  }
  return null;
}

/** The same, of what stands around a place. */
export function textHabitAt(source: string, offset: number): string | null {
  for (const { pattern, write } of TEXT_HABITS) {
    for (const match of source.matchAll(new RegExp(pattern, `${pattern.flags.replace('g', '')}g`)))
      if (match.index - 1 <= offset && offset <= match.index + match[0].length + 1)
        return typeof write === 'string' ? write : write(match as RegExpExecArray);
  }
  return null;
}
