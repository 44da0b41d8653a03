/** Compares the shapes of bodies: which keys stand in the object at each path. Values and ids do not count. */

/** Path -> the sets of keys (each as one text) that objects at this path have; array elements share the path `[]`. */
export type KeySets = Map<string, Set<string>>;

export function keySetsOf(bodies: readonly unknown[]): KeySets {
  const sets: KeySets = new Map();
  for (const body of bodies) collect(body, '$', sets);
  return sets;
}

function collect(value: unknown, path: string, sets: KeySets): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, `${path}[]`, sets);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const keys = Object.keys(value);
  sets.set(path, (sets.get(path) ?? new Set()).add(keys.join(' ')));
  for (const key of keys) collect((value as Record<string, unknown>)[key], `${path}.${key}`, sets);
}

/** Objects of ours whose keys (or their order) no recorded object at that path has. */
export function strangeShapes(ours: KeySets, recorded: KeySets): string[] {
  return [...ours].flatMap(([path, shapes]) => {
    const known = recorded.get(path);
    if (!known) return [`${path}: never an object in the recordings`];
    return [...shapes].filter((shape) => !known.has(shape)).map((shape) => `${path}: ${difference(shape, known)}`);
  });
}

/** Against the nearest of the known shapes. */
function difference(shape: string, known: ReadonlySet<string>): string {
  const ours = shape.split(' ');
  const texts = [...known].map((one) => {
    const theirs = one.split(' ');
    const [extra, missing] = [ours.filter((key) => !theirs.includes(key)), theirs.filter((key) => !ours.includes(key))];
    return {
      size: extra.length + missing.length,
      text: `extra [${extra.join(' ')}], missing [${missing.join(' ')}]${extra.length + missing.length === 0 ? ', other order' : ''}`,
    };
  });
  return texts.sort((a, b) => a.size - b.size)[0]?.text ?? '';
}

/** Path -> kinds of values seen there: `null`, `string`, `number`, `boolean`, `list`, `object`. */
export function kindsOf(bodies: readonly unknown[]): KeySets {
  const kinds: KeySets = new Map();
  const visit = (value: unknown, path: string): void => {
    kinds.set(path, (kinds.get(path) ?? new Set()).add(kindOf(value)));
    if (Array.isArray(value)) for (const item of value) visit(item, `${path}[]`);
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) visit(item, `${path}.${key}`);
  };
  for (const body of bodies) visit(body, '$');
  return kinds;
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
}

/** Values of ours of a kind that was never recorded at that path. */
export function strangeKinds(ours: KeySets, recorded: KeySets): string[] {
  return [...ours].flatMap(([path, kinds]) => {
    const known = recorded.get(path);
    return known
      ? [...kinds]
          .filter((kind) => !known.has(kind))
          .map((kind) => `${path}: ${kind} instead of ${[...known].join(' or ')}`)
      : [];
  });
}

/** Objects that stand in every recorded body and in none of ours. */
export function missingPlaces(ours: KeySets, recorded: readonly unknown[]): string[] {
  const perBody = recorded.map((body) => keySetsOf([body]));
  return [...(perBody[0]?.keys() ?? [])].filter((path) => perBody.every((one) => one.has(path)) && !ours.has(path));
}
