import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { isStartKind } from '../../src/core/event-kinds.js';
import { ruleFunctions } from '../../src/rules/language/functions/index.js';

const guide = readFileSync(fileURLToPath(new URL('../../docs/rules.md', import.meta.url)), 'utf8');
const allActions = readFileSync(fileURLToPath(new URL('../../docs/actions.md', import.meta.url)), 'utf8');
const examples = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text!);

describe('docs/rules.md', () => {
  it('has a first rule of five lines or less', () => {
    expect(examples[0]!.trim().split('\n').length).toBeLessThanOrEqual(5);
  });

  it('names every function and lookup, and no other; of actions real ones, and the page that the definitions write has each', () => {
    const named = (intro: RegExp, page = guide) => new Set([...page.matchAll(intro)].map(([, name]) => name!));
    const inTable = (heading: string) => guide.split(`| ${heading} |`)[1]!.split('\n\n')[0]!;

    expect(named(/^\| `(\w+)\([^|]*\|/gm)).toEqual(new Set(ruleFunctions.map(({ name }) => name)));
    const ofTable = [...inTable('action').matchAll(/^\| `([\w.]+)`/gm)].map(([, name]) => name ?? '');
    expect(ofTable.length).toBeGreaterThan(20);
    expect(ofTable.filter((name) => !actionCatalogue().has(name))).toEqual([]);
    expect(named(/^## ([\w.]+)$/gm, allActions)).toEqual(new Set(actionCatalogue().keys()));
    expect(new Set([...inTable('about').matchAll(/`([\w.]+)`/g)].map(([, name]) => name))).toEqual(
      new Set(lookupCatalogue().keys()),
    );
  });

  it('names real event kinds', () => {
    const listed = [
      ...guide
        .split('### `on`')[1]!
        .split('and others (')[0]!
        .matchAll(/`([\w.]+)`/g),
    ].map(([, kind]) => kind!);

    expect(listed.length).toBeGreaterThan(10);
    expect(listed.filter((kind) => !isStartKind(kind))).toEqual([]);
  });
});
