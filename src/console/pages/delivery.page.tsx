import { definePage, unknownAct, type Ask, type Done, type Form } from '../page.js';
import { Facts, Section, Time } from '../ui/components.js';
import { Act, Effects, eventPath, State } from '../ui/words.js';
import { aboutText, counted, sourceText } from '../../api/words.js';

/** One delivery or polled entry, and what came of it. */
export const deliveryPage = definePage({
  path: '/deliveries/:id',
  within: '/activity',
  load: async ({ call, params, may }) => {
    const delivery = await call('delivery', { id: params['id'] ?? '' });
    return { delivery, mayAct: may('operate', delivery.org) };
  },
  title: ({ delivery: { kind, eventType, org } }) =>
    `${kind === 'entry' ? 'Entry' : 'Delivery'} ${eventType} of ${org}`,
  view: ({ delivery, mayAct }) => {
    const { id, org, hook, deliveryId, verdict, at, state, reason, code, repeats, archivedAt, eventIds } = delivery;
    return (
      <>
        <Facts
          facts={[
            ['Arrived', <Time at={at} />],
            ['Source', `${sourceText(delivery)}${hook !== null && verdict === 'unsigned' ? ', unsigned' : ''}`],
            ['Organization', org],
            deliveryId !== null && ['Id at the forge', <code>{deliveryId}</code>],
            ['State', <State of={state === 'stored' ? 'waits' : state} />],
            reason !== null && ['Why', code === null ? reason : `${reason} (${code})`],
            ['Came again', repeats === 0 ? 'never' : counted(repeats, 'time')],
            [
              'Body',
              archivedAt === null ? (
                'stored'
              ) : (
                <>
                  given up by retention, <Time at={archivedAt} />
                </>
              ),
            ],
            ['Id', <code>{id}</code>],
          ]}
        />
        <Section title="What came of it">
          {eventIds.length === 0 ? (
            <p class="muted">
              {state === 'stored'
                ? 'The bot has not decided about it yet. Look again in a moment.'
                : 'It made no event.'}
            </p>
          ) : (
            <ul class="lines">
              {eventIds.map((eventId, n) => (
                <li key={eventId}>
                  <a href={eventPath(eventId)}>
                    {delivery.eventKinds[n] ?? 'event'} {n === 0 && delivery.about && aboutText(delivery.about, org)}
                  </a>
                </li>
              ))}
            </ul>
          )}
          <Effects effects={delivery.effects} />
        </Section>
        {mayAct && (
          <Section title="Acts">
            {state === 'quarantined' ? (
              <Act name="Release it" button="Release this arrival" fields={{ act: 'release', arrival: id }}>
                <p>
                  The bot decides about it again, by the same rules. If it belongs to another organization, the bot
                  quarantines it again.
                </p>
              </Act>
            ) : (
              <Act name="Decide about it again" button="Replay this arrival" fields={{ act: 'replay', arrival: id }}>
                <p>
                  The bot evaluates {eventIds.length === 1 ? 'its event' : `its ${eventIds.length} events`} once more,
                  by the rules of now. What was done is not done again.
                </p>
              </Act>
            )}
          </Section>
        )}
      </>
    );
  },
  act: actOnArrival,
});

/** Replays or releases what a form names. */
export async function actOnArrival({ call }: Ask, form: Form): Promise<Done> {
  const [id, reason] = [form['arrival'] ?? '', form['reason']];
  switch (form['act']) {
    case 'replay': {
      const { newRuns } = await call('replay', { id, reason });
      return {
        notice:
          newRuns === 0
            ? 'Evaluated again. No rule decided otherwise.'
            : `Evaluated again: ${counted(newRuns, 'new run')}.`,
      };
    }
    case 'release': {
      const { released } = await call('release', { id, reason });
      return { notice: released ? 'Released. The bot decides about it again.' : 'It was not quarantined any more.' };
    }
    default:
      throw unknownAct();
  }
}
