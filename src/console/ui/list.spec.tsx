import { describe, expect, it } from '@jest/globals';
import { renderToString } from 'preact-render-to-string';
import type { List } from '../../api/list.js';
import { ListTable } from './list.js';

const LIST: List<{ readonly name: string; readonly last: Date | string }> = {
  columns: [
    { head: 'Rule', value: ({ name }) => name, page: ({ name }) => ['rules', name] },
    { head: 'Last', form: 'time', value: ({ last }) => last },
    { head: 'Id', on: 'terminal', value: () => 'x1' },
    { head: 'State', form: 'state', value: () => 'late by 3 min' },
  ],
  keyOf: ({ name }) => name,
  empty: 'Nothing yet.',
};
const ROWS = [
  { name: 'a/b', last: new Date('2026-11-20T08:00:00Z') },
  { name: 'c', last: 'when loaded' },
];

describe('console/ui/list', () => {
  it('draws the columns of the page: links to what they are about, moments, texts in place of moments, tones by the first word', () => {
    const html = renderToString(<ListTable list={LIST} caption="Rules" rows={ROWS} />);

    expect(html).toContain('<a href="/rules/a%2Fb">a/b</a>');
    expect(html).toContain('datetime="2026-11-20T08:00:00.000Z"');
    expect(html).toContain('when loaded');
    expect(html).toContain('<span class="badge badge-info">late by 3 min</span>');
    expect(html).not.toContain('x1');
  });

  it('draws a cell otherwise, leaves a column out and adds one where the page says so', () => {
    const html = renderToString(
      <ListTable
        list={LIST}
        caption="Rules"
        rows={ROWS}
        cells={{ Rule: ({ name }) => <b>{name}</b> }}
        without={['State']}
        more={[{ head: 'Act', cell: () => 'Try' }]}
      />,
    );

    expect(html).toContain('<b>c</b>');
    expect(html).not.toContain('late by');
    expect(html.match(/Try/g)).toHaveLength(2);
  });
});
