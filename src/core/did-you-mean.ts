import { distance } from 'fastest-levenshtein';

/** Longer words are not compared: nobody mistypes a known word that much, and the time grows with the square of the length. */
const LONGEST = 100;

/** The nearest known word, when it is near enough to be meant; null otherwise. */
export function didYouMean(word: string, candidates: readonly string[]): string | null {
  if (word.length > LONGEST) return null;
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  let bestShared = 0;
  for (const candidate of candidates) {
    const away = distance(word.toLowerCase(), candidate.toLowerCase());
    // In a word of three letters, two wrong letters make another word; two swapped letters do not.
    if (word.length <= 3 && away > 1 && lettersOf(word) !== lettersOf(candidate)) continue;
    const shared = sharedEnds(word.toLowerCase(), candidate.toLowerCase());
    if (away > bestDistance || (away === bestDistance && (best === null || shared <= bestShared))) continue;
    [best, bestDistance, bestShared] = [candidate, away, shared];
  }
  return best;
}

/** How many letters two words share at their beginning and end. Among equally near words, the one that shares more is meant. */
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

/** The known word that is most similar to one of the given words, however different it is; null = no word is known. */
export function nearestWord(words: readonly string[], candidates: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const away = Math.min(...words.map((word) => distance(word.toLowerCase(), candidate.toLowerCase())));
    if (best === null || away < bestDistance) [best, bestDistance] = [candidate, away];
  }
  return best;
}
