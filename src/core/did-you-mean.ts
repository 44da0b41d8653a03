import { distance } from 'fastest-levenshtein';

/** Nobody means a known word by more than this, and comparing costs time by the square of it. */
const LONGEST = 100;

/** The nearest known word, when it is near enough to be meant; null otherwise. */
export function didYouMean(word: string, known: readonly string[]): string | null {
  if (word.length > LONGEST) return null;
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const away = distance(word.toLowerCase(), candidate.toLowerCase());
    // Of three letters, two others make another word; two that changed places do not.
    if (word.length <= 3 && away > 1 && lettersOf(word) !== lettersOf(candidate)) continue;
    if (away < bestDistance) [best, bestDistance] = [candidate, away];
  }
  return best;
}

function lettersOf(word: string): string {
  return [...word.toLowerCase()].sort().join('');
}

/** Of the known words the one that is most like one of the given, however far away it is; null when none is known. */
export function nearestWord(words: readonly string[], known: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Infinity;
  for (const candidate of known) {
    const away = Math.min(...words.map((word) => distance(word.toLowerCase(), candidate.toLowerCase())));
    if (best === null || away < bestDistance) [best, bestDistance] = [candidate, away];
  }
  return best;
}
