import { cureOfStretched } from '../../core/stretched-polls.js';
import type { FeedPeriod } from '../../forge/poll-periods.js';
import type { ServerAccess } from '../../forge/server-access.js';
import { note, ok, problem, warning, type CheckResult } from './check.js';
import { saw } from './looks.js';

/** Between two computers with a time service the difference is far below; the forge tells whole seconds. */
const CLOCK_OFF_MS = 5_000;

/** @param failure why it could not be asked; null = it answered */
export function examineServer(footing: ServerAccess | null, failure: string | null, baseUrl: string): CheckResult[] {
  if (failure !== null) return [away(footing, failure, baseUrl)];
  if (!footing) return [note(saw('forge.reached.unasked', { url: baseUrl }))];
  const { product, version, pages, self } = footing;
  const what = `${product === 'gitea' ? 'Gitea' : 'Forgejo'} ${version ?? ''}`;
  const lists = pages?.most ? `; lists come by ${pages.default ?? pages.most}, at most ${pages.most}` : '';
  return [
    product === 'unknown'
      ? warning(
          saw('forge.reached.untold', { url: baseUrl, lists }),
          `type: curl -sS ${baseUrl}/version`,
          'it should answer {"version": …}; if it answers a page or 404, correct forges[].base_url. A forge with the 20 operations alone has no version',
        )
      : ok(saw('forge.reached.yes', { url: baseUrl, what, lists })),
    self
      ? ok(saw('account.self.known', { login: self.login, id: self.id }))
      : problem(saw('account.self.unknown'), 'give the token read:user, or sign in with user and password'),
    clock(footing.clockAheadMs),
  ];
}

/** @param areLost whether a proxy keeps paths with `%2F` from the forge; null = it could not be asked */
export function examineSlashes(areLost: boolean | null): CheckResult[] {
  if (areLost === null) return [];
  if (!areLost) return [ok(saw('forge.slash.passed'))];
  return [
    problem(
      saw('forge.slash.lost'),
      'in Apache, write: AllowEncodedSlashes NoDecode, and ProxyPass … nocanon',
      'in nginx, write proxy_pass with the host alone (no path, no slash at its end)',
    ),
  ];
}

/** Feeds that are read more seldom may show an act after the people who did it are gone. */
const TOO_SELDOM_S = 300;

/** Whether feeds are read as often as the config says. @param period null = nobody polled yet */
export function examinePolls(forge: string, period: FeedPeriod | null): CheckResult[] {
  if (period === null || period.stretch === 1) return [];
  const polls = { forge, ...period };
  return [
    (period.everyS > TOO_SELDOM_S ? problem : warning)(saw('forge.polls.stretched', polls), cureOfStretched(polls)),
  ];
}

function away(footing: ServerAccess | null, failure: string, baseUrl: string): CheckResult {
  const before = footing ? `; before it was ${footing.product} ${footing.version ?? ''}` : '';
  return problem(
    saw('forge.reached.no', { url: baseUrl, failure, before }),
    `type: curl -sS ${baseUrl}/version`,
    'look at forges[].base_url, auth, ca_file and proxy in the config of the bot',
  );
}

function clock(aheadMs: number | null): CheckResult {
  if (aheadMs === null) return note(saw('forge.clock.hidden'));
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  if (Math.abs(aheadMs) <= CLOCK_OFF_MS) return ok(saw('forge.clock.agrees'));
  return warning(
    saw('forge.clock.differs', { seconds, isAhead: aheadMs > 0 }),
    'on the machine whose time is wrong, type: timedatectl set-ntp true (and timedatectl to see it)',
  );
}
