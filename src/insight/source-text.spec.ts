import { describe, expect, it } from '@jest/globals';
import { sourceOf } from './source-text.js';

const TEXT = `version: 1
org: acme
rules:
  - id: greet
    on: issue.opened
    if:
      # The team only.
      - name: by team
        is: event.actor.login in lookups.team

    do: { issue.comment: { text: hello } }

  - { id: short, on: push, do: { label.ensure: { name: bug, color: "#d73a4a" } } }
policies:
  - schedule: daily
    id: labels
`;
const FILES = [{ path: 'rules/acme/r.yaml', text: TEXT }];

describe('insight/source-text', () => {
  it('gives a rule from its dash to its last line, without the empty ones behind it', () => {
    const source = sourceOf(FILES, { file: 'rules/acme/r.yaml', line: 4 });

    expect(source?.firstLine).toBe(4);
    expect(source?.lines).toHaveLength(8);
    expect(source?.lines.at(-1)).toBe('    do: { issue.comment: { text: hello } }');
  });

  it('gives a rule on one line as that line', () => {
    const line = '  - { id: short, on: push, do: { label.ensure: { name: bug, color: "#d73a4a" } } }';

    expect(sourceOf(FILES, { file: 'r.yaml', line: 13 })).toEqual({ file: 'r.yaml', firstLine: 13, lines: [line] });
  });

  it('finds the dash above a place that does not stand on it', () => {
    expect(sourceOf(FILES, { file: 'rules/acme/r.yaml', line: 16 })).toMatchObject({
      firstLine: 15,
      lines: { length: 2 },
    });
  });

  it('knows nothing of a file that is not kept, or of a line behind its end', () => {
    expect(sourceOf(FILES, { file: 'other.yaml', line: 1 })).toBeNull();
    expect(sourceOf(FILES, { file: 'r.yaml', line: 400 })).toBeNull();
    expect(sourceOf(null, { file: 'r.yaml', line: 1 })).toBeNull();
  });
});
