import type { RuleFile } from '../revision.js';
import type { YamlNode } from './node.js';
import { readDocument } from './read-document.js';
import { readMap } from './read-map.js';
import type { ReadMap } from './read-map.js';
import { isRefused, readTexts } from './read-shape.js';
import type { Text } from './read-shape.js';
import { EnoughProblems, SourceFile } from './source-file.js';

/** How deep shared files may extend each other: the third extends nothing more. */
export const MAX_EXTENDS = 3;

/** One shared file below a file of the organization. */
export interface Layer {
  readonly file: SourceFile;
  readonly root: YamlNode;
  readonly keys: ReadMap<'shared_file'>;
}

/** The shared files that came with the files of an organization, each read once, however many places name it. */
export class SharedFiles {
  readonly #files: ReadonlyMap<string, { readonly ruleFile: RuleFile; readonly file: SourceFile }>;
  readonly #layers = new Map<string, Layer | null>();
  /** Which file of the organization brings each of them in. */
  readonly #extendedBy = new Map<string, string>();

  constructor(files: readonly RuleFile[], wasActive = false) {
    this.#files = new Map(
      files.flatMap((ruleFile) =>
        ruleFile.shared === undefined
          ? []
          : [[ruleFile.shared, { ruleFile, file: new SourceFile(ruleFile, wasActive) }] as const],
      ),
    );
  }

  /** Those that were read; their problems count. */
  get sources(): SourceFile[] {
    return [...this.#layers.keys()].flatMap((ref) => this.#files.get(ref)?.file ?? []);
  }

  isShared(path: string): boolean {
    return [...this.#files.values()].some(({ file }) => file.path === path);
  }

  /** What `extends` names, the deepest first, each once; what cannot be had is reported where it is named. */
  layersOf(file: SourceFile, refs: readonly Text[] | null): Layer[] {
    const layers: Layer[] = [];
    this.#collect(file, refs ?? [], [], file.path, layers);
    return layers;
  }

  #collect(file: SourceFile, refs: readonly Text[], above: readonly string[], owner: string, layers: Layer[]): void {
    for (const { value: ref, start } of refs) {
      const shared = this.#files.get(ref);
      const refusal = this.#refusalOf(ref, shared?.ruleFile, above, owner);
      if (refusal) {
        file.problem(start, refusal.message, refusal.hint);
        continue;
      }
      this.#extendedBy.set(ref, owner);
      const layer = this.#read(ref);
      if (!layer || layers.includes(layer)) continue;
      this.#collect(layer.file, layer.keys.value('extends') ?? [], [...above, ref], owner, layers);
      layers.push(layer);
    }
  }

  #refusalOf(
    ref: string,
    ruleFile: RuleFile | undefined,
    above: readonly string[],
    owner: string,
  ): { message: string; hint?: string } | null {
    if (above.includes(ref))
      return { message: `"${ref}" extends itself: ${[...above.slice(above.indexOf(ref)), ref].join(' -> ')}` };
    if (above.length >= MAX_EXTENDS)
      return { message: `shared files may extend each other ${MAX_EXTENDS} deep, this is one deeper` };
    if (!ruleFile) return { message: `there is no shared file "${ref}"` };
    if (ruleFile.refused !== undefined) return { message: `"${ref}" cannot be used: ${ruleFile.refused}` };
    const first = this.#extendedBy.get(ref);
    if (first !== undefined && first !== owner)
      return {
        message: `"${ref}" is extended by ${first} already`,
        hint: 'its rules exist once: extend it in one file',
      };
    return null;
  }

  #read(ref: string): Layer | null {
    const cachedLayer = this.#layers.get(ref);
    if (cachedLayer !== undefined) return cachedLayer;
    const file = this.#files.get(ref)?.file;
    const layer = file ? readLayer(file) : null;
    this.#layers.set(ref, layer);
    return layer;
  }
}

function readLayer(file: SourceFile): Layer | null {
  try {
    const root = readDocument(file);
    const keys = root && readMap(file, root, 'shared_file');
    if (!root || !keys) return null;
    const secrets = keys.entries.get('secrets');
    if (secrets)
      file.problem(secrets.keyStart, 'a shared file names no secrets', 'list them in the file that extends it');
    return { file, root, keys };
  } catch (error) {
    if (error instanceof EnoughProblems) return null;
    throw error;
  }
}

/** Shared files that a text names, for those who read files; a text that cannot be read names none, and the loader says why. */
export function extendsOf(text: string): string[] {
  if (!/^extends\s*:/m.test(text)) return [];
  const file = new SourceFile({ path: '', text });
  try {
    const root = readDocument(file);
    const node = root?.kind === 'map' ? root.entries.find(({ key }) => key === 'extends')?.value : undefined;
    if (!node || isRefused(node)) return [];
    return (readTexts(file, node, 'extends') ?? []).map(({ value }) => value);
  } catch (error) {
    if (error instanceof EnoughProblems) return [];
    throw error;
  }
}
