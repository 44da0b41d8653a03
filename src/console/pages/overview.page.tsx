import { definePage } from '../page.js';
import { Callout, Figures, Section, Table, Time } from '../ui/components.js';

export const overviewPage = definePage({
  path: '/',
  nav: { label: 'Overview', order: 0 },
  title: () => 'Overview',
  load: async ({ call }) => ({ status: await call('status') }),
  view: ({ status }) => (
    <>
      {status.startedAt === null && <Callout tone="attention" title="No bot runs" />}
      <Figures
        figures={[
          { name: 'arrivals not decided', value: status.backlog.arrivals },
          { name: 'events not decided', value: status.backlog.events },
          { name: 'effects that wait for a person', value: status.intents.waiting },
        ]}
      />
      <Section title="Organizations">
        <Table
          caption="Organizations"
          rows={status.orgs}
          keyOf={({ name }) => name}
          empty="The config names no organization that you may see."
          columns={[
            { head: 'Name', cell: ({ name }) => name },
            { head: 'Forge', cell: ({ forge }) => forge },
            { head: 'Rules loaded', cell: ({ revision }) => <Time at={revision?.loadedAt ?? null} /> },
          ]}
        />
      </Section>
    </>
  ),
});
