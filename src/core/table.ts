/**
 * Entries that are asked by words from outside: a header, a body, a rule file, an answer of a forge. Without a prototype `constructor` and
 * `__proto__` are words like all others, and find nothing that was not put there.
 */
export function tableOf<Value>(entries: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.assign(emptyTable<Value>(), entries);
}

/** See `tableOf`; to be filled. */
export function emptyTable<Value>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}

/** What a map of JSON holds itself under a word from outside. */
export function ownValue<Value>(
  map: Readonly<Record<string, Value>> | null | undefined,
  word: string,
): Value | undefined {
  return map && Object.hasOwn(map, word) ? map[word] : undefined;
}
