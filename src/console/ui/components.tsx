import type { ComponentChildren, JSX } from 'preact';
import type { Tone } from '../../api/words.js';
import { addressWith, useLook } from './look.js';

/** Part of a page with a heading. */
export function Section({
  title,
  id,
  aside,
  children,
}: {
  title: string;
  id?: string;
  /** Beside the heading: a link or a count. */
  aside?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="section" id={id}>
      <div class="section-head">
        <h2>{title}</h2>
        {aside !== undefined && <div class="section-aside">{aside}</div>}
      </div>
      {children}
    </section>
  );
}

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge badge-${tone}`}>{children}</span>;
}

/**
 * A moment. The browser writes it in the reader's zone, with UTC in its title (`islands/page.ts`); without JavaScript it stands there in UTC.
 */
export function Time({ at, relative = false }: { at: Date | string | null; relative?: boolean }) {
  if (at === null) return <span class="muted">never</span>;
  const date = typeof at === 'string' ? new Date(at) : at;
  const iso = date.toISOString();
  return (
    <time dateTime={iso} data-local={relative ? 'relative' : 'time'} title={`${utcText(iso)} UTC`}>
      {utcText(iso)} UTC
    </time>
  );
}

function utcText(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** `number` aligns right; `wide` may wrap; `tight` keeps to one line. Default: as long as it needs. */
  readonly kind?: 'number' | 'wide' | 'tight' | undefined;
}

/** A plain table; on a narrow screen each row becomes a block with the heads before its values. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  id,
  empty,
}: {
  /** Read out to those who do not see the heading above. */
  caption: string;
  columns: ReadonlyArray<Column<Row>>;
  rows: readonly Row[];
  keyOf?: (row: Row) => string;
  /** Of the table, for what keeps it up to date. */
  id?: string;
  /** In place of a table without rows: what to do. */
  empty: ComponentChildren;
}) {
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  return (
    <div class="table-frame" role="region" aria-label={caption} tabIndex={0}>
      <table id={id}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, kind }) => (
              <th scope="col" class={kind} key={head}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, n) => (
            <TableRow columns={columns} row={row} id={keyOf?.(row)} key={keyOf ? keyOf(row) : n} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** One row of a table, also where it comes alone, as news. */
export function TableRow<Row>({
  columns,
  row,
  id,
}: {
  columns: ReadonlyArray<Column<Row>>;
  row: Row;
  id?: string | undefined;
}) {
  return (
    <tr id={id === undefined ? undefined : `row-${id}`}>
      {columns.map(({ head, cell, kind }) => (
        <td class={kind} data-head={head} key={head}>
          <div>{cell(row)}</div>
        </td>
      ))}
    </tr>
  );
}

/** Where there is nothing: says what to do. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

/**
 * Keyset paging: the next page begins behind the last row of this one.
 * @param by the name in the address of where a page begins. Default: `before`, of a list by time
 */
export function Pager({ next, by = 'before' }: { next: string | null; by?: string }) {
  const look = useLook();
  const isFirst = look.query[by] === undefined;
  if (next === null && isFirst) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {!isFirst && <a href={addressWith(look, { [by]: null })}>First page</a>}
      {next !== null && (
        <a rel="next" href={addressWith(look, { [by]: next })}>
          {by === 'before' ? 'Older' : 'More'}
        </a>
      )}
    </nav>
  );
}

export interface Filter {
  readonly name: string;
  readonly label: string;
  /** Words to choose from; absent = a text. */
  readonly options?: ReadonlyArray<readonly [value: string, label: string]>;
  readonly placeholder?: string | undefined;
  /** The word that counts where none was chosen. Absent = any. */
  readonly normally?: string;
}

/** Filters of a list, in its address, so that a list can be bookmarked. Works without JavaScript. */
export function Filters({ filters }: { filters: readonly Filter[] }) {
  const { path, query } = useLook();
  if (filters.length === 0) return null;
  const isSet = filters.some(({ name }) => query[name] !== undefined);
  return (
    <form class="filters" method="get" action={path} role="search">
      {filters.map(({ name, label, options, placeholder, normally }) => (
        <label key={name}>
          <span>{label}</span>
          {options ? (
            <select name={name}>
              {normally === undefined && <option value="">any</option>}
              {options.map(([value, text]) => (
                <option value={value} selected={(query[name] ?? normally) === value} key={value}>
                  {text}
                </option>
              ))}
            </select>
          ) : (
            <input name={name} value={query[name] ?? ''} placeholder={placeholder} maxLength={200} />
          )}
        </label>
      ))}
      <button type="submit">Filter</button>
      {isSet && <a href={path}>Clear</a>}
    </form>
  );
}

/** Facts in two columns: name and value. */
export function Facts({
  facts,
}: {
  facts: ReadonlyArray<readonly [name: string, value: ComponentChildren] | null | false>;
}) {
  return (
    <dl class="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** An id as people read it, with the whole of it in the title. */
export function Id({ id, href }: { id: string; href?: string }) {
  const short = id.length > 12 ? `…${id.slice(-8)}` : id;
  const code = (
    <code class="id" title={id}>
      {short}
    </code>
  );
  return href === undefined ? code : <a href={href}>{code}</a>;
}

/** The beginning of a hash, which commands take for it, with the whole of it in the title. */
export function Hash({ hash }: { hash: string }) {
  return <code title={hash}>{hash.slice(0, SHOWN_OF_HASH)}</code>;
}

const SHOWN_OF_HASH = 12;

/** What must not be overlooked. */
export function Callout({
  tone = 'info',
  title,
  children,
}: {
  tone?: Tone;
  title?: string;
  children?: ComponentChildren;
}) {
  return (
    <div class={`callout callout-${tone}`} role={tone === 'bad' ? 'alert' : 'note'}>
      {title !== undefined && <p class="callout-title">{title}</p>}
      {children}
    </div>
  );
}

/** A form that sends to a page's `act`; it carries the token. */
export function ActForm({
  action,
  fields = {},
  children,
  id,
  class: kind = 'act',
}: {
  /** Default: the page itself. */
  action?: string;
  /** Sent with it, unseen. */
  fields?: Readonly<Record<string, string>>;
  children: ComponentChildren;
  id?: string;
  class?: string;
}) {
  const { path, csrf } = useLook();
  return (
    <form method="post" action={action ?? path} class={kind} id={id}>
      {Object.entries({ csrf, ...fields }).map(([name, value]) => (
        <input type="hidden" name={name} value={value} key={name} />
      ))}
      {children}
    </form>
  );
}

/** An act with a preview of what it will do, and a reason asked. */
export function ConfirmForm({
  button,
  tone = 'neutral',
  fields = {},
  children,
}: {
  /** Verb and object: `Retry this effect`. */
  button: string;
  tone?: 'neutral' | 'bad';
  /** Sent with it, unseen. */
  fields?: Readonly<Record<string, string>>;
  /** What it will do. */
  children?: ComponentChildren;
}) {
  return (
    <ActForm class="confirm" fields={fields}>
      {children}
      <label class="field">
        <span>Reason</span>
        <input name="reason" required maxLength={200} autocomplete="off" />
      </label>
      <button type="submit" class={tone === 'bad' ? 'button-bad' : 'button-main'}>
        {button}
      </button>
    </ActForm>
  );
}

/** Lines of a file, some of them marked. */
export function Source({
  file,
  firstLine = 1,
  text,
  marks = new Map(),
}: {
  file: string;
  /** Number of the first line of `text`. */
  firstLine?: number;
  text: string;
  /** By the number of the line: how it counts, and a note beside it. */
  marks?: ReadonlyMap<number, { readonly tone: Tone; readonly note?: ComponentChildren }>;
}) {
  return (
    <figure class="source">
      <figcaption>{file}</figcaption>
      <div class="source-lines" role="region" aria-label={file} tabIndex={0}>
        <ol start={firstLine}>
          {text.split('\n').map((line, n) => {
            const mark = marks.get(firstLine + n);
            return (
              <li class={mark ? `line line-${mark.tone}` : 'line'} value={firstLine + n} key={n}>
                <code>{line === '' ? ' ' : line}</code>
                {mark?.note !== undefined && <span class="line-note">{mark.note}</span>}
              </li>
            );
          })}
        </ol>
      </div>
    </figure>
  );
}

export interface TreeNode {
  readonly tone?: Tone;
  readonly label: ComponentChildren;
  readonly detail?: ComponentChildren;
  readonly children?: readonly TreeNode[];
  /** Whether its children are shown at first. Default: yes. */
  readonly open?: boolean;
}

/** A tree of reasons; it opens and closes without JavaScript. */
export function Tree({ nodes }: { nodes: readonly TreeNode[] }): JSX.Element {
  return (
    <ul class="tree">
      {nodes.map((node, n) => (
        <li key={n} class={`tree-${node.tone ?? 'neutral'}`}>
          {node.children && node.children.length > 0 ? (
            <details open={node.open ?? true}>
              <summary>{node.label}</summary>
              {node.detail !== undefined && <div class="tree-detail">{node.detail}</div>}
              <Tree nodes={node.children} />
            </details>
          ) : (
            <>
              <div class="tree-label">{node.label}</div>
              {node.detail !== undefined && <div class="tree-detail">{node.detail}</div>}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

export interface Change {
  readonly name: string;
  /** Null = it is not there. */
  readonly from: string | null;
  readonly to: string | null;
}

/** What is there, and what will be. */
export function Diff({ changes }: { changes: readonly Change[] }) {
  return (
    <ul class="diff">
      {changes.map(({ name, from, to }, n) => (
        <li key={n}>
          <span class="diff-name">{name}</span>
          {from !== null && (
            <del>
              <span class="unseen">was </span>
              {from}
            </del>
          )}
          {to !== null && (
            <ins>
              <span class="unseen">becomes </span>
              {to}
            </ins>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Numbers in a row, each with its name and a link to what is behind it. */
export function Figures({
  figures,
}: {
  figures: ReadonlyArray<{
    readonly name: string;
    readonly value: ComponentChildren;
    readonly tone?: Tone;
    readonly href?: string;
  }>;
}) {
  return (
    <ul class="figures">
      {figures.map(({ name, value, tone = 'neutral', href }) => (
        <li key={name} class={`figure figure-${tone}`}>
          <span class="figure-value">{href === undefined ? value : <a href={href}>{value}</a>}</span>
          <span class="figure-name">{name}</span>
        </li>
      ))}
    </ul>
  );
}
