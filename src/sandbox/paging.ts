import type { Json } from '../core/json.js';
import type { Answer } from './answer.js';
import type { Call } from './handler.js';

/** What a stock server answers on `/settings/api`. */
export const DEFAULT_PAGE_SIZE = 30;
export const MAX_PAGE_SIZE = 50;

interface Page {
  page: number;
  limit: number;
}

function isOneOf(names: ReadonlySet<string>, name: string): boolean {
  return names.has(name);
}

function wholeNumber(text: string | null): number {
  return text !== null && /^-?\d+$/.test(text) ? Number(text) : 0;
}

/**
 * `page` below 1 counts as 1; a `limit` that is no number or below 1 is the default, above the maximum it is cut down silently.
 * Some lists of older servers are whole until a page is asked for.
 */
export function readPage({ operation, profile, query }: Pick<Call, 'operation' | 'profile' | 'query'>): Page {
  const [page, limit] = [wholeNumber(query.get('page')), wholeNumber(query.get('limit'))];
  if (page < 1 && isOneOf(profile.lists.wholeWithoutPage, operation))
    return { page: 1, limit: Number.MAX_SAFE_INTEGER };
  return { page: Math.max(1, page), limit: limit <= 0 ? DEFAULT_PAGE_SIZE : Math.min(limit, MAX_PAGE_SIZE) };
}

export function cut<T>(items: readonly T[], { page, limit }: Page): T[] {
  return items.slice((page - 1) * limit, page * limit);
}

/** `Link` of a list, in the order of real servers; empty when there is one page only. */
function linkHeader(call: Call, total: number, { page, limit }: Page): string {
  const last = Math.ceil(total / limit);
  const links: [string, number][] = [];
  if (page < last) links.push(['next', page + 1], ['last', last]);
  if (page > 1 && last > 0) links.push(['first', 1], ['prev', Math.min(page - 1, last)]);
  return links.map(([rel, n]) => `<${pageUrl(call, n)}>; rel="${rel}"`).join(',');
}

function pageUrl(call: Call, page: number): string {
  const query = new URLSearchParams(call.query);
  query.set('page', String(page));
  query.sort();
  return `${call.view.baseUrl}${call.rawPath}?${query}`;
}

/** Headers of a list: `X-Total-Count`, and `Link` on the lists that have one; both as far as this server sends them. */
export function listHeaders(call: Call, total: number, options: { link?: boolean } = {}): Record<string, string> {
  const { withoutLink, withoutTotal } = call.profile.lists;
  const link = options.link && !isOneOf(withoutLink, call.operation) ? linkHeader(call, total, readPage(call)) : '';
  return {
    ...(isOneOf(withoutTotal, call.operation) ? {} : { 'x-total-count': String(total) }),
    ...(link ? { link } : {}),
  };
}

/** One page below a key, with the total beside it. */
export function counted<T>(call: Call, key: string, items: readonly T[], render: (item: T) => object): Answer {
  return {
    status: 200,
    json: { [key]: cut(items, readPage(call)).map(render), total_count: items.length },
    headers: listHeaders(call, items.length, { link: true }),
  };
}

/** A list that servers build entry by entry: without any it is null. */
export function nullIfEmpty<T>(list: T[]): T[] | null {
  return list.length === 0 ? null : list;
}

/** One page of a list, cut before it is rendered. */
export function listed<T>(
  call: Call,
  items: readonly T[],
  render: (item: T) => Json | object,
  options: { link?: boolean } = {},
): Answer {
  return {
    status: 200,
    json: cut(items, readPage(call)).map(render),
    headers: listHeaders(call, items.length, options),
  };
}

/** Lists of commits, and of files of a pull request, also tell the pages in headers of their own. */
export function pagesOf<T>(call: Call, items: readonly T[], render: (item: T) => object): Answer {
  const { page, limit } = readPage(call);
  const pages = Math.ceil(items.length / limit);
  return {
    status: 200,
    json: cut(items, { page, limit }).map(render),
    headers: {
      ...listHeaders(call, items.length, { link: true }),
      'x-page': String(page),
      'x-perpage': String(limit),
      'x-pagecount': String(pages),
      'x-hasmore': String(page < pages),
    },
  };
}
