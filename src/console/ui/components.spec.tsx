import { describe, expect, it } from '@jest/globals';
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import {
  ActForm,
  Badge,
  Callout,
  ConfirmForm,
  Diff,
  Empty,
  Facts,
  Figures,
  Filters,
  Id,
  Pager,
  Section,
  Source,
  Table,
  Time,
  Tree,
} from './components.js';
import { Layout } from './layout.js';
import { addressWith, LookContext, type Look } from './look.js';
import { duration } from '../../api/words.js';

/** Titles, labels, branches, bodies and names as people with bad intentions write them. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onfocus=alert(1) autofocus='",
  '</title></textarea></style><svg/onload=alert(1)>',
  '<!--><script>alert(1)</script>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  'javascript:alert(1)',
  '${alert(1)} {{7*7}} <%= 7 %>',
  ']]><x>',
  '\u202egnp.exe\u0000\u0008\ufeff',
] as const;

const look = (query: Readonly<Record<string, string>>, text: string): Look => ({
  path: '/activity',
  query,
  csrf: text,
  nonce: 'n',
});

function render(children: ComponentChildren, of: Look): string {
  return renderToString(<LookContext.Provider value={of}>{children}</LookContext.Provider>);
}

/** What a parser takes for tags, without the texts between them. */
function tagsIn(html: string): string[] {
  return html.match(/<[a-z!/][^>]*>/gi) ?? [];
}

describe('components', () => {
  it.each(HOSTILE)('take %j as text, wherever it stands', (text) => {
    const viewOf = (one: string) => (
      <>
        <Section title={one} aside={one}>
          {one}
        </Section>
        <Badge>{one}</Badge>
        <Callout title={one}>{one}</Callout>
        <Empty>{one}</Empty>
        <Table caption={one} rows={[one]} keyOf={(row) => row} empty="" columns={[{ head: one, cell: (row) => row }]} />
        <Facts facts={[[one, one]]} />
        <Figures figures={[{ name: one, value: one }]} />
        <Filters
          filters={[
            { name: 'q', label: one, placeholder: one },
            { name: 's', label: 's', options: [[one, one]] },
          ]}
        />
        <Pager next={one} />
        <Id id={one} />
        <Source file={one} text={one} marks={new Map([[1, { tone: 'bad', note: one }]])} />
        <Tree nodes={[{ label: one, detail: one, children: [{ label: one }] }]} />
        <Diff changes={[{ name: one, from: one, to: one }]} />
        <ConfirmForm button={one} fields={{ [one]: one }}>
          {one}
        </ConfirmForm>
      </>
    );
    const tagsFor = (one: string): string[] =>
      tagsIn(render(viewOf(one), look({ q: one, s: 'none', before: one }, one)));
    const tags = tagsFor(text);

    // The tags that any word makes, and no others.
    const kinds = (all: readonly string[]): string[] => all.map((tag) => /^<[^\s>]*/.exec(tag)?.[0] ?? '');
    expect(kinds(tags)).toEqual(kinds(tagsFor('word')));
    for (const tag of tags) expect(tag.replace(/"[^"]*"/g, '""')).not.toMatch(/\son\w+=/i);
  });

  it('cannot be led out of the title of the document', () => {
    const html = renderToString(
      <Layout
        title={HOSTILE[3]}
        assets={{ theme: '/assets/theme.css', scripts: [] }}
        look={look({}, 'token')}
        nav={[{ label: 'Overview', path: '/' }]}
        current="/"
        name={HOSTILE[1]}
        notice={HOSTILE[0]}
        problem={HOSTILE[2]}
      >
        {null}
      </Layout>,
    );

    expect(html.match(/<(script|svg|img)/g)).toBeNull();
    expect(html.match(/<title>/g)).toHaveLength(1);
  });

  it('tell a moment in UTC, for browsers to write it in the zone of the reader', () => {
    expect(renderToString(<Time at={new Date('2026-11-24T09:00:01.5Z')} />)).toBe(
      '<time datetime="2026-11-24T09:00:01.500Z" data-local="time" title="2026-11-24 09:00:01 UTC">2026-11-24 09:00:01 UTC</time>',
    );
    expect(renderToString(<Time at={null} />)).toContain('never');
  });

  it.each([
    [0, '0 s'],
    [59_400, '59 s'],
    [60_000, '1 min'],
    [3_600_000, '1 h'],
    [7_500_000, '2 h 5 min'],
    [172_800_000, '2 days'],
  ])('tell %i ms as %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it('send a form with its token, and ask for a reason', () => {
    const html = render(<ConfirmForm button="Retry this effect" fields={{ id: 'i' }} />, look({}, 'the-token'));

    expect(html).toContain('<form method="post" action="/activity"');
    expect(html).toContain('<input type="hidden" name="csrf" value="the-token"');
    expect(html).toMatch(/<input name="reason" required/);
    expect(render(<ActForm action="/x">{null}</ActForm>, look({}, ''))).toContain('action="/x"');
  });

  it('keep the filters of a list in its address', () => {
    expect(addressWith({ path: '/activity', query: { org: 'acme', before: 'x' } }, { before: null, rule: 'a b' })).toBe(
      '/activity?org=acme&rule=a+b',
    );
  });
});
