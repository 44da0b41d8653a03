import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { seededRandom } from '../../../src/core/seeded-random.js';
import { Disk } from './disk.js';
import type { Recorded } from './journal.js';

type Step = Recorded extends infer One ? (One extends Recorded ? Omit<One, 'at'> : never) : never;

describe('chaos/power/disk', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'forgehand-disk-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A hundred states after these calls, by what `look` sees in each. */
  function statesOf<T>(steps: readonly Step[], look: (path: string) => T): T[] {
    const disk = new Disk('/disk');
    for (const step of steps) disk.apply({ ...step, at: 0 } as Recorded);
    return Array.from({ length: 100 }, (_, seed) => {
      const into = mkdtempSync(join(folder, 'state-'));
      disk.cut(into, seededRandom(seed + 1));
      return look(into);
    });
  }

  const aFile = (name: string): Step[] => [
    { op: 'open', path: `/disk/${name}`, handle: name, size: 0, isNew: true, isFolder: false },
    { op: 'write', handle: name, position: 0, data: Buffer.from('kept') },
  ];
  const FLUSHED: Step[] = [
    { op: 'open', path: '/disk', handle: 'top', size: 0, isNew: false, isFolder: true },
    { op: 'flush', handle: 'top' },
  ];

  it('keeps a file of which bytes and name were flushed, and what is written afterwards may be there or not', () => {
    const steps: Step[] = [
      ...aFile('a'),
      { op: 'flush', handle: 'a' },
      ...FLUSHED,
      { op: 'write', handle: 'a', position: 4, data: Buffer.from('more') },
    ];

    const states = statesOf(steps, (path) => readFileSync(join(path, 'a'), 'utf8'));

    expect(new Set(states)).toEqual(new Set(['kept', 'keptmore']));
  });

  it('may lose the name of a flushed file, and the bytes of a named one', () => {
    const nameless = statesOf([...aFile('a'), { op: 'flush', handle: 'a' }], (path) => existsSync(join(path, 'a')));
    const empty = statesOf([...aFile('a'), ...FLUSHED], (path) => readFileSync(join(path, 'a'), 'utf8'));

    expect(new Set(nameless)).toEqual(new Set([true, false]));
    expect(new Set(empty)).toEqual(new Set(['', 'kept']));
  });

  it('does a rename wholly or not at all, and may take back a removal', () => {
    const steps: Step[] = [...aFile('a'), ...aFile('b'), ...FLUSHED];

    const renamed = statesOf([...steps, { op: 'rename', path: '/disk/a', to: '/disk/c' }], (path) =>
      readdirSync(path).sort().join(''),
    );
    const removed = statesOf([...steps, { op: 'remove', path: '/disk/a' }], (path) =>
      readdirSync(path).sort().join(''),
    );

    expect(new Set(renamed)).toEqual(new Set(['ab', 'bc']));
    expect(new Set(removed)).toEqual(new Set(['ab', 'b']));
  });

  it('tears a write at the borders of sectors, in any order', () => {
    const pages: Step = { op: 'write', handle: 'a', position: 0, data: Buffer.alloc(2 * 4096, 1) };
    const steps: Step[] = [
      ...aFile('a'),
      { op: 'size', handle: 'a', length: 2 * 4096 },
      { op: 'flush', handle: 'a' },
      ...FLUSHED,
      pages,
    ];

    const states = statesOf(steps, (path) => {
      const bytes = readFileSync(join(path, 'a'));
      return Array.from({ length: 16 }, (_, n) => bytes[n * 512 + 100]);
    });

    expect(states).toContainEqual(Array(16).fill(1));
    expect(states).toContainEqual(Array(16).fill(0));
    expect(states.some((sectors) => sectors[0] === 0 && sectors[15] === 1)).toBe(true);
    expect(states.some((sectors) => sectors.slice(0, 8).includes(0) && sectors.slice(0, 8).includes(1))).toBe(true);
  });

  it('rebuilds what the program saw when everything was flushed', () => {
    const disk = new Disk('/disk');
    const steps: Step[] = [
      { op: 'mkdir', path: '/disk/inner' },
      ...aFile('inner/a'),
      { op: 'size', handle: 'inner/a', length: 2 },
    ];
    for (const step of steps) disk.apply({ ...step, at: 0 } as Recorded);
    disk.flushAll();

    expect(disk.cut(join(folder, 'all'), seededRandom(1))).toBe(0);
    expect(readFileSync(join(folder, 'all/inner/a'), 'utf8')).toBe('ke');
  });
});
