import { describe, expect, it } from '@jest/globals';
import { openPart, textOf, type Reason } from '../core/reason.js';
import { say } from './reasons.js';

const SHA = 'a'.repeat(40);

describe('actions/reasons', () => {
  it.each<[Reason, string, string]>([
    [
      say('cannot.missing', { what: 'label', name: 'secret/plan', create: 'label.ensure' }),
      'there is no label secret/plan (label.ensure makes one)',
      'there is no label … (label.ensure makes one)',
    ],
    [say('cannot.missing', { what: 'release' }), 'there is no such release', 'there is no such release'],
    [
      say('cannot.missing', { what: 'issue or pull request', number: '12' }),
      'there is no issue or pull request #12',
      'there is no issue or pull request #12',
    ],
    [
      say('cannot.merge.approvals', { number: '12', count: 1, needs: 2, sha: SHA }),
      '#12 has 1 of 2 approvals of aaaaaaaaaa',
      '#12 has 1 of 2 approvals of aaaaaaaaaa',
    ],
    [
      say('cannot.assign', { login: 'ann', repo: 'acme/private' }),
      'ann cannot be assigned in acme/private',
      '… cannot be assigned in …',
    ],
    [
      say('cannot.make-branch', { name: 'x', base: 'y', why: 'no-base', count: 3, words: null }),
      'branch x cannot be made: y is not there (3 equal failures: the forge gives no reason)',
      'branch … cannot be made: … is not there (3 equal failures: the forge gives no reason)',
    ],
    [
      say('found.kept', { what: 'settings', keeps: [{ name: 'website', from: '"a"', to: '"b"' }] }),
      'this forge keeps website "a" of the settings',
      'this forge keeps … … of the settings',
    ],
    [
      say('found.as-wanted', { what: 'labels', number: '12' }),
      'the labels of #12 are as wanted',
      'the labels of #12 are as wanted',
    ],
    [
      say('found.as-wanted', { what: 'notes', name: 'v1' }),
      'the notes of v1 are as wanted',
      'the notes of … are as wanted',
    ],
    [
      say('found.there', { what: 'mirror', name: 'https://m/a', count: 2 }),
      'mirror to https://m/a is there (2 mirrors of this name)',
      'mirror to … is there (2 mirrors of this name)',
    ],
  ])('makes the sentence of %j, and one without what others may not read', (reason, sentence, open) => {
    expect(textOf(reason)).toBe(sentence);
    expect(textOf(openPart(reason))).toBe(open);
  });
});
