import type { ServerAccess } from '../../forge/server-access.js';
import { note, ok, problem, warning, type Looked } from './check.js';

/** Between two computers with a time service the difference is far below; the forge tells whole seconds. */
const CLOCK_OFF_MS = 5_000;

/** @param failure why it could not be asked; null = it answered */
export function examineServer(footing: ServerAccess | null, failure: string | null, baseUrl: string): Looked[] {
  if (failure !== null) return [away(footing, failure, baseUrl)];
  if (!footing) return [note('forge.reached', `${baseUrl} answers, and was not asked yet`)];
  const { product, version, pages, self } = footing;
  const what =
    product === 'unknown'
      ? 'something that does not tell its version'
      : `${product === 'gitea' ? 'Gitea' : 'Forgejo'} ${version ?? ''}`;
  const lists = pages?.most ? `; lists come by ${pages.default ?? pages.most}, at most ${pages.most}` : '';
  return [
    ok('forge.reached', `${baseUrl} is ${what}${lists}`),
    self
      ? ok('account.self', `the bot is ${self.login}${self.id === null ? '' : ` (${self.id})`} there`)
      : problem(
          'account.self',
          'the forge does not say who we are: our own acts cannot be told from those of others',
          'give the token read:user, or sign in with user and password',
        ),
    clock(footing.clockAheadMs),
  ];
}

function away(footing: ServerAccess | null, failure: string, baseUrl: string): Looked {
  const before = footing ? `; before it was ${footing.product} ${footing.version ?? ''}` : '';
  return problem(
    'forge.reached',
    `${baseUrl} cannot be asked: ${failure}${before}`,
    `type: curl -sS ${baseUrl}/version`,
    'look at forges[].base_url, auth, ca_file and proxy in the config of the bot',
  );
}

function clock(aheadMs: number | null): Looked {
  if (aheadMs === null) return note('forge.clock', 'the forge does not tell its time');
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  if (Math.abs(aheadMs) <= CLOCK_OFF_MS) return ok('forge.clock', 'the clocks of the forge and of this machine agree');
  return warning(
    'forge.clock',
    `the clock of the forge is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the one of this machine`,
    'on the machine whose time is wrong, type: timedatectl set-ntp true (and timedatectl to see it)',
  );
}
