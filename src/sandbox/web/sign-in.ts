import { equalSecret } from '../../core/equal-secret.js';
import type { Answer } from '../answer.js';
import type { User } from '../world.js';
import { homePage, signInPage } from './pages.js';
import { redirect, REDIRECT_COOKIE, type WebCall, type WebHandler } from './web-call.js';

/** Who is logged in with this browser. */
export function signedIn({ world, browser }: WebCall): User | null {
  const owner = browser.session.userId === null ? undefined : world.owners.get(browser.session.userId);
  return owner?.kind === 'user' && !owner.prohibitLogin ? owner : null;
}

/** To the login page, and from there back to this path: it stands in the address, or in a cookie. */
export function toSignIn(call: WebCall): Answer {
  const back = call.raw.method === 'GET' && call.raw.rawQuery ? `${call.raw.path}?${call.raw.rawQuery}` : call.raw.path;
  if (call.profile.web.returnsBy === 'address')
    return redirect(call, `/user/login?redirect_to=${encodeURIComponent(back)}`);
  call.browser.set(REDIRECT_COOKIE, back);
  return redirect(call, '/user/login');
}

export const signInRoutes: Readonly<Record<string, WebHandler>> = {
  'GET /': (call) => homePage(call.profile, signedIn(call)?.login ?? null),

  'GET /user/login': (call) => {
    const back = call.raw.query.get(REDIRECT_COOKIE);
    if (back !== null) call.browser.set(REDIRECT_COOKIE, back);
    call.browser.clear(call.profile.web.rememberCookie);
    return signInPage(call.profile);
  },

  'POST /user/login': (call) => {
    const { world, form, browser, profile } = call;
    const [name, password] = [form.get('user_name') ?? '', form.get('password') ?? ''];
    const user = world.userByName(name);
    if (!user || !equalSecret(password, user.password)) return signInPage(profile, { name, password });
    browser.logIn(user.id);
    user.lastLogin = world.now();
    user.language ||= 'en-US';
    browser.set('lang', user.language);
    const back = browser.cookie(REDIRECT_COOKIE);
    if (back !== undefined || profile.web.returnsBy === 'address') browser.clear(REDIRECT_COOKIE);
    return redirect(call, back !== undefined && isOwnPath(back) ? back : '/');
  },

  'GET /user/logout': (call) => {
    if (call.profile.web.logsOutBy !== 'GET')
      return { status: 404, text: 'Not found.\n', headers: { 'content-type': 'text/plain;charset=utf-8' } };
    call.browser.logOut();
    return redirect(call, '/');
  },

  'POST /user/logout': (call) => {
    call.browser.logOut();
    return { status: 200, json: { redirect: '/' } };
  },
};

/** Nobody is sent to another host after a login. */
function isOwnPath(path: string): boolean {
  return /^\/(?![/\\])/.test(path);
}
