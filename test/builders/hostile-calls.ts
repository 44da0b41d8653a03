/** A way to make an argument that is dear for its size. */
export interface HostileInput {
  readonly title: string;
  readonly of: (size: number) => unknown;
}

/** A call of one function with an argument `x` of any size. */
export interface HostileCall {
  /** As the engine calls the function. */
  readonly name: string;
  readonly source: string;
  readonly inputs: readonly HostileInput[];
}

/** Other variables of the calls. */
export const HOSTILE_DATA = {
  patterns: Array.from({ length: 20 }, (_, index) => `**/{a,b}*${index}/**/*a*`),
  texts: Array.from({ length: 1000 }, (_, index) => `src/${index}/${'a'.repeat(100)}`),
};

/** Lines that are dear to one function or another. */
const LINES = [
  'a', // Plain letters.
  '}',
  '": ',
  '- &a ',
  '%.6f',
  '# 1.4.0\n',
  '## [1.4.0](https://x/v1.3.0...v1.4.0)\n',
  '<!--\n',
  '](',
  '\ufdfa', // Eighteen letters when it is taken apart.
  '\u{1f600}', // Two units each.
  '9',
  ' ',
  '/',
  '-1.',
];
const TEXTS: readonly HostileInput[] = LINES.map((line) => ({
  title: JSON.stringify(line),
  of: (size) => line.repeat(Math.ceil(size / line.length)).slice(0, size),
}));
const LISTS: readonly HostileInput[] = [
  { title: 'numbers', of: (size) => Array.from({ length: size / 8 }, (_, index) => index) },
  { title: 'maps', of: (size) => Array.from({ length: size / 64 }, () => ({ a: { b: [1, 'two', 3.5] } })) },
  {
    title: 'texts',
    of: (size) => Array.from({ length: Math.min(900, size / 8) }, () => 'a'.repeat(Math.max(8, size / 900))),
  },
];
const ZONES = [
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getFullYear',
  'getHours',
  'getMilliseconds',
  'getMinutes',
  'getMonth',
  'getSeconds',
];

/** Every function that takes a text or a list, on inputs that are as dear as may be. */
export const HOSTILE_CALLS: readonly HostileCall[] = [
  ...texts('all_glob', ['all_glob(texts, ["**/*" + x, x])', 'all_glob([x], patterns)']),
  ...texts('any_glob', ['any_glob(texts, ["**/*" + x, x])', 'any_glob([x], patterns)']),
  ...lists('any_glob', 'any_glob(x, patterns)'),
  ...lists('all_glob', 'all_glob(x, ["**"])'),
  ...texts('glob', ['glob(x, "**/{a,b,c}/*a*b*c/**")', 'glob("a", x)', 'glob(x, "**a*a*a*a*a*a*a*b")']),
  ...texts('matches', ['x.matches("(a|b|c)*d")', '"a".matches(x)', 'matches(x, "(.*a){20}b")']),
  ...texts('captures', [
    'captures(x, "(.*b|a)")',
    'captures(x, "((?:a?){20}a{20})b")',
    'captures("a", x)',
    'captures(x, "#([0-9]+)")',
  ]),
  ...texts('bool', ['bool(x)']),
  ...texts('bytes', ['bytes(x)']),
  ...texts('double', ['double(x)']),
  ...texts('duration', ['duration(x)']),
  ...texts('int', ['int(x)']),
  ...texts('uint', ['uint(x)']),
  ...texts('timestamp', ['timestamp(x)']),
  ...texts('string', ['string(x)', 'string(bytes(x))']),
  ...texts('size', ['size(x)', 'x.size()', 'size(bytes(x))']),
  ...texts('_+_', ['(x + x).startsWith("b")']),
  ...lists('_+_', 'size(x + x)'),
  ...['_<_', '_<=_', '_>_', '_>=_'].flatMap((name) => texts(name, [`x ${name.slice(1, -1)} x + "a"`])),
  ...['_==_', '_!=_'].flatMap((name) => [
    ...texts(name, [`x ${name.slice(1, -1)} x + "a"`]),
    ...lists(name, `x ${name.slice(1, -1)} x + [1]`),
  ]),
  ...texts('@in', ['x in [x + "a", x + "b"]']),
  ...lists('@in', '"b" in x'),
  ...lists('@walk', 'x.all(one, true)'),
  ...texts('charAt', ['x.charAt(1)']),
  ...texts('substring', ['x.substring(1)', 'x.substring(0, 1)']),
  ...texts('contains', [
    'x.contains("aaaaaaaab")',
    'x.contains("baaaaaaaaaaaaaaaaaaa")',
    'x.contains(x.substring(1) + "b")',
    'x.contains("b" + x.substring(size(x) / 2))',
  ]),
  ...texts('startsWith', ['x.startsWith(x)']),
  ...texts('endsWith', ['x.endsWith(x)']),
  ...texts('indexOf', ['x.indexOf("b")', 'x.indexOf("b" + x.substring(size(x) / 2))', 'x.indexOf("aab", 1)']),
  ...texts('lastIndexOf', [
    'x.lastIndexOf("b")',
    'x.lastIndexOf(x.substring(size(x) / 2) + "b")',
    'x.lastIndexOf("aab", 1)',
  ]),
  ...texts('replace', ['x.replace("a", "b")', 'x.replace("", "")', 'x.replace("}", "", 5)']),
  ...texts('split', ['x.split("")', 'x.split("a")', 'x.split("a", 3)']),
  ...texts('lowerAscii', ['x.lowerAscii()']),
  ...texts('upperAscii', ['x.upperAscii()']),
  ...texts('trim', ['x.trim()']),
  ...texts('strings.quote', ['strings.quote(x)']),
  ...lists('join', 'x.join(", ")'),
  ...texts('join', ['texts.join(x)']),
  ...texts('format', [
    'x.format([1.5, 2.5])',
    '"%s %x".format([x, x])',
    `x.format([${Array.from({ length: 400 }, () => '1.5').join(', ')}])`,
  ]),
  ...lists('format', '"%s".format([x])'),
  ...ZONES.flatMap((name) => texts(name, [`now.${name}(x)`])),
  { name: 'getFullYear', source: 'x.map(one, now.getFullYear("Europe/Berlin"))', inputs: LISTS.slice(0, 1) },
  ...texts('parse_yaml', [
    'parse_yaml(x)',
    'parse_yaml("a: [" + x)',
    'parse_yaml("a:\\n" + x)',
    'parse_yaml("\\"" + x + "\\"")',
  ]),
  ...lists('md_list', 'md_list(x)'),
  ...texts('md_list', ['md_list([x, x])', 'md_list([[x], {"text": x, "url": "https://x/1"}])']),
  ...lists('md_table', 'md_table(x, ["a"])'),
  ...texts('md_table', ['md_table([{"a": x}, {"a": [x, x]}], ["a"])']),
  ...texts('repo_of', ['repo_of(x)']),
  ...texts('section', ['section(x, "v1.4.0")', 'section(x, "2.0.0")', 'section("# a", x)', 'section(x, x)']),
  ...texts('slug', ['slug(x)']),
  ...['minor', 'next_major', 'next_minor', 'next_patch'].flatMap((name) =>
    texts(name, [`${name}(x)`, `${name}("1.2" + x)`]),
  ),
  ...lists('sum', 'sum(x)'),
];

function texts(name: string, sources: readonly string[]): HostileCall[] {
  return sources.map((source) => ({ name, source, inputs: TEXTS }));
}

function lists(name: string, source: string): HostileCall[] {
  return [{ name, source, inputs: LISTS }];
}
