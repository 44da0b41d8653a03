import { parse } from 'yaml';
import { RuleFails } from './failures.js';
import { listOf } from './operators.js';
import type { Functions, Value } from './operators.js';
import { matchesGlob } from './glob.js';

/** The functions of the rule language as its documentation describes them. */
export const functions: Functions = {
  all_glob: (texts, patterns) =>
    listOf(texts).every((text) => listOf(patterns).some((pattern) => matchesGlob(String(pattern), String(text)))),
  any_glob: (texts, patterns) =>
    listOf(texts).some((text) => listOf(patterns).some((pattern) => matchesGlob(String(pattern), String(text)))),
  days: (count) => ({ ms: (count as number) * 86_400_000 }),
  glob: (text, pattern) => matchesGlob(String(pattern), String(text)),
  minor: (tag) => version(tag).slice(0, 2).join('.'),
  next_minor: (tag) => {
    const [major = 0, minor = 0] = version(tag);
    return `${major}.${minor + 1}`;
  },
  next_major: (tag) => `${(version(tag)[0] ?? 0) + 1}.0`,
  next_patch: (tag) => {
    const [major = 0, minor = 0, patch = 0] = version(tag);
    return `${major}.${minor}.${patch + 1}`;
  },
  section: (text, tag) => section(String(text), String(tag)),
  slug: (text) =>
    String(text)
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((word) => word !== '')
      .join('-'),
  sum: (numbers) =>
    listOf(numbers).reduce<number>((total, one) => {
      if (typeof one !== 'number') throw new RuleFails(`${JSON.stringify(one)} is no number`);
      return total + one;
    }, 0),
  parse_yaml: (text) => parse(String(text)) as Value,
  date: (time) => (time instanceof Date ? time.toISOString() : String(time)).slice(0, 10),
};

function version(tag: Value): number[] {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+].*)?$/.exec(String(tag));
  if (!match) throw new RuleFails(`${String(tag)} is no version`);
  return match.slice(1, 4).map((part) => Number(part ?? 0));
}

/** What stands below the heading that names the version, up to the next heading of its level. */
function section(text: string, tag: string): string | null {
  const wanted = tag.replace(/^v/, '');
  const lines = text.split(/\r?\n/);
  const level = (line: string | undefined): number => /^(#{1,6})\s/.exec(line ?? '')?.[1]?.length ?? 0;
  const start = lines.findIndex(
    (line) => level(line) > 0 && line.split(/[\s[\]()]+/).some((word) => word.replace(/^v/, '') === wanted),
  );
  if (start === -1) return null;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => level(line) > 0 && level(line) <= level(lines[start]));
  return rest
    .slice(0, end === -1 ? undefined : end)
    .join('\n')
    .trim();
}
