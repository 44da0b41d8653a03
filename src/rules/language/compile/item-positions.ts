import type { YamlNode } from '../load/node.js';
import type { SourceFile } from '../load/source-file.js';
import type { Position } from '../../../core/problem.js';

/** Where each value of a filter stands, by `itemKey`: a list may go over many lines, and one of them is the one that is wrong. */
export function itemPositions(file: SourceFile, filter: string, node: YamlNode): Record<string, Position> {
  const items = node.kind === 'list' ? node.items : [node];
  return Object.fromEntries(
    items.flatMap((item) =>
      item.kind === 'scalar' ? [[itemKey(filter, String(item.value)), file.position(item.start)]] : [],
    ),
  );
}

/** The key of one value of a filter among the positions of filters. */
export function itemKey(filter: string, value: string): string {
  return `${filter}=${value}`;
}
