import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

/** Lowest versions without a known hole. Several floors: one for each line of releases that is still mended. */
interface Floor {
  package: string;
  floors: string[];
  why: string;
}

interface Locked {
  version?: string;
  dev?: boolean;
}

type Packages = Record<string, Locked>;

const FLOORS = JSON.parse(readFileSync('test/architecture/version-floors.json', 'utf8')) as Floor[];
const LOCKED = (JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Packages }).packages;

function parts(version: string): number[] {
  return (version.split(/[-+]/)[0] ?? '').split('.').map(Number);
}

function isBelow(version: string, floor: string): boolean {
  const [a, b] = [parts(version), parts(floor)];
  const at = [0, 1, 2].find((place) => a[place] !== b[place]);
  // A prerelease of the floor itself comes before it.
  return at === undefined ? version.includes('-') : (a[at] ?? 0) < (b[at] ?? 0);
}

/** The floor of the version's own major line, else the lowest line above it. */
function floorFor(version: string, floors: readonly string[]): string | undefined {
  const major = parts(version)[0] ?? 0;
  return [...floors]
    .sort((a, b) => (parts(a)[0] ?? 0) - (parts(b)[0] ?? 0))
    .find((floor) => (parts(floor)[0] ?? 0) >= major);
}

/** Every production package that is locked below its floor, wherever it lies in the tree. */
function belowFloor(packages: Packages, floors: readonly Floor[]): string[] {
  return Object.entries(packages).flatMap(([path, { version, dev }]) => {
    const rule = floors.find((floor) => floor.package === path.split('node_modules/').at(-1));
    if (rule === undefined || version === undefined || dev === true || !path.includes('node_modules/')) return [];
    const floor = floorFor(version, rule.floors);
    return floor !== undefined && isBelow(version, floor) ? [`${path}@${version} is below ${floor}: ${rule.why}`] : [];
  });
}

describe('architecture/floors', () => {
  it('locks no production dependency below its floor', () => {
    expect(belowFloor(LOCKED, FLOORS)).toEqual([]);
  });

  it('looks at a lock file that holds production dependencies', () => {
    expect(LOCKED['node_modules/axios']).toMatchObject({ version: expect.any(String) });
    expect(LOCKED['node_modules/axios']?.dev).toBeUndefined();
  });

  it('brings no multipart parser along', () => {
    expect(
      Object.entries(LOCKED).filter(([path, { dev }]) => /node_modules\/(multer|busboy)$/.test(path) && dev !== true),
    ).toEqual([]);
  });

  it.each<[string, Locked, boolean]>([
    ['node_modules/axios', { version: '1.17.9' }, true],
    ['node_modules/axios', { version: '1.18.0-beta.1' }, true],
    ['node_modules/axios', { version: '0.30.0' }, true],
    ['node_modules/axios', { version: '1.18.0' }, false],
    ['node_modules/axios', { version: '2.0.0' }, false],
    ['node_modules/axios', { version: '1.17.9', dev: true }, false],
    ['node_modules/a/node_modules/js-yaml', { version: '4.2.9' }, true],
    ['node_modules/body-parser', { version: '1.20.5' }, true],
    ['node_modules/body-parser', { version: '1.20.6' }, false],
    ['node_modules/body-parser', { version: '2.2.9' }, true],
    ['node_modules/body-parser', { version: '2.3.0' }, false],
    ['node_modules/not-axios', { version: '0.0.1' }, false],
  ])('%s %j => found: %s', (path, locked, found) => {
    expect(belowFloor({ [path]: locked }, FLOORS)).toHaveLength(found ? 1 : 0);
  });
});
