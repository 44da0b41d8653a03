import type { SentTo } from '../../api/operations/index.js';
import { hasFired } from '../../core/run.js';
import { definePage } from '../page.js';
import { Callout, Filters, Pager, Table, Time, type Column } from '../ui/components.js';
import { Live } from '../ui/live.js';
import {
  activityPath,
  deliveryPath,
  duplicatesOf,
  Effects,
  eventPath,
  orgFilters,
  runPath,
  State,
  type ActivityRow,
} from '../ui/words.js';
import { fieldsOf } from '../ui/list.js';
import { ACTIVITY_FILTERS } from '../../api/lists.js';
import { aboutText, counted, notAskedText, sourcesText } from '../../api/words.js';

const SHOWN = 50;
const TABLE = 'timeline';
const FILTERS = ['org', ...ACTIVITY_FILTERS.map(({ name }) => name)];

/** The columns of a timeline. */
const ACTIVITY_COLUMNS: ReadonlyArray<Column<ActivityRow>> = [
  { head: 'When', kind: 'tight', cell: ({ at }) => <Time at={at} /> },
  { head: 'What', cell: What },
  {
    head: 'About',
    cell: ({ repo, subject, org }) =>
      repo === null ? org : <a href={activityPath({ repo })}>{aboutText({ repo, subject }, org)}</a>,
  },
  {
    head: 'By',
    cell: ({ person, schedule }) =>
      person === null ? schedule && 'schedule' : <a href={activityPath({ person })}>{person}</a>,
  },
  { head: 'Rules and effects', kind: 'wide', cell: Outcome },
];

/** What happened, newest first. */
export const activityPage = definePage({
  path: '/activity',
  nav: { label: 'Activity', order: 10 },
  title: () => 'Activity',
  timeline: ACTIVITY_COLUMNS,
  islands: ['live'],
  load: async ({ call, query }) => {
    const filter = Object.fromEntries(FILTERS.map((name) => [name, query[name]]));
    const [orgs, page] = await Promise.all([
      call('organizations'),
      // The operation checks what the address asks for.
      call('activity', {
        ...(filter as SentTo<'activity'>),
        ...(query['all'] === 'yes' || filter['state'] || filter['effects'] ? {} : { changed: true }),
        before: query['before'],
        limit: SHOWN,
      }),
    ]);
    return { ...page, orgs: orgs.map(({ name }) => name), isNewest: query['before'] === undefined };
  },
  view: ({ rows, notAsked, next, lookedBackTo, orgs, isNewest }) => (
    <>
      <Filters
        filters={[
          ...orgFilters(orgs),
          ...fieldsOf(ACTIVITY_FILTERS),
          { name: 'all', label: 'Show', options: [['yes', 'everything, also what changed nothing']] },
        ]}
      />
      {isNewest && <Live table={TABLE} />}
      <Table
        id={TABLE}
        caption="What happened, newest first"
        rows={rows}
        keyOf={({ id }) => id}
        columns={ACTIVITY_COLUMNS}
        empty={
          <p>
            Nothing fits. Take a filter away, or <a href={activityPath({ all: 'yes' })}>show everything</a>, also what
            no rule wanted. If nothing arrives at all, see <a href="/gaps">whether deliveries are missing</a>.
          </p>
        }
      />
      {notAsked.length > 0 && (
        <Callout title="Not asked">
          {notAsked.map((row) => (
            <p key={row.id}>
              <a href={eventPath(row.id)}>{row.event}</a> {aboutText(row, row.org)}: {notAskedText(row.notAsked)}.
            </p>
          ))}
        </Callout>
      )}
      {lookedBackTo !== null && (
        <Callout>
          <p>
            This page looked back to <Time at={lookedBackTo} />. Open the older ones to look further.
          </p>
        </Callout>
      )}
      <Pager next={next} />
    </>
  ),
});

function What(row: ActivityRow) {
  const { id, what, event, sources, runs, schedule } = row;
  const twice = duplicatesOf(sources);
  const [run] = runs;
  if (what === 'run' && run) return <a href={runPath(run.id)}>{schedule ? 'schedule' : 'plan applied'}</a>;
  const href = what === 'event' ? eventPath(id) : deliveryPath(id);
  return (
    <>
      <a href={href}>{event ?? 'delivery without an event'}</a>
      <div class="muted small">
        {sourcesText(sources)}
        {twice > 0 && `, ${counted(twice, 'duplicate')}`}
      </div>
    </>
  );
}

/** The rules that fired with their effects, then the others with what kept them. */
function Outcome({ id, what, org, runs, notAsked, state, reason }: ActivityRow) {
  const fired = runs.filter((run) => hasFired(run.state));
  const others = runs.filter((run) => !hasFired(run.state));
  if (state !== 'decided')
    return (
      <>
        <State of={state} /> {reason ?? 'The bot has not decided about it yet.'}
      </>
    );
  const missed = notAskedText(notAsked);
  if (runs.length === 0 && missed !== '')
    return (
      <span class="muted">
        {missed}. <a href={eventPath(id)}>Why</a>
      </span>
    );
  if (runs.length === 0) return <span class="muted">{reason ?? 'No rule matched it.'}</span>;
  return (
    <ul class="lines">
      {fired.map((run) => (
        <li key={run.id}>
          <a href={runPath(run.id)}>{run.rule}</a>{' '}
          {run.effects.length === 0 ? <State of={run.state} mode={run.mode} /> : <Effects effects={run.effects} />}
        </li>
      ))}
      {others.map((run) => (
        <li key={run.id}>
          <a href={runPath(run.id)}>{run.rule}</a> <State of={run.state} /> <span class="muted">{run.reason}</span>
        </li>
      ))}
      {missed !== '' && <li class="muted">{missed}</li>}
      {what === 'event' && (
        <li class="small">
          <a href={eventPath(id)}>Why each rule of {org} did or did not fire</a>
        </li>
      )}
    </ul>
  );
}
