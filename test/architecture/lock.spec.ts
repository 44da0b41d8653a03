// npm pins what it installs, but it checks neither licences nor that every digest is there, and `npm audit` needs a registry. So lock files are read here.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Locked {
  version?: string;
  integrity?: string;
  license?: string;
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

const LOCKS = ['package-lock.json', 'bench/package-lock.json', 'test/mutation/package-lock.json'];

/** Licences that allow what an MIT project does with a package: use it, change it, ship it. */
const PERMITTED = [
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
];
/** What is never shipped: data tables of build tools may ask for attribution, and axe-core asks that changes of its own files be shown. */
const PERMITTED_TO_BUILD = [...PERMITTED, 'CC-BY-4.0', 'MPL-2.0'];

/** Lowest versions without a known hole of what is shipped, one for each line of releases that is still mended; none = not at all. */
const FLOORS: ReadonlyMap<string, readonly string[]> = new Map([
  // CVE-2026-67319, -67320, -67321; CVE-2026-42033, -42034; CVE-2025-27152
  ['axios', ['1.18.0']],
  // CVE-2025-64718, CVE-2026-53550, CVE-2026-59869
  ['js-yaml', ['4.3.0']],
  // CVE-2026-12590
  ['body-parser', ['1.20.6', '2.3.0']],
  // Parsers of multipart bodies, which no route takes (CVE-2026-5079).
  ['multer', []],
  ['busboy', []],
]);

/** SPDX expressions as lock files hold them: licences joined by AND (all must be permitted) or OR (one must be), in at most one pair of parentheses. */
function isPermitted(license: string, permitted: readonly string[]): boolean {
  const text = license.replace(/^\((.*)\)$/, '$1');
  if (text.includes(' OR ')) return text.split(' OR ').some((one) => isPermitted(one, permitted));
  return text.split(' AND ').every((one) => permitted.includes(one));
}

/** By the floor of its own major line, else by the lowest line above it; above all lines nothing is known. */
function isBelowFloor(version: string, floors: readonly string[]): boolean {
  if (floors.length === 0) return true;
  const floor = floors.find((one) => Number.parseInt(one, 10) >= Number.parseInt(version, 10));
  return floor !== undefined && version.localeCompare(floor, 'en', { numeric: true }) < 0;
}

/** Where the lock file has a package that another asks for: beside it, or further up. */
function placeOf(packages: Readonly<Record<string, Locked>>, name: string, asker: string): string | null {
  for (let folder = asker; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[path]) return path;
    if (folder === '') return null;
  }
}

/** Places of the packages that src/ imports, and of what those need: they are in the bundle, or installed beside it. */
function shippedOf(packages: Readonly<Record<string, Locked>>): ReadonlySet<string> {
  const names = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('.spec.'))
    .flatMap((name) => [
      ...readFileSync(join('src', name), 'utf8').matchAll(/(?:from|import\(?)\s*'((?:@[\w.-]+\/)?[\w-][\w.-]*)[^']*'/g),
    ])
    .map(([, name = '']) => name);
  const shipped = new Set(names.flatMap((name) => placeOf(packages, name, '') ?? []));
  for (const path of shipped) {
    const { dependencies, optionalDependencies, peerDependencies } = packages[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const place = placeOf(packages, name, path);
      if (place !== null) shipped.add(place);
    }
  }
  return shipped;
}

/** What is wrong with a locked package. npm leaves the digest out where the registry lacks a platform's package: pin a version that it has. */
function faultsOf(
  path: string,
  { version = '', integrity, license = 'no licence' }: Locked,
  isShipped = true,
): string[] {
  const floors = isShipped ? FLOORS.get(path.split('node_modules/').at(-1) ?? '') : undefined;
  return [
    ...(integrity?.startsWith('sha512-') ? [] : [`${path}@${version} has no SHA-512 digest`]),
    ...(isPermitted(license, isShipped ? PERMITTED : PERMITTED_TO_BUILD) ? [] : [`${path}: ${license}`]),
    ...(floors && isBelowFloor(version, floors) ? [`${path}@${version} has a known hole`] : []),
  ];
}

describe('architecture/lock', () => {
  it.each(LOCKS)('%s pins every package by its digest, with a permitted licence and no known hole', (file) => {
    const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Locked> };
    const installed = Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true);

    expect(installed.length).toBeGreaterThan(50);
    const shipped = file === 'package-lock.json' ? shippedOf(packages) : new Set<string>();
    expect(installed.flatMap(([path, one]) => faultsOf(path, one, shipped.has(path)))).toEqual([]);
  });

  it('counts as shipped what src/ imports and what that needs, and no tool', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
    const shipped = shippedOf(packages);

    for (const name of ['yaml', 'axios', 'typeorm', 'fast-json-stringify', '@electric-sql/pglite', '@codemirror/view'])
      expect([name, shipped.has(`node_modules/${name}`)]).toEqual([name, true]);
    for (const name of ['jest', 'oxlint', 'axe-core', 'rolldown'])
      expect([name, shipped.has(`node_modules/${name}`)]).toEqual([name, false]);
  });

  const fine = { version: '2.0.0', integrity: 'sha512-AAAA', license: 'MIT' };
  it.each<[string, Locked, number]>([
    ['node_modules/axios', fine, 0],
    ['node_modules/a', { ...fine, integrity: 'sha1-AAAA' }, 1],
    ['node_modules/a', { version: '1.0.0', license: 'MIT' }, 1],
    ['node_modules/a', { ...fine, license: '(MIT OR GPL-3.0-only)' }, 0],
    ['node_modules/a', { ...fine, license: 'Apache-2.0 AND GPL-2.0-only' }, 1],
    ['node_modules/a', { ...fine, license: 'MPL-2.0' }, 1],
    ['node_modules/a', { version: '1.0.0', integrity: 'sha512-AAAA' }, 1],
    ['node_modules/axios', { ...fine, version: '1.17.9' }, 1],
    ['node_modules/axios', { ...fine, version: '0.30.0' }, 1],
    ['node_modules/axios', { ...fine, version: '1.18.0' }, 0],
    ['node_modules/a/node_modules/js-yaml', { ...fine, version: '4.2.9' }, 1],
    ['node_modules/body-parser', { ...fine, version: '1.20.6' }, 0],
    ['node_modules/body-parser', { ...fine, version: '2.2.9' }, 1],
    ['node_modules/busboy', fine, 1],
  ])('%s %j => faults: %i', (path, locked, count) => {
    expect(faultsOf(path, locked)).toHaveLength(count);
  });

  it.each<[string, Locked]>([
    ['node_modules/a', { ...fine, license: 'MPL-2.0' }],
    ['node_modules/axios', { ...fine, version: '1.17.9' }],
  ])('%s %j is permitted in what only builds and tests', (path, locked) => {
    expect(faultsOf(path, locked, false)).toEqual([]);
  });
});
