import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const SRC = resolve('src');
/** Interfaces that are no `*.port.ts` because they hold more than the interface: what an action is, and what a client of a forge is. */
const MORE_PORTS = ['actions/define-action.ts', 'forge/forge-client.ts'];

const textOf = (file: string): string => readFileSync(join(SRC, file), 'utf8');
const isPort = (file: string): boolean => file.endsWith('.port.ts') || MORE_PORTS.includes(file);

/** Imports by file, types included, with the names that are imported. */
function importsOf(file: string): ReadonlyMap<string, readonly string[]> {
  const found = [...textOf(file).matchAll(/^import (?:type )?\{?([^'}]*)\}? from '(\.[^']+)\.js';/gm)];
  return new Map(
    found.map(([, names = '', target = '']) => [
      relative(SRC, resolve(SRC, dirname(file), `${target}.ts`)),
      names.split(',').map((name) => name.replace(/\btype\b/, '').trim()),
    ]),
  );
}

/** What a step imports: its own file, and the helpers that it uses out of the folder of its name. */
function importsOfStep(file: string): ReadonlyMap<string, readonly string[]> {
  const own = importsOf(file);
  const helpers = [...own.keys()].filter((target) => dirname(target) === file.replace(/\.ts$/, ''));
  return new Map([...helpers.flatMap((helper) => [...importsOf(helper)]), ...own]);
}

/** Whether a file says that it is what an interface asks for. */
function implementsOne(file: string, names: readonly string[]): boolean {
  const text = textOf(file);
  return names.some(
    (name) =>
      new RegExp(`(implements [^{]*\\b${name}\\b)|(\\): ${name} \\{)`).test(text) ||
      (name === 'AnyAction' && /= defineAction\(/.test(text)),
  );
}

/** A ring goes from a queue to whoever serves the topic: some file that has the queue of the port call it. */
function isWokenBy(queue: string, file: string): boolean {
  return implementsOne(queue, ['WorkQueue']) && CONSUMERS.some((consumer) => importsOf(consumer).has(file));
}

const CONSUMERS = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
  .filter((name) => /\.serve\(/.test(textOf(name)));

function calls(caller: string, called: string): boolean {
  const imports = importsOfStep(caller);
  if (imports.has(called)) return true;
  if ([...imports].some(([port, names]) => isPort(port) && importsOf(called).has(port) && implementsOne(called, names)))
    return true;
  return isWokenBy(caller, called);
}

/** Files that nobody before them calls. */
function uncalled(files: readonly string[]): string[] {
  const waiting: string[] = [];
  return files.filter((file) => {
    while (waiting.length > 0 && !calls(waiting.at(-1) ?? '', file)) waiting.pop();
    const isCalled = waiting.length > 0 || file === files[0];
    waiting.push(file);
    return !isCalled;
  });
}

const told = /^## Life of a delivery\n([^]*?)^## /m.exec(readFileSync('docs/architecture.md', 'utf8'))?.[1] ?? '';
const way = [...told.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = '']) => file);

describe('architecture/life-of-a-delivery', () => {
  it('is told in at most twelve files, from the webhook to the HTTP client', () => {
    expect(way.length).toBeLessThanOrEqual(12);
    expect(way[0]).toMatch(/^webhooks\//);
    expect(textOf(way.at(-1) ?? '')).toMatch(/from 'axios'/);
  });

  it('goes from each file to one that it calls, directly or through a port', () => {
    expect(uncalled(way)).toEqual([]);
  });

  it.each(['pipeline/decide.ts', 'pipeline/execute.ts', 'forge/http/create-forge-client.ts'])(
    'notices when %s is left out',
    (file) => {
      expect(uncalled(way.filter((one) => one !== file))).not.toEqual([]);
    },
  );

  it.each(['receive', 'decide', 'execute', 'recover'])('pipeline/%s.ts has at most 250 lines', (step) => {
    expect(textOf(`pipeline/${step}.ts`).trimEnd().split('\n').length).toBeLessThanOrEqual(250);
  });
});
