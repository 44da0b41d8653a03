/** One line of a rule file, broken as people break them. */
export interface Broken {
  readonly text: string;
  /** 1-based. */
  readonly line: number;
  readonly how: string;
  readonly was: string;
  readonly is: string;
}

/** Whole numbers below a bound, the same for the same seed (mulberry32). */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  };
}

type Break = (line: string, random: (below: number) => number) => string;

/** The n-th match of a pattern, exchanged. */
function exchange(pattern: RegExp, by: (match: string, random: (below: number) => number) => string): Break {
  return (line, random) => {
    const matches = [...line.matchAll(pattern)];
    const match = matches[random(matches.length)];
    return match ? line.slice(0, match.index) + by(match[0], random) + line.slice(match.index + match[0].length) : line;
  };
}

const FLIPPED: Readonly<Record<string, string>> = {
  '==': '!=',
  '!=': '==',
  '<': '>',
  '>': '<',
  '<=': '>',
  '>=': '<',
  '&&': '&& !',
  '||': '&&',
  in: '==',
};
const KINDS = [
  'push',
  'tag.created',
  'tag.deleted',
  'issue.closed',
  'pull_request.closed',
  'release.deleted',
  'wiki.created',
  'review.rejected',
];

/** A slip of the keyboard inside a word. */
function slip(word: string, random: (below: number) => number): string {
  const at = 1 + random(Math.max(1, word.length - 2));
  switch (random(3)) {
    case 0:
      return word.slice(0, at) + word.slice(at + 1);
    case 1:
      return word.slice(0, at) + word.charAt(at) + word.slice(at);
    default:
      return word.slice(0, at) + (word.charAt(at + 1) || 'x') + word.charAt(at) + word.slice(at + 2);
  }
}

const BREAKS: Readonly<Record<string, Break>> = {
  'flipped operator': exchange(/(?<=\s)(==|!=|<=|>=|<|>|&&|\|\|)(?=\s)/g, (operator) => FLIPPED[operator] ?? operator),
  'wrong text': exchange(/(?<=")[\w./:*-]+(?=")/g, slip),
  'other text': exchange(/(?<=[=(] ?")[\w./:-]+(?=")/g, () => 'elsewhere'),
  'wrong number': exchange(/(?<=\s)\d+(?=\s|$)/g, (number, random) => String(Number(number) + 3 + random(9))),
  'wrong field': exchange(/(?<=(event|repo|vars)[\w.]*\.)[a-z_]{4,}(?![\w(])/g, slip),
  'negation dropped': (line) => line.replace(/!(?=[a-z])/, ''),
  'negation added': exchange(/(?<=[\s"(])(event|repo)(?=\.[\w.]+("|$| &&| \|\|))/g, (root) => `!${root}`),
  'wrong function': (line) => line.replace('startsWith', 'endsWith').replace('endsWith(".', 'startsWith(".'),
  'other quantifier': (line) =>
    line.replace(
      /\.(all|exists)\((?!.*\.(all|exists)\()/,
      (_, macro: string) => `.${macro === 'all' ? 'exists_one' : 'all'}(`,
    ),
  'wrong filter': exchange(
    /(?<=\b(?:repo|branch|tag|actor|topics|source): "?\[?"?)[\w./*{},[\]-]+?(?=[",}\]]|$)/g,
    slip,
  ),
  'glob without its star': (line) => (/\b(repo|branch|tag|actor):/.test(line) ? line.replace('*', '') : line),
  'star too many segments away': (line) =>
    /\b(repo|branch|tag):/.test(line) ? line.replace('acme/*', 'acme/*/*').replace('release/*', 'release/*/*') : line,
  'other flag': (line) =>
    line.replace(/(?<=(archived|private|fork): )(true|false)/, (flag) => (flag === 'true' ? 'false' : 'true')),
  'other kind of event': (line, random) =>
    line.replace(/^(\s+on: ).*$/, (_, on: string) => `${on}${KINDS[random(KINDS.length)]}`),
  'left out': (line) => line.replace(/not_repo: \[[^\]]*\]/, 'not_repo: ["sandbox-*", "a*"]'),
  'item with a slip': (line, random) => line.replace(/(?<=^\s+- )[\w/*.]+$/, (item) => slip(item, random)),
};

/** Lines that decide whether a rule fires: from `on` to what it reads or does, and `when` and `unless` of its steps. */
function decidingLines(lines: readonly string[]): number[] {
  let isDeciding = false;
  return lines.flatMap((line, index) => {
    if (/^ {4}(on|where|if):/.test(line)) isDeciding = true;
    else if (/^ {4}\w+:/.test(line) || /^ {2}- /.test(line)) isDeciding = false;
    return isDeciding || /^\s+(when|unless): /.test(line) ? [index] : [];
  });
}

/** Break one deciding line in one way; null when that way does not fit that line. */
export function breakLine(text: string, random: (below: number) => number): Broken | null {
  const lines = text.split('\n');
  const deciding = decidingLines(lines);
  const index = deciding[random(deciding.length)] ?? 0;
  const ways = Object.keys(BREAKS);
  const how = ways[random(ways.length)] ?? '';
  const was = lines[index] ?? '';
  const is = BREAKS[how]?.(was, random) ?? was;
  if (is === was) return null;
  return { text: lines.with(index, is).join('\n'), line: index + 1, how, was: was.trim(), is: is.trim() };
}
