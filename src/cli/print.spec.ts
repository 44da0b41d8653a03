import { describe, expect, it } from '@jest/globals';
import { plain, shortIds, table, wrapped } from './print.js';

const HEAD = ['at', 'id', 'org', 'why'];
const ROWS = [
  ['10:00', 'a1', 'acme', 'it has no conditions'],
  ['10:01', 'b2', 'a-long-name', ''],
];

describe('cli/print', () => {
  it('draws plain columns, without frames, colours or spaces at the end', () => {
    expect(table(HEAD, ROWS, 'none', 80).split('\n')).toEqual([
      'at     id  org          why',
      '10:00  a1  acme         it has no conditions',
      '10:01  b2  a-long-name',
    ]);
  });

  it('draws a block for each row where the columns do not fit', () => {
    expect(table(HEAD, ROWS, 'none', 30).split('\n')).toEqual([
      '10:00  a1',
      '  org acme',
      '  why it has no conditions',
      '10:01  b2',
      '  org a-long-name',
    ]);
    expect(table(HEAD, ROWS, 'none', 40).split('\n')).toEqual([
      '10:00  a1',
      '  org acme  why it has no conditions',
      '10:01  b2',
      '  org a-long-name',
    ]);
  });

  it('wraps the last column where that makes the columns fit', () => {
    const rows = [['10:00', 'a1', 'label.ensure ×13 done; comment.create refused: the issue is locked']];

    expect(table(['at', 'id', 'effects'], rows, 'none', 48).split('\n')).toEqual([
      'at     id  effects',
      '10:00  a1  label.ensure ×13 done;',
      '           comment.create refused: the issue is',
      '           locked',
    ]);
    expect(table(['at', 'id', 'effects'], rows, 'none', 30)).toMatch(/^10:00 {2}a1\n {2}effects label\.ensure/);
  });

  it('shortens ids to the end that tells them apart', () => {
    const [a, b, c] = ['019a-1111-aaaa1234', '019a-1111-bbbb5678', '019a-2222-bbbb5678'] as const;

    expect([a, b].map(shortIds([a, b, a]))).toEqual(['aaaa1234', 'bbbb5678']);
    expect([a, b, c].map(shortIds([a, b, c]))).toEqual(['1-aaaa1234', '1-bbbb5678', '2-bbbb5678']);
    expect(['r1', 'r1'].map(shortIds(['r1']))).toEqual(['r1', 'r1']);
  });

  it('says so when there is nothing', () => {
    expect(table(HEAD, [], 'nothing yet', 80)).toBe('nothing yet');
  });

  it('shows control characters and letters that turn the direction, and obeys none', () => {
    expect(plain('a\u001b[31mb\u202ec\n')).toBe('a\\u001b[31mb\\u202ec\\u000a');
  });

  it('breaks lines between words, and leaves addresses whole', () => {
    expect(wrapped('  one two https://git.example.org/user three', 16)).toEqual([
      '  one two',
      '  https://git.example.org/user',
      '  three',
    ]);
    expect(wrapped('one two\n\nthree', 80)).toEqual(['one two', '', 'three']);
    expect(wrapped('one  two', 80)).toEqual(['one  two']);
  });
});
