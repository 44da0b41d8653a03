import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** What components know of the request beside their properties. */
export interface Look {
  /** The path of the page, with its values. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Token that every form carries. */
  readonly csrf: string;
  /** For what an island must put into the page as style (`csp-nonce` of the editor). */
  readonly nonce: string;
}

export const LookContext = createContext<Look | null>(null);

/** @throws Error outside of a page */
export function useLook(): Look {
  const look = useContext(LookContext);
  if (!look) throw new Error('a component was rendered outside of a page');
  return look;
}

/** The address of the page with other values in its query; null takes one away. */
export function addressWith(
  look: Pick<Look, 'path' | 'query'>,
  changes: Readonly<Record<string, string | null>>,
): string {
  const query = new URLSearchParams(Object.entries({ ...look.query, ...changes }).filter(hasValue));
  const text = query.toString();
  return text === '' ? look.path : `${look.path}?${text}`;
}

function hasValue(entry: [string, string | null]): entry is [string, string] {
  return entry[1] !== null && entry[1] !== '';
}
