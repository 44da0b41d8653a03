import type { Json } from '../../../core/json.js';

/** A value of a rule file that knows where it stands; aliases are resolved, keys are plain strings. */
export type YamlNode = YamlMap | YamlList | YamlScalar;

export interface YamlMap {
  readonly kind: 'map';
  /** 0-based offset into the file. */
  readonly start: number;
  readonly entries: readonly YamlEntry[];
}

export interface YamlEntry {
  readonly key: string;
  readonly keyStart: number;
  readonly value: YamlNode;
}

export interface YamlList {
  readonly kind: 'list';
  readonly start: number;
  readonly items: readonly YamlNode[];
}

export type ScalarStyle = 'plain' | 'single' | 'double' | 'block';

export interface YamlScalar {
  readonly kind: 'scalar';
  readonly start: number;
  readonly value: null | boolean | number | bigint | string;
  readonly style: ScalarStyle;
  /** Stands for something that was refused and reported; readers say nothing more about it. */
  readonly isRefused?: true;
}

export function describeNode(node: YamlNode): string {
  if (node.kind !== 'scalar') return node.kind === 'map' ? 'a map' : 'a list';
  switch (typeof node.value) {
    case 'string':
      return 'a text';
    case 'boolean':
      return `the boolean ${node.value}`;
    case 'object':
      return 'empty';
    default:
      return `the number ${node.value}`;
  }
}

export function nodeToJson(node: YamlNode): Json {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(nodeToJson);
    case 'map':
      return Object.fromEntries(node.entries.map(({ key, value }) => [key, nodeToJson(value)]));
  }
}
