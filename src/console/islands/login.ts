// On the login page: a link of `forgehand console` has its code behind the #, which only this script can read.

const statusLine = document.querySelector<HTMLElement>('[data-link-login]');

function begin(): void {
  const code = location.hash.slice(1);
  if (code === '' || !statusLine) return;
  // Out of the address bar and the history, before anything else.
  history.replaceState(null, '', location.pathname + location.search);
  say(statusLine, 'Logging in…');
  void logIn(code, statusLine);
}

begin();
// A link that is opened where this page is shown already changes the part behind the # alone.
addEventListener('hashchange', begin);

async function logIn(secret: string, where: HTMLElement): Promise<void> {
  try {
    const answer = await fetch('/login/link', { method: 'POST', body: new URLSearchParams({ code: secret }) });
    const { to, message } = (await answer.json()) as { to?: string; message?: string };
    if (answer.ok && to) location.replace(to);
    else say(where, message ?? 'The login failed. Run forgehand console for a new link.');
  } catch {
    say(where, 'The Console does not answer. Run forgehand console for a new link.');
  }
}

function say(where: HTMLElement, text: string): void {
  where.textContent = text;
  where.hidden = false;
}
