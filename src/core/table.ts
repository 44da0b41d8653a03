/**
 * A table whose keys come from outside: from a header, a body, a rule file or a forge's answer. It has no prototype, so `constructor` and
 * `__proto__` are ordinary keys and find nothing that was not put there.
 */
export function tableOf<Value>(entries: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.assign(emptyTable<Value>(), entries);
}

/** See `tableOf`; to be filled. */
export function emptyTable<Value>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}

/** The own value of a JSON object under a key from outside. */
export function ownValue<Value>(
  map: Readonly<Record<string, Value>> | null | undefined,
  word: string,
): Value | undefined {
  return map && Object.hasOwn(map, word) ? map[word] : undefined;
}
