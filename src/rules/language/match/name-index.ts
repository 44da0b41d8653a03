/** Entries found by a name: equal to a literal, or beginning or ending with one. Asking costs by the name's length, never by how many there are. */
export class NameIndex<Entry> {
  readonly #literals = new Map<string, Entry[]>();
  readonly #prefixes = new Map<string, Entry[]>();
  readonly #suffixes = new Map<string, Entry[]>();
  #longestPrefix = 0;
  #longestSuffix = 0;

  addLiteral(name: string, entry: Entry): void {
    push(this.#literals, name, entry);
  }

  addPrefix(prefix: string, entry: Entry): void {
    push(this.#prefixes, prefix, entry);
    this.#longestPrefix = Math.max(this.#longestPrefix, prefix.length);
  }

  addSuffix(suffix: string, entry: Entry): void {
    push(this.#suffixes, suffix, entry);
    this.#longestSuffix = Math.max(this.#longestSuffix, suffix.length);
  }

  /** Adds every entry that may match; an entry may be added more than once. */
  find(name: string, into: Set<Entry>): void {
    for (const entry of this.#literals.get(name) ?? []) into.add(entry);
    for (let length = 1; length <= Math.min(name.length, this.#longestPrefix); length += 1) {
      for (const entry of this.#prefixes.get(name.slice(0, length)) ?? []) into.add(entry);
    }
    for (let length = 1; length <= Math.min(name.length, this.#longestSuffix); length += 1) {
      for (const entry of this.#suffixes.get(name.slice(-length)) ?? []) into.add(entry);
    }
  }

  /** Adds every entry: the name is not known. */
  all(into: Set<Entry>): void {
    for (const names of [this.#literals, this.#prefixes, this.#suffixes])
      for (const entries of names.values()) for (const entry of entries) into.add(entry);
  }
}

function push<Entry>(map: Map<string, Entry[]>, key: string, entry: Entry): void {
  const list = map.get(key);
  if (list) list.push(entry);
  else map.set(key, [entry]);
}
