import { Section } from '../ui/components.js';

/** The ways to log in. */
export function LoginView({ forges, next }: { forges: readonly string[]; next: string }) {
  const query = next === '/' ? '' : `?${new URLSearchParams({ next }).toString()}`;
  return (
    <div class="narrow stack">
      <p class="callout callout-info" role="status" data-link-login hidden />
      {forges.length > 0 && (
        <Section title="With your account">
          <ul class="stack">
            {forges.map((forge) => (
              <li key={forge}>
                <a class="button button-main" href={`/login/forge/${encodeURIComponent(forge)}${query}`}>
                  Log in through {forge}
                </a>
              </li>
            ))}
          </ul>
          <p class="muted small">
            Your rights at the forge decide what you see: owners see their organization, writers their repositories.
          </p>
        </Section>
      )}
      <Section title="With an operator's token">
        <form method="post" action="/login/token" class="stack">
          <input type="hidden" name="next" value={next} />
          <label class="field">
            <span>Token</span>
            <input name="token" type="password" required maxLength={200} autocomplete="current-password" />
          </label>
          <button type="submit" class={forges.length > 0 ? '' : 'button-main'}>
            Log in
          </button>
        </form>
      </Section>
      <Section title="On the machine of the bot">
        <p>
          Run <code>forgehand console</code> there. It prints a link that logs you in once.
        </p>
      </Section>
    </div>
  );
}
