import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { UserError } from '../../core/errors.js';
import { hashOf } from '../../core/ids.js';
import type { ControlCaller } from '../../core/operators.js';
import { text, time } from '../../core/schema.js';
import { consoleSession, type ConsoleSession, type KeptSession } from '../session-store.port.js';
import { needEverything } from './admission.js';
import { operation } from './operation.js';

/** Long enough to change windows, too short to be found later. */
export const LINK_S = 60;

export const consoleOperations = {
  consoleLink: operation({
    route: 'POST /v1/console/links',
    summary: 'Make a link that logs one browser in to the Console as the owner of the bot, once, within a minute',
    scope: 'owner',
    about: [],
    command: 'console open',
    input: z.object({}),
    answer: z.object({ url: text.describe('Its fragment is a secret.'), expiresAt: time }),
    handle: async ({ running, sessions, orders, clock }, _input, caller) => {
      const place = running?.consoleUrl() ?? null;
      if (place === null)
        throw new UserError(
          'NO_CONSOLE',
          running
            ? 'this bot serves no Console: set console.enabled in the config, and run the role console or all'
            : 'no bot runs: start it with forgehand start',
        );
      const code = randomBytes(16).toString('base64url');
      const expiresAt = new Date(clock.now().getTime() + LINK_S * 1000);
      orders.record('console open', caller, { expiresAt });
      await sessions.addTicket('link', linkHash(code), localName(caller), expiresAt);
      // A fragment stays in the browser: no proxy and no log gets it.
      return { url: `${place}/login#${code}`, expiresAt };
    },
  }),
  consoleSessions: operation({
    route: 'GET /v1/console/sessions',
    summary: 'Browsers that are logged in to the Console, the one seen last first',
    scope: 'read',
    command: 'console sessions',
    input: z.object({}),
    answer: z.object({ sessions: z.array(consoleSession) }),
    handle: async ({ sessions }, _input, _caller, visibility) => {
      needEverything(visibility);
      return { sessions: (await sessions.list()).map(withoutGrant) };
    },
  }),
  endConsoleSession: operation({
    route: 'POST /v1/console/sessions/:id/end',
    summary: 'End a session of the Console at once',
    scope: 'operate',
    about: ['id'],
    command: 'console end',
    input: z.object({ id: z.string().min(1).max(64) }),
    answer: z.object({ session: consoleSession }),
    handle: async ({ sessions, orders, clock }, { id }, caller, visibility) => {
      needEverything(visibility);
      orders.record('console end', caller, { session: id });
      const ended = await sessions.end(id, clock.now());
      if (!ended) throw new UserError('NOT_FOUND', `there is no session ${id}: forgehand console sessions lists them`);
      return { session: withoutGrant(ended) };
    },
  }),
};

/** Whose rights a session has is the store's alone to know. */
function withoutGrant({ grant: _grant, ...session }: KeptSession): ConsoleSession {
  return session;
}

/** Under which the store knows the code of a link. */
export function linkHash(code: string): string {
  return hashOf('console link', code);
}

/** `console:root` for a link that `socket:root` asked for. */
function localName({ name }: ControlCaller): string {
  return `console:${name.slice(name.indexOf(':') + 1)}`;
}
