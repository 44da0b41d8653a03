import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keyBesideData } from './data-key.js';

describe('config/data-key', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'forgehand-key-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is made once, of 32 bytes, and found again', () => {
    const dir = join(folder, 'a', 'data');

    const first = keyBesideData(dir).reveal();

    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(keyBesideData(dir).reveal()).toBe(first);
    expect(readFileSync(join(dir, 'data.key'), 'utf8')).toBe(first);
    expect(keyBesideData(join(folder, 'b')).reveal()).not.toBe(first);
  });

  it('is there whole or not at all: what a process that died left beside its place is not taken for it', () => {
    writeFileSync(join(folder, 'data.key.new-0011223344556677'), 'ab');

    expect(keyBesideData(folder).reveal()).toMatch(/^[0-9a-f]{64}$/);
    expect(readdirSync(folder).sort()).toEqual(['data.key', 'data.key.new-0011223344556677']);
  });

  it('is for its owner alone, and so is the folder that is made for it', () => {
    const dir = join(folder, 'data');
    keyBesideData(dir);

    expect([statSync(dir).mode & 0o777, statSync(join(dir, 'data.key')).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  it('is taken as somebody wrote it, but for the end of the line', () => {
    writeFileSync(join(folder, 'data.key'), `${'ab'.repeat(32)}\n`);

    expect(keyBesideData(folder).reveal()).toBe('ab'.repeat(32));
  });

  it('is not made up where none can be kept', () => {
    writeFileSync(join(folder, 'taken'), '');
    mkdirSync(join(folder, 'other', 'data.key'), { recursive: true });

    expect(() => keyBesideData(join(folder, 'taken'))).toThrow(/EEXIST/);
    expect(() => keyBesideData(join(folder, 'other'))).toThrow(/EISDIR/);
  });
});
