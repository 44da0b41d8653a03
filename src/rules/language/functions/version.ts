const VERSION = /^v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:[-+].*)?$/i;

/**
 * The numbers of a tag: `v1.4.0`, `1.4`, `v2.0.0-rc.1`. The patch number is 0 where none stands.
 * @throws Error when the tag is no version
 */
export function readVersion(tag: string): { major: number; minor: number; patch: number } {
  const parts = VERSION.exec(tag);
  if (!parts) throw new Error(`"${tag.slice(0, 80)}" is no version like v1.4.0`);
  return { major: Number(parts[1]), minor: Number(parts[2]), patch: Number(parts[3] ?? 0) };
}
