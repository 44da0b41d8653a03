import { describe, expect, it } from '@jest/globals';
import { subjectOf } from './event-subject.js';
import type { JsonObject } from './json.js';

describe('subjectOf', () => {
  it.each<[JsonObject, string | null]>([
    [{ number: 12, issue: { number: 12 } }, '#12'],
    [{ comment: {}, issue: { number: 7n } }, '#7'],
    [{ pull_request: { number: 3 }, branch: 'main', sha: 'a'.repeat(40) }, '#3'],
    [{ task: { name: 'lint' }, branch: 'main' }, 'job lint'],
    [{ workflow: { name: 'ci' }, run: { title: 'fix' }, branch: 'main' }, 'workflow ci'],
    [{ run: { title: 'fix' }, pull_request: null }, 'workflow fix'],
    [{ package: { name: 'lib', version: '1' } }, 'package lib'],
    [{ page: 'Home', message: '' }, 'page Home'],
    [{ ref: 'refs/tags/v1', tag: 'v1', branch: '' }, 'tag v1'],
    [{ release: { tag_name: 'v2' } }, 'tag v2'],
    [{ ref: 'refs/heads/main', branch: 'main', after: 'x' }, 'branch main'],
    [{ sha: '0123456789abcdef', status: { context: 'ci' } }, 'commit 0123456789'],
    [{ action: 'created' }, null],
    [{ number: '', issue: 'no object', tag: { name: 'v1' } }, null],
  ])('of %j is %j', (data, subject) => {
    expect(subjectOf({ data })).toBe(subject);
  });
});
