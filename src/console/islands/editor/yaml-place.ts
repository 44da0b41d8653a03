/** Where in a rule file the cursor stands: names of the keys above it, `[]` for an item of a list. */
interface YamlPlace {
  readonly path: readonly string[];
  /** The key whose value the cursor is in; null = a key is being written. */
  readonly key: string | null;
}

type Element = { readonly col: number } & ({ readonly key: string } | { readonly isDash: true });

const KEY = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s#{}[\],&*!|>'"%@`-][^#{}[\],]*?))\s*:(?=\s|$)/;

/**
 * By indentation, and braces and brackets of the cursor's own line. A file that is being written is seldom whole, so nothing is parsed; in a place that cannot
 * be told the answer is merely of no use.
 */
export function placeAt(text: string, offset: number): YamlPlace {
  const before = text.slice(0, offset).split('\n');
  const line = before.pop() ?? '';
  const { elements, rest, restCol } = readLine(line);
  const own = elements.findLast(isKey);
  const above = [...elements];
  // A key that is being written stands as deep as the cursor.
  let limit = own === undefined ? restCol : own.col;
  const path: string[] = [];
  let isBelowDash = false;
  const take = (element: Element): void => {
    const { col } = element;
    if (isKey(element)) {
      if (col < limit || (isBelowDash && col === limit)) {
        path.unshift(element.key);
        [limit, isBelowDash] = [col, false];
      }
    } else if (col < limit) {
      path.unshift('[]');
      [limit, isBelowDash] = [col, true];
    }
  };
  if (own !== undefined) above.splice(above.lastIndexOf(own), 1);
  for (const element of above.reverse()) take(element);
  for (const earlier of before.reverse()) for (const element of readLine(earlier).elements.reverse()) take(element);
  if (own === undefined) return flowPlace(path, null, rest);
  return flowPlace(path, own.key, rest);
}

function isKey(element: Element): element is Element & { readonly key: string } {
  return 'key' in element;
}

/** Dashes and the key at the beginning of a line, and what stands behind them. */
function readLine(line: string): { elements: Element[]; rest: string; restCol: number } {
  const elements: Element[] = [];
  let col = line.length - line.trimStart().length;
  let rest = line.slice(col);
  if (rest.startsWith('#')) return { elements, rest: '', restCol: col };
  for (let dash = /^-(\s+|$)/.exec(rest); dash; dash = /^-(\s+|$)/.exec(rest)) {
    elements.push({ col, isDash: true });
    col += dash[0].length;
    rest = rest.slice(dash[0].length);
  }
  const key = KEY.exec(rest);
  if (!key) return { elements, rest, restCol: col };
  elements.push({ col, key: key[1] ?? key[2] ?? key[3] ?? '' });
  return { elements, rest: rest.slice(key[0].length), restCol: col };
}

/** Goes on into `{…}` and `[…]` that are open at the end of the text. */
function flowPlace(path: readonly string[], key: string | null, text: string): YamlPlace {
  const open: Array<{ isMap: boolean; key: string | null }> = [];
  for (let rest = text; rest !== '';) {
    const quoted = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/.exec(rest)?.[0];
    const top = open.at(-1);
    const named = top?.isMap && top.key === null ? KEY.exec(rest) : null;
    if (named && top) {
      top.key = named[1] ?? named[2] ?? named[3] ?? '';
      rest = rest.slice(named[0].length);
    } else if (quoted !== undefined) rest = rest.slice(quoted.length);
    else {
      const char = rest[0];
      // The braces of an expression are text.
      if (rest.startsWith('${{')) {
        const end = rest.indexOf('}}');
        rest = end === -1 ? '' : rest.slice(end + 2);
        continue;
      }
      if (char === '{' || char === '[') open.push({ isMap: char === '{', key: null });
      if (char === '}' || char === ']') open.pop();
      if (char === ',' && top) top.key = null;
      rest = rest.slice(1);
    }
  }
  let place: YamlPlace = { path, key };
  for (const one of open) {
    const inner = place.key === null ? place.path : [...place.path, place.key];
    place = one.isMap ? { path: inner, key: one.key } : { path: [...inner, '[]'], key: '' };
  }
  return place;
}
