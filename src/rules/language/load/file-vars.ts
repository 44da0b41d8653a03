import type { JsonObject } from '../../../core/json.js';
import { didYouMean } from '../../../core/did-you-mean.js';
import type { YamlNode } from './node.js';
import { nodeToJson } from './node.js';
import { asMap } from './read-shape.js';
import type { SourceFile } from './source-file.js';

/** One file that has a say in the constants, with its `vars`. */
interface VarsLayer {
  readonly file: SourceFile;
  readonly node: YamlNode | undefined;
}

/**
 * The constants of a file and of what it extends, the deepest first. What the file says itself wins: its vars are how it makes the shared rules its own.
 * One that replaces another has the same kind of value, so that a wrong one is told where it is written and not in the expressions that read it.
 */
export function readVars(layers: readonly VarsLayer[]): JsonObject {
  const effective = new Map<string, { readonly value: YamlNode; readonly path: string }>();
  for (const { file, node } of layers) {
    const map = node && asMap(file, node, 'vars');
    if (!map) continue;
    checkConstant(file, map);
    for (const { key, value } of map.entries) {
      const below = effective.get(key);
      const [wanted, kind] = [below && kindOf(below.value), kindOf(value)];
      const problems = file.problems.length;
      if (below && wanted && kind && wanted !== kind)
        file.newProblem(value.start, `vars.${key} is ${wanted} in ${below.path}, this is ${kind}`);
      if (file.problems.length === problems) effective.set(key, { value, path: file.path });
    }
  }
  return Object.fromEntries([...effective].map(([key, { value }]) => [key, nodeToJson(value)]));
}

/** Null where the value says nothing of its kind. */
function kindOf(node: YamlNode): string | null {
  if (node.kind !== 'scalar') return node.kind === 'map' ? 'a map' : 'a list';
  if (node.value === null) return null;
  if (typeof node.value === 'string') return 'a text';
  return typeof node.value === 'boolean' ? 'true or false' : 'a number';
}

/** Plain data: an expression here would have no event to look at. */
function checkConstant(file: SourceFile, node: YamlNode): void {
  if (node.kind === 'list') node.items.forEach((item) => checkConstant(file, item));
  if (node.kind === 'map') node.entries.forEach(({ value }) => checkConstant(file, value));
  if (node.kind === 'scalar' && typeof node.value === 'string' && node.value.includes('${{'))
    file.problem(node.start, 'vars are constants: no ${{ }} here');
}

/** Warns of constants of the last file that neither it nor what it extends reads. */
export function warnOfUnread(layers: readonly VarsLayer[]): void {
  const [top, below] = [layers.at(-1), layers.slice(0, -1)];
  const texts = layers.map((layer) => layer.file.text);
  // All of them are read where the map itself is.
  if (top?.node?.kind !== 'map' || texts.some((text) => /\bvars\b(?!\s*[.[:])/.test(text))) return;
  const { file } = top;
  const namesIn = (text: string): string[] =>
    [...text.matchAll(/\bvars\s*(?:\.\s*|\[\s*["'])(\w+)/g)].map(([, name]) => name ?? '');
  const readNames = new Set(texts.flatMap(namesIn));
  const aliases = new Set([...file.text.matchAll(/\*([\w-]+)/g)].map(([, name]) => name));
  const offered = below.flatMap((layer) =>
    layer.node?.kind === 'map' ? layer.node.entries.map(({ key }) => key) : [],
  );
  for (const { key, keyStart } of top.node.entries) {
    // It may stand there for its alias: `groups: &groups`, and `*groups` below.
    const anchor = /^[^\n:]*:\s*&([\w-]+)/.exec(file.text.slice(keyStart, keyStart + 200))?.[1];
    if (!/^\w+$/.test(key) || readNames.has(key) || (anchor !== undefined && aliases.has(anchor))) continue;
    const near = didYouMean(key, offered);
    if (below.length === 0)
      file.warn(keyStart, `vars.${key} is read by nothing in this file`, 'take it out, or is its name misspelt below?');
    else
      file.warn(
        keyStart,
        `vars.${key} is read by nothing in this file and what it extends`,
        near === null ? 'take it out' : `did you mean "${near}"?`,
      );
  }
}
