import { definePage, type Ask } from '../page.js';
import { Callout, Facts, Id, Section, Table, Time } from '../ui/components.js';
import { LookAt, Lookups, Reasons, RuleSource, type ExplainedEvent } from '../ui/reasons.js';
import {
  activityPath,
  Act,
  decisionPath,
  deliveryPath,
  eventPath,
  placeText,
  rulePath,
  runPath,
  State,
} from '../ui/words.js';
import { UserError } from '../../core/errors.js';
import { shortRevision } from '../../core/ids.js';
import { WaitingSection } from '../ui/waiting.js';
import { actOnArrival } from './delivery.page.js';
import { aboutText, sourceText } from '../../api/words.js';

/** What came, and what every rule made of it. */
export const eventPage = definePage({
  path: '/events/:id',
  within: '/activity',
  load: async ({ call, params, may }) => {
    const explanation = await call('explain', { id: params['id'] ?? '' });
    if (explanation.about !== 'event') throw new UserError('NOT_FOUND', 'there is no such event');
    return { ...explanation, mayReplay: may('operate', explanation.event.org) };
  },
  title: ({ event }) => `${event.kind} in ${aboutText(event, event.org)}`,
  view: ({ event, revision, rules, notes, mayReplay, waiting = [] }) => (
    <>
      <EventFacts event={event} />
      <WaitingSection waiting={waiting} />
      <Section title="Rules and policies">
        <p class="muted">
          Those that fired come first, then those that came nearest. Rules that wait for another kind of event come
          last.
        </p>
        <Table
          caption="Every rule, and why it fired or did not"
          rows={rules}
          keyOf={({ rule }) => rule}
          empty={
            <p>
              No rules are loaded for {event.org}. See <a href="/rules">the rules</a> and{' '}
              <a href="/forge">the doctor</a>.
            </p>
          }
          columns={[
            {
              head: 'Rule',
              cell: ({ rule }) => <a href={decisionPath(event.id, rule)}>{rule}</a>,
            },
            { head: 'Verdict', kind: 'tight', cell: ({ verdict }) => <State of={verdict} /> },
            { head: 'Why', kind: 'wide', cell: ({ reason }) => reason },
            {
              head: 'Clause',
              kind: 'wide',
              cell: ({ place }) =>
                place && (
                  <>
                    {place.text !== null && <code>{place.text}</code>}
                    <div class="muted small">{placeText(place)}</div>
                  </>
                ),
            },
            { head: 'Run', cell: ({ runId }) => runId !== null && <Id id={runId} href={runPath(runId)} /> },
          ]}
        />
        {revision && (
          <p class="muted small">
            By the rules of revision <code>{shortRevision(revision.id)}</code>, loaded <Time at={revision.loadedAt} />.
          </p>
        )}
        <Notes notes={notes} />
      </Section>
      <Section title="How it came">
        <Table
          caption="Arrivals of this event"
          rows={event.arrivals}
          keyOf={({ id }) => id}
          empty="Its arrivals are not kept any more."
          columns={[
            { head: 'When', kind: 'tight', cell: ({ at }) => <Time at={at} /> },
            { head: 'Source', cell: sourceText },
            { head: 'Delivery', kind: 'wide', cell: ({ deliveryId }) => deliveryId && <code>{deliveryId}</code> },
            { head: 'Came again', kind: 'number', cell: ({ repeats }) => repeats },
            { head: 'Arrival', cell: ({ id }) => <Id id={id} href={deliveryPath(id)} /> },
          ]}
        />
        {mayReplay && event.arrivals[0] && (
          <Act
            name="Decide about it again"
            button="Replay this event"
            fields={{ act: 'replay', arrival: event.arrivals[0].id }}
          >
            <p>
              The bot evaluates this event once more, by the rules of now. What rules wanted before and was done is not
              done again. Rules that are new may write.
            </p>
          </Act>
        )}
      </Section>
    </>
  ),
  act: actOnArrival,
});

/** Why one rule did or did not take one event. */
export const decisionPage = definePage({
  path: '/events/:id/rules/:rule',
  within: '/activity',
  load: decisionOf,
  title: ({ rule }) => `Why ${rule} did or did not fire`,
  view: ({ rule, event, verdict, reason, look, runs, notes, ...why }) => (
    <>
      <Callout tone={verdict === 'fired' ? 'good' : verdict === 'error' ? 'bad' : 'info'}>
        <p>
          <State of={verdict} /> {reason}
        </p>
        <LookAt look={look} />
      </Callout>
      <Section title="Rule">
        <RuleSource why={{ ...why, look }} />
        <Facts
          facts={[
            ['Rule', <a href={rulePath(event.org, rule)}>{rule}</a>],
            why.place && ['Place', placeText(why.place)],
            ['Event', <a href={eventPath(event.id)}>{`${event.kind} in ${aboutText(event, event.org)}`}</a>],
            runs.length > 0 && [
              'Runs',
              <ul class="lines">
                {runs.map((run) => (
                  <li key={run.id}>
                    <Id id={run.id} href={runPath(run.id)} /> <State of={run.state} /> {run.reason}
                  </li>
                ))}
              </ul>,
            ],
          ]}
        />
      </Section>
      <Section title="Reasons">
        <Reasons why={{ ...why, look }} />
        <Lookups lookups={why.lookups} />
        <Notes notes={notes} />
      </Section>
    </>
  ),
});

async function decisionOf({ call, params, query }: Ask) {
  const explanation = await call('explain', {
    id: params['id'] ?? '',
    rule: params['rule'] ?? '',
    revision: query['revision'],
  });
  if (explanation.about !== 'decision') throw new UserError('NOT_FOUND', 'there is no such event');
  return explanation;
}

/** When, where and by whom. */
export function EventFacts({ event }: { event: ExplainedEvent['event'] }) {
  const { id, org, repo, subject, actor, factAt, storedAt, kind } = event;
  return (
    <Facts
      facts={[
        ['Event', <code>{kind}</code>],
        ['About', repo === null ? org : <a href={activityPath({ repo })}>{aboutText({ repo, subject }, org)}</a>],
        ['By', actor === null ? 'not named by the forge' : <a href={activityPath({ person: actor })}>{actor}</a>],
        ['Happened', factAt === null ? 'the forge does not say' : <Time at={factAt} />],
        ['Stored', <Time at={storedAt} />],
        ['Id', <code>{id}</code>],
      ]}
    />
  );
}

export function Notes({ notes }: { notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <Callout title="Note">
      {notes.map((note, n) => (
        <p key={n}>{note}</p>
      ))}
    </Callout>
  );
}
