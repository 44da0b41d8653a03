import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

/** The sandbox and the demo are asked by our own words alone. */
const EXEMPT = /^src\/(sandbox|verifier|cli\/demo)\/|\.spec\.tsx?$/;

/** `Record<string, …>`, also inside Readonly and Partial. Values of unknown type are parameters under names of our own. */
function isTable(type: ts.TypeNode | undefined): boolean {
  if (!type || !ts.isTypeReferenceNode(type)) return false;
  const [first, second] = type.typeArguments ?? [];
  if (['Readonly', 'Partial'].includes(type.typeName.getText())) return isTable(first);
  return (
    type.typeName.getText() === 'Record' &&
    first?.kind === ts.SyntaxKind.StringKeyword &&
    second?.kind !== ts.SyntaxKind.UnknownKeyword
  );
}

/** Tables of texts that inherit from Object.prototype, and questions that Object.prototype answers. */
function faultsOf(path: string, text: string): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const faults: string[] = [];
  const tell = (node: ts.Node, fault: string): void => {
    faults.push(`${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${fault}`);
  };
  const visit = (node: ts.Node): void => {
    if ((ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) && isTable(node.type)) {
      if (node.initializer && ts.isObjectLiteralExpression(node.initializer))
        tell(node, 'make it with tableOf or emptyTable (src/core/table.ts), or as a Map');
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword) {
      const isFixed =
        ts.isStringLiteral(node.left) || ts.isPrivateIdentifier(node.left) || /^[A-Z_]+$/.test(node.left.getText());
      if (!isFixed) tell(node, 'ask Object.hasOwn');
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return faults;
}

describe('architecture/tables', () => {
  it('asks no table with a prototype by a word from outside', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).map(
      (name) => `src/${name.replaceAll('\\', '/')}`,
    );
    const own = files.filter((name) => /\.tsx?$/.test(name) && !EXEMPT.test(name));

    expect(own.flatMap((name) => faultsOf(name, readFileSync(name, 'utf8')))).toEqual([]);
    expect(own.length).toBeGreaterThan(300);
  });

  it('sees what is wrong', () => {
    expect(faultsOf('a.ts', 'const A: Readonly<Record<string, number>> = { a: 1 };')).toHaveLength(1);
    expect(faultsOf('a.ts', 'class A { readonly #a: Record<string, number> = {}; }')).toHaveLength(1);
    expect(faultsOf('a.ts', 'const isIn = (name: string, map: object) => name in map;')).toHaveLength(1);
    expect(faultsOf('a.ts', "const A: Record<string, number> = tableOf({ a: 1 }); const isIn = 'a' in A;")).toEqual([]);
  });
});
