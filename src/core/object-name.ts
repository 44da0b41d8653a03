/**
 * A name of a label or milestone as people read it: without spaces around it, and with composed characters (NFC), so that an `é` of one
 * character and one of a letter with an accent are one name. Servers keep both side by side.
 */
export function objectName(name: string): string {
  return name.trim().normalize('NFC');
}

export function isSameName(a: string | null | undefined, b: string | null | undefined): boolean {
  return objectName(a ?? '') === objectName(b ?? '');
}

const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u];

/** A word with letters of two scripts that look alike: it reads as another word does. Null = there is none. */
export function mixedWord(name: string): string | null {
  return name.split(/[^\p{L}\p{M}]+/u).find((word) => SCRIPTS.filter((script) => script.test(word)).length > 1) ?? null;
}
