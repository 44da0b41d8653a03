import { isMap, isScalar, parse, parseDocument, stringify } from 'yaml';

/** What the text of a built-in set says of itself. */
interface ParsedSet {
  /** The comment at its head, as one paragraph. */
  readonly about: string;
  readonly constants: ReadonlyArray<{
    readonly name: string;
    /** Its default, as YAML on one line. */
    readonly value: string;
    /** The comment above it, as one paragraph. */
    readonly meaning: string;
  }>;
  /** The set that it extends itself; null = none. */
  readonly below: string | null;
  /** Ids of its rules and policies. */
  readonly ids: readonly string[];
}

export function parseSet(text: string): ParsedSet {
  const [head = ''] = /^(?:#.*\n)*/.exec(text) ?? [];
  const {
    extends: below = null,
    vars,
    rules = [],
    policies = [],
  } = parse(text) as {
    extends?: string;
    vars: Record<string, unknown>;
  } & Partial<Record<'rules' | 'policies', Array<{ id: string }>>>;
  const node = parseDocument(text).get('vars');
  // The library keeps the comment above the first entry with the map.
  const comments = isMap(node)
    ? node.items.map(({ key }, n) => (n === 0 ? node.commentBefore : isScalar(key) ? key.commentBefore : null) ?? '')
    : [];
  const constants = Object.entries(vars).map(([name, value], n) => ({
    name,
    value: stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trim(),
    meaning: oneLine(comments[n] ?? ''),
  }));
  return {
    about: oneLine(head.replaceAll(/^# ?/gm, '')),
    constants,
    below,
    ids: [...rules, ...policies].map(({ id }) => id),
  };
}

function oneLine(comment: string): string {
  return comment.trim().replaceAll(/\s+/g, ' ');
}
