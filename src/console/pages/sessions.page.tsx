import { definePage, type AnyPage } from '../page.js';
import type { Sessions } from '../sessions/sessions.js';
import { browserOf } from '../ui/browser-name.js';
import { ActForm, Badge, Section } from '../ui/components.js';
import { ListTable } from '../ui/list.js';
import { SESSIONS } from '../../api/lists.js';

/** Browsers that are logged in: one's own, and everybody's for who sees everything. */
export function sessionsPage(sessions: Sessions): AnyPage {
  return definePage({
    path: '/sessions',
    title: () => 'Sessions',
    load: async ({ session, caller }) => ({
      own: session.id,
      seesAll: caller.grants === null,
      rows: await sessions.list({ session, caller }),
    }),
    view: ({ own, seesAll, rows }) => (
      <Section title={seesAll ? 'Browsers that are logged in' : 'Browsers in which you are logged in'}>
        <ListTable
          list={SESSIONS}
          caption="Sessions"
          rows={rows}
          cells={{
            Who: ({ name, id }) => (
              <>
                {name} {id === own && <Badge tone="info">this browser</Badge>}
              </>
            ),
            Browser: ({ agent }) => <span title={agent}>{browserOf(agent)}</span>,
          }}
          more={[
            {
              head: 'Act',
              cell: ({ id, name }) => (
                <ActForm class="inline" fields={{ session: id }}>
                  <button type="submit" class="button-plain">
                    End<span class="unseen"> the session of {name}</span>
                  </button>
                </ActForm>
              ),
            },
          ]}
        />
      </Section>
    ),
    act: async ({ session, call }, form) => {
      const id = form['session'] ?? '';
      // To log out of another browser of one's own takes no right; any other session is ended as the control API does.
      if (!(await sessions.endOwn(id, session))) await call('endConsoleSession', { id });
      await sessions.sweep();
      return { notice: 'The session has ended.' };
    },
  });
}
