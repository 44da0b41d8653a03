/** Whether git takes this as (the rest of) a ref name: the rules of git-check-ref-format, without its rule on a leading dash. */
export function isRefName(name: string): boolean {
  if (name === '' || name === '@' || /^\/|\/$|\/\/|\.\.|@\{|\.$/.test(name)) return false;
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(name)) return false;
  return name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));
}

/** Two refs of which one would be a folder of the other cannot both be. */
export function clashes(name: string, other: string): boolean {
  return name.startsWith(`${other}/`) || other.startsWith(`${name}/`);
}
