import { LineCounter, isAlias, isMap, isNode, isPair, isScalar, isSeq, parseDocument, visit } from 'yaml';
import type { Document, Node } from 'yaml';
import type { Problem } from './problem.js';

/** A parsed YAML file that can say where each value stands. */
export interface LocatedYaml {
  readonly value: unknown;
  /** 1-based position of the value (or of the key, when `atKey`) at a path; the nearest existing parent when absent. */
  positionOf(path: readonly PropertyKey[], atKey?: boolean): { line: number; col: number };
}

/** Parse the operator's own YAML: YAML 1.2 core, unique keys, no aliases, no tags. Every syntax error is a problem with its place. */
export function parseLocatedYaml(file: string, text: string): { yaml: LocatedYaml | null; problems: Problem[] } {
  const counter = new LineCounter();
  const doc = parseDocument(text, {
    lineCounter: counter,
    version: '1.2',
    uniqueKeys: true,
    strict: true,
    merge: false,
    prettyErrors: false,
  });
  const problems: Problem[] = doc.errors.map((error) => ({
    file,
    ...place(counter, error.pos[0]),
    message: firstLine(error.message),
  }));
  visit(doc, {
    Node(_key, node) {
      if (isAlias(node))
        problems.push({
          file,
          ...place(counter, node.range?.[0] ?? 0),
          message: 'aliases are not used here',
          hint: 'write the value out',
        });
    },
  });
  if (problems.length > 0) return { yaml: null, problems };
  return {
    yaml: { value: doc.toJS() as unknown, positionOf: (path, atKey) => find(doc, counter, path, atKey ?? false) },
    problems: [],
  };
}

function find(
  doc: Document,
  counter: LineCounter,
  path: readonly PropertyKey[],
  atKey: boolean,
): { line: number; col: number } {
  let node: unknown = doc.contents;
  let offset = rangeStart(node);
  for (const [depth, segment] of path.entries()) {
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(segment),
      );
      if (!pair) break;
      const last = depth === path.length - 1;
      offset = rangeStart(atKey && last ? pair.key : (pair.value ?? pair.key)) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(segment)];
      offset = rangeStart(node) ?? offset;
    } else break;
  }
  return place(counter, offset ?? 0);
}

function rangeStart(node: unknown): number | null {
  return isNode(node) ? ((node as Node).range?.[0] ?? null) : null;
}

function place(counter: LineCounter, offset: number): { line: number; col: number } {
  const { line, col } = counter.linePos(offset);
  return { line: Math.max(1, line), col: Math.max(1, col) };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}
