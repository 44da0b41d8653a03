import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { ROOT } from '../../services/with-services.mjs';

/** A statement, or a part of one, as the source has it. */
export interface SourceStatement {
  /** `src/store/rows.ts:12` */
  readonly place: string;
  /** Its text between what is filled in. */
  readonly pieces: readonly string[];
}

const IS_SQL = /^\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH(?: RECURSIVE)?)\s/;
/** They make tables, or go past `Database`: backups and copies of whole stores, and files of the embedded engine. */
const NOT_SENT = /^src\/store\/(?:migrations\/|embedded\/|whole-tables|whole-store|copy-store|backup|migrate)/;

/** Each text of the program that begins as a statement does. */
export function sourceStatements(): SourceStatement[] {
  return readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .map((file) => `src/${file.replaceAll('\\', '/')}`)
    .filter((file) => /\.tsx?$/.test(file) && !/\.spec\.tsx?$/.test(file) && !NOT_SENT.test(file))
    .sort()
    .flatMap((file) => statementsIn(file, readFileSync(join(ROOT, file), 'utf8')));
}

export function statementsIn(file: string, text: string): SourceStatement[] {
  const statements: SourceStatement[] = [];
  let at = 0;
  for (const { raw, pieces } of literalsIn(
    parseSync(text, { syntax: 'typescript', decorators: true, tsx: file.endsWith('x') }),
  )) {
    if (!IS_SQL.test(pieces[0] ?? '')) continue;
    at = Math.max(at, text.indexOf(raw, at));
    statements.push({ place: `${file}:${text.slice(0, at).split('\n').length}`, pieces });
    at += 1;
  }
  return statements;
}

interface Literal {
  /** As it stands in the file, up to what is filled in first. */
  readonly raw: string;
  readonly pieces: readonly string[];
}

/** Of a syntax tree, in the order of the file. */
function* literalsIn(node: unknown): Generator<Literal> {
  if (typeof node !== 'object' || node === null) return;
  if (isNode(node, 'StringLiteral')) yield { raw: node.value, pieces: [node.value] };
  if (isNode(node, 'TemplateLiteral'))
    yield { raw: node.quasis[0]?.raw ?? '', pieces: node.quasis.map(({ cooked }) => cooked ?? '') };
  for (const child of Object.values(node)) yield* literalsIn(child);
}

interface Nodes {
  readonly StringLiteral: { readonly value: string };
  readonly TemplateLiteral: { readonly quasis: ReadonlyArray<{ readonly raw: string; readonly cooked?: string }> };
}

function isNode<Type extends keyof Nodes>(node: object, type: Type): node is Nodes[Type] {
  return 'type' in node && node.type === type && (type !== 'TemplateLiteral' || 'quasis' in node);
}

/** A query builder gives a number to each name. */
const NAMED = /(?<![:\w]):[a-z]\w*/;

/** Whether a statement that was sent holds all pieces, in their order. */
export function isSent({ pieces }: Pick<SourceStatement, 'pieces'>, sent: readonly string[]): boolean {
  const texts = pieces.flatMap((piece) => piece.split(NAMED));
  return sent.some((text) => {
    let from = 0;
    return texts.every((piece) => {
      const at = text.indexOf(piece, from);
      from = at + piece.length;
      return at !== -1;
    });
  });
}
