import { passes, sayWaiting, showWaiting, type Waiting } from '../../core/waiting.js';
import { note, ok, warning, type Check } from './check.js';
import { saw } from './looks.js';

/** What is under way for less than this needs nobody. */
const SOON_MS = 30_000;

/** What waits. Nobody has to do anything about what waits as somebody wanted it, or for what is about to end. Pure. */
export function examineWaiting(waiting: readonly Waiting[], forgeOf: (org: string) => string, now: Date): Check[] {
  if (waiting.length === 0) return [{ ...ok(saw('waiting.nothing')), forge: '', org: null, ageS: null }];
  return waiting.map((one): Check => {
    const texts = showWaiting(one);
    const seen = saw('waiting.for', {
      code: texts.code,
      said: sayWaiting(texts),
      since: texts.since.toISOString(),
      what: texts.ids.join(', '),
    });
    const isFine = texts.byPlan || (passes(one.code) && now.getTime() - one.since.getTime() < SOON_MS);
    const looked = isFine ? note : warning;
    const [room = ''] = one.code.split('.');
    return {
      ...looked(seen, ...(texts.todo === null ? [] : [texts.todo])),
      check: `waiting.${room}`,
      code: `waiting.${one.code}`,
      forge: forgeOf(one.org),
      org: one.org,
      ageS: null,
    };
  });
}
