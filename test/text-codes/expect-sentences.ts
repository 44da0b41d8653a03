// What a spec expects is in sentences: whatever it looks at is turned back first.
import { asSentences } from './reason.js';

type Matcher = (this: unknown, seen: unknown, ...wanted: unknown[]) => unknown;

Object.assign(globalThis, { [Symbol.for('sentences')]: asSentences });
const known = (globalThis as unknown as Record<symbol, { matchers: Record<string, Matcher> }>)[
  Symbol.for('$$jest-matchers-object')
];
for (const [name, matcher] of Object.entries(known?.matchers ?? {}))
  if (known)
    known.matchers[name] = Object.assign(function (this: unknown, seen: unknown, ...wanted: unknown[]): unknown {
      return matcher.call(this, asSentences(seen), ...wanted.map(asSentences));
    }, matcher);
