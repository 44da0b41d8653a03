import { describe, expect, it } from '@jest/globals';
import { plain, table } from './print.js';

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

  it('says so when there is nothing', () => {
    expect(table(HEAD, [], 'nothing yet', 80)).toBe('nothing yet');
  });

  it('shows control characters and letters that turn the direction, and obeys none', () => {
    expect(plain('a\u001b[31mb\u202ec\n')).toBe('a\\u001b[31mb\\u202ec\\u000a');
  });
});
