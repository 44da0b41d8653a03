const VERSION = /^v?(\d{1,9})\.(\d{1,9})(?:\.\d{1,9})?(?:[-+].*)?$/i;

/**
 * Major and minor number of a tag: `v1.4.0`, `1.4`, `v2.0.0-rc.1`.
 * @throws Error when the tag is no version
 */
export function readVersion(tag: string): { major: number; minor: number } {
  const parts = VERSION.exec(tag);
  if (!parts) throw new Error(`"${tag.slice(0, 80)}" is no version like v1.4.0`);
  return { major: Number(parts[1]), minor: Number(parts[2]) };
}
