import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

interface Locked {
  version?: string;
  integrity?: string;
  license?: string;
  link?: boolean;
  dev?: boolean;
}

const LOCKS = ['package-lock.json', 'bench/package-lock.json', 'test/mutation/package-lock.json'];

/** Licences that allow what an MIT project does with a package: use it, change it, ship it. */
const PERMITTED = new Set([
  'MIT',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
]);
/** What is never shipped: data tables of build tools may ask for attribution, and axe-core asks that changes of its own files be shown. */
const PERMITTED_TO_BUILD = new Set([...PERMITTED, 'CC-BY-4.0', 'MPL-2.0']);

function packagesOf(file: string): Array<[string, Locked]> {
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Locked> };
  return Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true);
}

/** SPDX expressions as lock files hold them: licences joined by AND (all must be permitted) or OR (one must be), in at most one pair of parentheses. */
function isPermitted(license: string | undefined, permitted: ReadonlySet<string>): boolean {
  const text = (license ?? '').replace(/^\((.*)\)$/, '$1');
  if (text.includes(' OR ')) return text.split(' OR ').some((one) => isPermitted(one, permitted));
  return text.split(' AND ').every((one) => permitted.has(one));
}

/**
 * Packages that the lock file does not pin by digest. npm leaves the digest out where the registry lacks a platform's package; the cure is a version
 * that the registry has for every platform (an exact version or an override in package.json).
 */
function unpinned(packages: Array<[string, Locked]>): string[] {
  return packages
    .filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
    .map(([path, { version }]) => `${path}@${version}`);
}

function notPermitted(packages: Array<[string, Locked]>, isShipped: boolean): string[] {
  return packages
    .filter(([, { license, dev }]) => !isPermitted(license, isShipped && dev !== true ? PERMITTED : PERMITTED_TO_BUILD))
    .map(([path, { license }]) => `${path}: ${license ?? 'no licence'}`);
}

describe('architecture/lock', () => {
  it.each(LOCKS)('%s pins every package by its digest', (file) => {
    const packages = packagesOf(file);

    expect(packages.length).toBeGreaterThan(50);
    expect(unpinned(packages)).toEqual([]);
  });

  it.each(LOCKS)('%s holds permitted licences alone', (file) => {
    expect(notPermitted(packagesOf(file), file === 'package-lock.json')).toEqual([]);
  });

  it.each<[string, Locked, boolean]>([
    ['a digest', { version: '1.0.0', integrity: 'sha512-AAAA' }, false],
    ['no digest', { version: '1.0.0' }, true],
    ['a SHA-1 digest', { version: '1.0.0', integrity: 'sha1-AAAA' }, true],
  ])('%s => found: %s', (_, locked, found) => {
    expect(unpinned([['node_modules/a', locked]])).toHaveLength(found ? 1 : 0);
  });

  it.each<[Locked, boolean]>([
    [{ license: 'MIT' }, false],
    [{ license: '(MIT OR GPL-3.0-only)' }, false],
    [{ license: '(Apache-2.0 AND BSD-3-Clause)' }, false],
    [{ license: 'Apache-2.0 AND GPL-2.0-only' }, true],
    [{ license: 'AGPL-3.0-only' }, true],
    [{ license: 'CC-BY-4.0' }, true],
    [{ license: 'CC-BY-4.0', dev: true }, false],
    [{ license: 'MPL-2.0' }, true],
    [{ license: 'MPL-2.0', dev: true }, false],
    [{}, true],
  ])('a shipped package with %j => found: %s', (locked, found) => {
    expect(notPermitted([['node_modules/a', locked]], true)).toHaveLength(found ? 1 : 0);
  });
});
