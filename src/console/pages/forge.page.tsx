import { definePage } from '../page.js';
import { Callout, Section, Time } from '../ui/components.js';
import { OrgField } from '../ui/words.js';
import { ListTable, More } from '../ui/list.js';
import { CHECKS, FORGES } from '../../api/lists.js';

/** What stands between forge and bot. The doctor looks at one organization now, and answers for all from what is known. */
export const forgePage = definePage({
  path: '/forge',
  nav: { label: 'Forge', order: 50 },
  load: async ({ call, query, may }) => {
    const [status, orgs] = await Promise.all([call('status', { limit: 1 }), call('organizations')]);
    const org = query['org'];
    const owned = orgs.map(({ name }) => name).filter((name) => may('read', name));
    return {
      forges: status.forges,
      owned,
      org,
      search: query['search'],
      mayAll: may('read', null),
      report:
        query['look'] === 'yes' ? await call('doctor', { org, search: query['search'], after: query['after'] }) : null,
    };
  },
  title: () => 'Forge and doctor',
  view: ({ forges, owned, org, search, mayAll, report }) => (
    <>
      <Section title="Forges">
        <ListTable list={FORGES} caption="Forges" rows={forges} />
      </Section>
      <Section title="Doctor">
        {owned.length === 0 ? (
          <p class="muted">Owners of an organization can run the doctor.</p>
        ) : (
          <form class="filters" method="get" action="/forge">
            <input type="hidden" name="look" value="yes" />
            <OrgField orgs={owned} chosen={org} {...(mayAll ? { all: 'all of the bot' } : {})} />
            <label>
              <span>Search</span>
              <input name="search" value={search ?? ''} maxLength={200} />
            </label>
            <button type="submit" class="button-main">
              Look now
            </button>
          </form>
        )}
        {report && (
          <>
            <Callout tone={report.findings === 0 ? 'good' : 'attention'}>
              <p>
                {report.findings === 0
                  ? 'Nothing is wrong.'
                  : `${report.attention} of ${report.total} checks found something.`}
              </p>
            </Callout>
            <ListTable
              list={CHECKS}
              caption="What the doctor saw"
              rows={[...report.rows].sort((a, b) => RANK.indexOf(b.state) - RANK.indexOf(a.state))}
              more={[
                {
                  head: 'What to do',
                  kind: 'wide',
                  cell: ({ fix }) =>
                    fix.length > 0 && (
                      <ul class="lines">
                        {fix.map((step, n) => (
                          <li key={n}>
                            <code>{step}</code>
                          </li>
                        ))}
                      </ul>
                    ),
                },
              ]}
            />
            <More page={report} one="check" />
            {report.forges.map(({ id, learnedAt }) => (
              <p class="muted small" key={id}>
                What the bot knows of {id} it learned <Time at={learnedAt} />.
              </p>
            ))}
          </>
        )}
      </Section>
    </>
  ),
});

const RANK = ['ok', 'note', 'warning', 'problem'];
