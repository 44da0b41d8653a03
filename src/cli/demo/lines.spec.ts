import { describe, expect, it } from '@jest/globals';
import { Lines } from './lines.js';

const bare = (line: string): string => line.replace(/\u001b\[\d+m/g, '');

function written(width: number | undefined, draw: (lines: Lines) => void): string[] {
  const out: string[] = [];
  draw(new Lines((line) => out.push(bare(line)), width));
  return out;
}

const cells = ['push', 'labels', 'label.ensure done', 'acme/app has 5 labels'].map((text) => ({ text }));

describe('cli/demo/lines', () => {
  it('keeps columns under each other, and an act that does more on lines below', () => {
    const [head = '', first = '', second = ''] = written(undefined, (lines) => {
      lines.head();
      lines.row('1', { text: 'ann pushes' }, cells);
      lines.row('', null, [{ text: '' }, ...cells.slice(1)]);
    });

    for (const [column, text] of [
      ['rule', 'labels'],
      ['effect', 'label.ensure'],
      ['what the forge', 'acme/app has'],
    ] as const) {
      expect([first.indexOf(text), second.indexOf(text)]).toEqual([head.indexOf(column), head.indexOf(column)]);
    }
  });

  it.each([40, 80, 120, 200])('never writes beyond a terminal of %i columns', (width) => {
    const lines = written(width, (to) =>
      to.row(
        '12',
        { text: 'x'.repeat(300) },
        cells.map(({ text }) => ({ text: text.repeat(20) })),
      ),
    );

    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  });

  it('puts the act on a line of its own where there is no room for all', () => {
    expect(written(100, (to) => to.row('3', { text: 'ann pushes' }, cells))).toHaveLength(2);
  });

  it('shows control characters of names in place of obeying them', () => {
    expect(written(undefined, (to) => to.row('1', { text: 'a\u001b[2Jb' }, cells))[0]).toContain('a\\u001b[2Jb');
  });
});
