import { definePage } from '../page.js';
import { Section } from '../ui/components.js';

export const aboutPage = definePage({
  path: '/about',
  title: () => 'What is shown, to whom, and for how long',
  load: async () => null,
  view: () => (
    <>
      <Section title="Who sees what">
        <ul class="prose">
          <li>Owners of an organization see everything in it and may act on it.</li>
          <li>
            People with write access to at least one of its repositories see what concerns the repositories they can
            see. They change nothing here.
          </li>
          <li>Nobody else sees anything. The operators of the bot see and do everything.</li>
          <li>Rights come from the forge. The bot reads them again every ten minutes, and before each change.</li>
          <li>The bot records each change with the name of the person who made it.</li>
        </ul>
      </Section>
      <Section title="For how long">
        <ul class="prose">
          <li>
            The bot keeps the bodies of deliveries for the days of <code>retention.inbox_days</code>, 90 unless the
            operator sets another number.
          </li>
          <li>Events, decisions and effects stay, so that each can be explained later.</li>
          <li>
            <code>forgehand erase USER</code> takes the texts and the address of a person out of everything that is
            stored. Keys and counts stay.
          </li>
          <li>
            A session ends after eight hours without use. <a href="/sessions">End a session</a> at any time.
          </li>
        </ul>
      </Section>
    </>
  ),
});
