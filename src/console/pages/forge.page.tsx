import { definePage } from '../page.js';
import { Callout, Section, Table, Time } from '../ui/components.js';
import { State } from '../ui/words.js';

/** What stands between forge and bot. The doctor asks the forge, so it looks when somebody wants it to. */
export const forgePage = definePage({
  path: '/forge',
  nav: { label: 'Forge', order: 50 },
  load: async ({ call, query, may }) => {
    const status = await call('status');
    const org = query['org'];
    const owned = status.orgs.map(({ name }) => name).filter((name) => may('read', name));
    return {
      forges: status.forges,
      owned,
      org,
      mayAll: may('read', null),
      report: query['look'] === 'yes' ? await call('doctor', { org }) : null,
    };
  },
  title: () => 'Forge and doctor',
  view: ({ forges, owned, org, mayAll, report }) => (
    <>
      <Section title="Forges">
        <Table
          caption="Forges"
          rows={forges}
          keyOf={({ id }) => id}
          empty="The config names no forge that you may see."
          columns={[
            { head: 'Forge', cell: ({ id }) => id },
            { head: 'Server', cell: ({ product, version }) => [product, version].filter(Boolean).join(' ') },
            { head: 'The bot is', cell: ({ self }) => self },
            {
              head: 'Reached',
              cell: ({ reachable }) =>
                reachable === null ? 'not known here' : <State of={reachable ? 'ok' : 'problem'} />,
            },
          ]}
        />
      </Section>
      <Section title="Doctor">
        {owned.length === 0 ? (
          <p class="muted">Owners of an organization can run the doctor.</p>
        ) : (
          <form class="filters" method="get" action="/forge">
            <input type="hidden" name="look" value="yes" />
            <label>
              <span>Organization</span>
              <select name="org">
                {mayAll && <option value="">all of the bot</option>}
                {owned.map((name) => (
                  <option value={name} selected={name === org} key={name}>
                    {name}
                  </option>
                ))}
              </select>
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
                  : `${report.findings} of ${report.checks.length} checks found something.`}
              </p>
            </Callout>
            <Table
              caption="What the doctor saw"
              rows={[...report.checks].sort((a, b) => RANK.indexOf(b.state) - RANK.indexOf(a.state))}
              empty="The doctor looked at nothing."
              columns={[
                { head: 'State', cell: ({ state }) => <State of={state} /> },
                { head: 'Check', cell: ({ check }) => <code>{check}</code> },
                { head: 'About', cell: ({ org: of, forge }) => of ?? forge },
                {
                  head: 'Seen, and what to do',
                  kind: 'wide',
                  cell: ({ said, fix }) => (
                    <>
                      {said}
                      {fix.length > 0 && (
                        <ul class="lines">
                          {fix.map((step, n) => (
                            <li key={n}>
                              <code>{step}</code>
                            </li>
                          ))}
                        </ul>
                      )}
                    </>
                  ),
                },
              ]}
            />
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
