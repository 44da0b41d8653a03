import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RealForge } from '../../src/cli/real-forge/connect.js';
import { ROOT } from '../services/with-services.mjs';

export interface FeedDoc {
  /** The server whose recordings are nearest to this one. */
  readonly server: string;
  /** What the table says of a kind, such as `both`; null = a dash, or no row. */
  of(kind: string): string | null;
}

/** The table *By kind of event* of docs/feed.md for one server. */
export function feedDocOf({ family, version }: Pick<RealForge, 'family' | 'version'>): FeedDoc {
  const text = readFileSync(join(ROOT, 'docs/feed.md'), 'utf8');
  const rows = (/<!-- seen:[^>]*-->\n([\s\S]*?)<!-- end -->/.exec(text)?.[1] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const [head = [], , ...body] = rows;
  const own = /^\d+\.\d+|^\d+/.exec(version)?.[0] ?? '';
  const names = head.filter((name) => name.startsWith(`${family}-`));
  const server = names.find((name) => name === `${family}-${own}` || name === `${family}-${own.split('.')[0]}`);
  const column = head.indexOf(server ?? names.at(-1) ?? '');
  if (column < 0) throw new Error(`docs/feed.md has no column for ${family}`);
  const told = new Map(body.map((cells) => [(cells[0] ?? '').replaceAll('`', ''), cells[column] ?? '–']));
  return {
    server: head[column] ?? '',
    of: (kind) => {
      const value = told.get(kind) ?? '–';
      return value === '–' ? null : value;
    },
  };
}
