import type { Answer } from '../answer.js';
import type { Profile } from '../profiles.js';
import { escapeHtml } from './web-call.js';
import type { AskedGrant } from '../entities/people.js';

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}' +
  'label{display:block;margin:.75rem 0}input:not([type=checkbox]){display:block;width:100%;padding:.4rem;font:inherit}' +
  'button{font:inherit;padding:.4rem 1rem;margin:1rem .5rem 0 0}.flash-error{border:1px solid #b00;padding:.5rem 1rem}' +
  'code{overflow-wrap:anywhere}@media(prefers-color-scheme:dark){:root{color-scheme:dark}}';

function page({ web, family }: Profile, title: string | null, main: string, status = 200): Answer {
  const name = `sandbox ${family}`;
  const whole = title === null ? name : `${title} - ${name}`;
  const text = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${whole}</title><style>${STYLE}</style></head>
<body>
${main}
</body>
</html>
`;
  return { status, text, headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': web.cacheControl } };
}

/** With what was typed in before, when it was wrong. */
export function signInPage(profile: Profile, wrong?: { readonly name: string; readonly password: string }): Answer {
  const flash = profile.web.flashes ? ' class="flash-error"' : '';
  const main = `<h1>${profile.web.signIn}</h1>
${wrong ? `<p role="alert"${flash}>Username or password is incorrect.</p>` : ''}
<form method="post" action="/user/login">
<label>Username or email address <input name="user_name" type="text" value="${escapeHtml(wrong?.name ?? '')}" autocomplete="username" required autofocus></label>
<label>Password <input name="password" type="password" value="${escapeHtml(wrong?.password ?? '')}" autocomplete="current-password" required></label>
<label><input name="remember" type="checkbox"> Remember this device</label>
<button>${profile.web.signIn}</button>
</form>`;
  return page(profile, profile.web.signIn, main);
}

export function consentPage(
  profile: Profile,
  application: { name: string; owner: string },
  request: AskedGrant,
): Answer {
  const { clientId, state, scope, nonce, redirectUri } = request;
  const hidden = Object.entries({ client_id: clientId, state, scope, nonce, redirect_uri: redirectUri });
  const named = scope.split(/[ ,]+/).filter((word) => word.includes(':'));
  const main = `<h1>Authorize “${escapeHtml(application.name)}” to access your account?</h1>
<p>${named.length > 0 ? `It asks for: <code>${escapeHtml(scope)}</code>.` : 'It will be able to access and write to all your account information, including private repositories and organizations.'}</p>
<p>This application was created by @${escapeHtml(application.owner)}.
You will be redirected to <code>${escapeHtml(redirectUri)}</code> if you authorize it.</p>
<form method="post" action="/login/oauth/grant">
${hidden.map(([name, value]) => `<input name="${name}" type="hidden" value="${escapeHtml(value)}">`).join('\n')}
<button name="granted" type="submit" value="true">Authorize application</button>
<button name="granted" type="submit" value="false">Cancel</button>
</form>`;
  return page(profile, null, main);
}

export function failurePage(profile: Profile, what: string): Answer {
  return page(profile, null, `<h1>Authorization failed</h1>\n<p>${escapeHtml(what)}</p>`, 400);
}

export function homePage(profile: Profile, login: string | null): Answer {
  const who = login === null ? '<a href="/user/login">Sign in</a>' : `Signed in as ${escapeHtml(login)}.`;
  return page(
    profile,
    null,
    `<h1>Sandbox forge</h1>\n<p>Profile ${profile.name}. API below <code>/api/v1</code>, control below <code>/_sandbox</code>.</p>\n<p>${who}</p>`,
  );
}
