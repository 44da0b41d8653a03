import { definePage, unknownAct } from '../page.js';
import { Filters, Section, Table } from '../ui/components.js';
import { Act, dryPath, OrgField, rulePath, State } from '../ui/words.js';
import { ListTable, More, searchField } from '../ui/list.js';
import { JOB_RESULTS, JOBS, SCHEDULES } from '../../api/lists.js';
import { sayFired } from '../../api/words.js';

/** Schedules and the bot's own jobs: last, next, and now. */
export const jobsPage = definePage({
  path: '/jobs',
  nav: { label: 'Jobs', order: 60 },
  load: async ({ call, may, query }) => {
    const { search } = query;
    const [orgs, schedules, jobs] = await Promise.all([
      call('organizations'),
      call('schedules', { search, after: query['after'] }),
      call('jobs', { search, after: query['results'] }),
    ]);
    return {
      schedules,
      jobs,
      owned: orgs.map(({ name }) => name).filter((name) => may('operate', name)),
      mayAll: may('operate', null),
    };
  },
  title: () => 'Schedules and jobs',
  view: ({ schedules, jobs, owned, mayAll }) => (
    <>
      <Filters filters={searchField()} />
      <Section title="Schedules of rules and policies">
        <ListTable
          list={SCHEDULES}
          caption="Schedules"
          rows={schedules.rows}
          more={[
            {
              head: 'Act',
              kind: 'tight',
              cell: ({ org, id }) =>
                owned.includes(org) && (
                  <>
                    <a href={dryPath(org, id)}>
                      Try<span class="unseen"> {id}</span>
                    </a>{' '}
                    <Act
                      name="Run now"
                      about={id}
                      button={`Run ${id} now`}
                      fields={{ act: 'schedule', org, schedule: id }}
                    >
                      <p>The bot fires the schedule once, for every repository that it is about.</p>
                    </Act>
                  </>
                ),
            },
          ]}
        />
        <More page={schedules} one="schedule" />
      </Section>
      <Section title="The bot's own jobs">
        <ListTable
          list={JOBS}
          caption="Jobs"
          rows={jobs.jobs}
          more={[
            {
              head: 'Act',
              kind: 'tight',
              cell: ({ job, per }) => {
                const orgs = per === 'organization' ? owned : [];
                if (orgs.length === 0 && (per === 'organization' || !mayAll)) return null;
                return (
                  <>
                    <form method="get" action="/jobs/dry" class="act">
                      <input type="hidden" name="job" value={job} />
                      {orgs.length > 0 && <OrgField orgs={orgs} {...(mayAll ? { all: 'all' } : {})} />}
                      <button type="submit">
                        Try<span class="unseen"> {job}</span>
                      </button>
                    </form>
                    <Act name="Run now" about={job} button={`Run ${job} now`} fields={{ act: 'job', job }}>
                      <p>The bot runs the job once, now. Its schedule stays as it is.</p>
                      {orgs.length > 0 && <OrgField orgs={orgs} {...(mayAll ? { all: 'all' } : {})} />}
                    </Act>
                  </>
                );
              },
            },
          ]}
        />
      </Section>
      <Section title="What the jobs found">
        <ListTable list={JOB_RESULTS} caption="Newest results, those to look at first" rows={jobs.rows} />
        <More page={jobs} one="result" by="results" />
      </Section>
    </>
  ),
  act: async ({ call }, form) => {
    const { org, reason } = form;
    switch (form['act']) {
      case 'schedule': {
        const fired = await call('runSchedule', { org: org ?? '', schedule: form['schedule'] ?? '', reason });
        return { notice: sayFired(fired) };
      }
      case 'job': {
        const { runs } = await call('runJob', { job: form['job'] ?? '', org, reason });
        const results = runs.map(({ outcome, error }) => error ?? outcome?.summary ?? '').join('; ');
        return { notice: `The job ran: ${results}.` };
      }
      default:
        throw unknownAct();
    }
  },
});

/** What a schedule or a job would do now. It reads the forge and writes nothing, so a link is enough. */
export const dryPage = definePage({
  path: '/jobs/dry',
  within: '/jobs',
  load: async ({ call, query }) => {
    const { org = '', schedule = '', job } = query;
    if (job !== undefined)
      return { org, of: job, rehearsed: null, ...(await call('runJob', { job, org, dryRun: true })) };
    const { rehearsed = [] } = await call('runSchedule', { org, schedule, dryRun: true });
    return { org, of: schedule, rehearsed, runs: [] };
  },
  title: ({ of }) => `What ${of} would do now`,
  view: ({ org, of, rehearsed, runs }) => (
    <>
      {rehearsed === null ? (
        <Table
          caption="What the job would do"
          rows={runs}
          empty="It would look at nothing."
          columns={[
            { head: 'For', cell: (run) => run.org || run.forge || 'the bot' },
            { head: 'Would', kind: 'wide', cell: ({ error, outcome }) => error ?? outcome?.summary ?? '' },
            { head: 'Changes', kind: 'wide', cell: ({ outcome }) => <Lines of={outcome?.changes ?? []} /> },
            { head: 'Findings', kind: 'wide', cell: ({ outcome }) => <Lines of={outcome?.findings ?? []} /> },
          ]}
        />
      ) : (
        <Table
          caption="What each run would want"
          rows={rehearsed}
          empty="It would look at no repository. See its where."
          columns={[
            { head: 'Repository', cell: ({ repo }) => repo ?? org },
            { head: 'Would', cell: ({ state, mode }) => <State of={state} mode={mode} /> },
            {
              head: 'Effects',
              kind: 'wide',
              cell: ({ effects }) => (
                <ul class="lines">
                  {effects.map(({ action, itemKey, waits }, n) => (
                    <li key={n}>
                      <code>{action}</code> {itemKey} {waits && <State of="waits" />}
                    </li>
                  ))}
                </ul>
              ),
            },
            { head: 'Why', kind: 'wide', cell: ({ reason }) => reason },
          ]}
        />
      )}
      <p>
        Nothing was written.{' '}
        {rehearsed === null ? <a href="/jobs">Go to the jobs</a> : <a href={rulePath(org, of)}>Go to {of}</a>}.
      </p>
    </>
  ),
});

function Lines({ of }: { of: readonly string[] }) {
  return (
    <ul class="lines">
      {of.map((line, n) => (
        <li key={n}>{line}</li>
      ))}
    </ul>
  );
}
