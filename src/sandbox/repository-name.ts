/** The rule on the letters of a name; its own name when it is broken. */
export function alphaDashDot(text: string): string | undefined {
  return /^[A-Za-z0-9\-_.]+$/.test(text) ? undefined : 'AlphaDashDot';
}

const RESERVED = ['.', '..', '-'];
const ENDINGS = ['.git', '.wiki', '.rss', '.atom'];

/** Why a name of the right letters is no repository name; `hasDots` where servers differ in their answer. */
export function brokenRepositoryName(name: string): { message: string; hasDots: boolean } | undefined {
  if (name.includes('..')) return { message: `name is invalid [${name}]: must be valid alpha or numeric or dash(-_) or dot characters`, hasDots: true };
  if (RESERVED.includes(name)) return { message: `name is reserved [name: ${name}]`, hasDots: false };
  const ending = ENDINGS.find((one) => name.toLowerCase().endsWith(one));
  return ending === undefined ? undefined : { message: `name pattern is not allowed [pattern: *${ending}]`, hasDots: false };
}
