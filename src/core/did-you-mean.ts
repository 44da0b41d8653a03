import { distance } from 'fastest-levenshtein';

/** Nobody means a known word by more than this, and comparing costs time by the square of it. */
const LONGEST = 100;

/** The nearest known word, when it is near enough to be meant; null otherwise. */
export function didYouMean(word: string, known: readonly string[]): string | null {
  if (word.length > LONGEST) return null;
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  let bestShared = 0;
  for (const candidate of known) {
    const away = distance(word.toLowerCase(), candidate.toLowerCase());
    // Of three letters, two others make another word; two that changed places do not.
    if (word.length <= 3 && away > 1 && lettersOf(word) !== lettersOf(candidate)) continue;
    const shared = sharedEnds(word.toLowerCase(), candidate.toLowerCase());
    if (away > bestDistance || (away === bestDistance && (best === null || shared <= bestShared))) continue;
    [best, bestDistance, bestShared] = [candidate, away, shared];
  }
  return best;
}

/** Letters that two words have in common at their beginning and their end: of two words as near, the one with more of them is meant. */
function sharedEnds(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let [first, last] = [0, 0];
  while (first < most && a[first] === b[first]) first += 1;
  while (last < most - first && a.at(-1 - last) === b.at(-1 - last)) last += 1;
  return first + last;
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
