import { ActForm, Section } from '../ui/components.js';

/** For who is logged in and may see nothing: who that is, what it would take, and the way out. It names no organization of the bot. */
export function NoRights({ name }: { name: string }) {
  const account = name.replace(/^person:/, '');
  return (
    <div class="narrow stack">
      <p>
        You are logged in as <strong>{account}</strong>. The forge gives this account no right to anything that the bot
        serves.
      </p>
      <Section title="What it takes">
        <ul class="prose">
          <li>Owners of an organization that the bot serves see and do everything there.</li>
          <li>
            People with write access to at least one of its repositories see what concerns the repositories they can
            see.
          </li>
        </ul>
        <p>
          Ask an owner of the organization for one of them. The bot asks the forge again within ten minutes:{' '}
          <a href="/">look again</a>.
        </p>
      </Section>
      <Section title="Another account">
        <p>Log out here. If the forge then logs you in as the same account, log out there too.</p>
        <ActForm action="/logout">
          <button class="button-main" type="submit">
            Log out and log in as somebody else
          </button>
        </ActForm>
      </Section>
    </div>
  );
}
