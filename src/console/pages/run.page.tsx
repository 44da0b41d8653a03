import type { AnswerOf } from '../../api/operations/index.js';
import { UserError } from '../../core/errors.js';
import { shortRevision } from '../../core/ids.js';
import { isJsonObject, type Json } from '../../core/json.js';
import { operationInWords } from '../../forge/operation-words.js';
import { definePage, unknownAct, type AnyPage, type Ask, type Form } from '../page.js';
import { Callout, Facts, Id, Section, Table, Time } from '../ui/components.js';
import { LookAt, Lookups, Reasons, RuleSource, type ExplainedRun } from '../ui/reasons.js';
import { Act, effectPath, eventPath, placeText, rulePath, State, value } from '../ui/words.js';
import { WaitingSection } from '../ui/waiting.js';
import { EventFacts, Notes } from './event.page.js';
import { aboutText, counted } from '../../api/words.js';

type Effect = ExplainedRun['intents'][number];
type Intent = AnswerOf<'run'>['intents'][number];

interface RunData {
  readonly explanation: ExplainedRun;
  readonly intents: readonly Intent[];
  readonly mayOperate: boolean;
  readonly mayApprove: boolean;
}

/** What a run decided, why, and what came of each effect. An effect has an address of its own, on the page of its run. */
export const runPage = pageOf('/runs/:id');
export const effectPage = pageOf('/effects/:id');

function pageOf(path: string): AnyPage {
  return definePage<RunData>({
    path,
    within: '/activity',
    load,
    title: ({ explanation }) =>
      `${explanation.run.rule}: ${explanation.context.schedule ? 'schedule' : (explanation.event?.kind ?? 'run')} ${aboutText(explanation.context, explanation.run.org)}`,
    view: (data) => <RunView {...data} />,
    act: async (ask, form) => ({ notice: await act(ask, form) }),
  });
}

async function load({ call, may, params }: Ask): Promise<RunData> {
  const explanation = await call('explain', { id: params['id'] ?? '' });
  if (explanation.about !== 'run') throw new UserError('NOT_FOUND', 'there is no such run');
  const { org } = explanation.run;
  const { intents } = await call('run', { id: explanation.run.id });
  return { explanation, intents, mayOperate: may('operate', org), mayApprove: may('approve', org) };
}

function RunView({ explanation, intents, mayOperate, mayApprove }: RunData) {
  const { run, event, look, revision, notes, sections, context, intentId } = explanation;
  const waiting = intents.filter(waitsForApproval);
  return (
    <>
      <Callout tone={toneOf(run.state)}>
        <p>
          <State of={run.state} mode={run.mode} /> {run.reason}
        </p>
        <LookAt look={look} />
      </Callout>
      <Section title="Effects">
        {waiting.length > 1 && mayApprove && (
          <Act
            name={`Approve or deny all ${waiting.length}`}
            button={`Approve ${waiting.length} effects`}
            fields={{ act: 'approve', target: run.id }}
          >
            <p>The bot will do these effects as soon as they are due:</p>
            <Wishes intents={waiting} />
          </Act>
        )}
        {explanation.intents.length === 0 ? (
          <p class="muted">The run planned no effect. The rule and the reasons below say why.</p>
        ) : (
          explanation.intents.map((effect) => (
            <EffectView
              key={effect.id}
              effect={effect}
              intent={intents.find(({ id }) => id === effect.id)}
              isAsked={effect.id === intentId}
              mayOperate={mayOperate}
              mayApprove={mayApprove}
            />
          ))
        )}
      </Section>
      <WaitingSection waiting={explanation.waiting ?? []} />
      <Section title="Rule">
        <RuleSource why={explanation} />
        <Facts
          facts={[
            ['Rule', <a href={rulePath(run.org, run.rule)}>{run.rule}</a>],
            explanation.place && ['Place', placeText(explanation.place)],
            [
              'Revision',
              <>
                <code>{shortRevision(revision.id)}</code>{' '}
                {revision.state === 'gone' ? 'no longer stored' : revision.state}
                {revision.origin?.commit && (
                  <>
                    , commit <code>{revision.origin.commit.slice(0, 10)}</code>
                  </>
                )}
              </>,
            ],
            ['Decided', <Time at={run.decidedAt} />],
            run.endedAt !== null && ['Ended', <Time at={run.endedAt} />],
            ['Run', <code>{run.id}</code>],
          ]}
        />
      </Section>
      <Section title="Reasons">
        <Reasons why={explanation} />
        {sections !== null && <Sections sections={sections} />}
        <Lookups lookups={explanation.lookups} />
        <Notes notes={notes} />
      </Section>
      <Section title="Cause">
        {event ? (
          <>
            <EventFacts event={event} />
            <p>
              <a href={eventPath(event.id)}>Its sources, and the verdict of every rule</a>
            </p>
          </>
        ) : (
          <Facts
            facts={[
              context.schedule && ['Occurrence', <Time at={context.schedule.at} />],
              context.schedule && ['Next', <Time at={context.schedule.next} />],
              run.cause.kind === 'apply' && ['Plan applied by', run.cause.by],
              context.repo !== null && ['Repository', context.repo],
            ]}
          />
        )}
      </Section>
    </>
  );
}

function toneOf(state: ExplainedRun['run']['state']) {
  if (state === 'failed' || state === 'error') return 'bad';
  return state === 'done' ? 'good' : 'info';
}

function EffectView({
  effect,
  intent,
  isAsked,
  mayOperate,
  mayApprove,
}: {
  effect: Effect;
  intent: Intent | undefined;
  isAsked: boolean;
  mayOperate: boolean;
  mayApprove: boolean;
}) {
  const { id, action, itemKey, state, mode, reason, attempts } = effect;
  return (
    <article class={isAsked ? 'effect is-asked' : 'effect'} id={`effect-${id}`}>
      <h3>
        <code>{action}</code> {itemKey} <State of={state} mode={mode} />
      </h3>
      {reason !== null && <p>{reason}</p>}
      <Facts
        facts={[
          intent !== undefined && ['On', targetText(intent.target)],
          intent?.approvalBy !== undefined && [
            intent.approval === 'denied' ? 'Denied by' : 'Approved by',
            <>
              {intent.approvalBy} <Time at={intent.approvalAt ?? null} />
            </>,
          ],
          intent?.held === true && ['Held until', <Time at={intent.dueAt} />],
          ['Effect', <Id id={id} href={effectPath(id)} />],
        ]}
      />
      <Table
        caption={`Attempts of ${action} ${itemKey}`}
        rows={attempts}
        keyOf={({ n }) => `${id}-${n}`}
        empty="No call was made for it."
        columns={[
          { head: 'Attempt', kind: 'number', cell: ({ n }) => n },
          { head: 'Sent', kind: 'tight', cell: ({ sentAt }) => <Time at={sentAt} /> },
          { head: 'Operation', cell: ({ operation }) => operationInWords(operation) },
          {
            head: 'Outcome',
            cell: ({ outcome, status }) => (
              <>
                <State of={outcome ?? 'unknown'} /> {status}
              </>
            ),
          },
          { head: 'Took', kind: 'number', cell: ({ sentAt, answeredAt }) => took(sentAt, answeredAt) },
          { head: 'Message', kind: 'wide', cell: ({ message }) => message },
        ]}
      />
      {intent && <EffectActs intent={intent} mayOperate={mayOperate} mayApprove={mayApprove} />}
    </article>
  );
}

function EffectActs({ intent, mayOperate, mayApprove }: { intent: Intent; mayOperate: boolean; mayApprove: boolean }) {
  const { id, state } = intent;
  const waits = waitsForApproval(intent);
  const isOpen = state === 'unknown' || (state === 'waiting' && !waits);
  return (
    <div class="acts">
      {mayOperate && (state === 'dead' || state === 'refused') && (
        <Act name="Retry it" button="Retry this effect" fields={{ act: 'retry', target: id }}>
          <p>
            The bot plans this effect again, with the later steps of its run. It reads the forge first, and writes only
            what differs:
          </p>
          <Wishes intents={[intent]} />
        </Act>
      )}
      {mayApprove && waits && (
        <>
          <Act name="Approve it" button="Approve this effect" fields={{ act: 'approve', target: id }}>
            <p>The bot will do this as soon as it is due{intent.twoPeople && '. It takes a second person'}:</p>
            <Wishes intents={[intent]} />
          </Act>
          <Act name="Deny it" button="Deny this effect" tone="bad" fields={{ act: 'deny', target: id }}>
            <p>The bot cancels this effect, and the later steps of its run.</p>
          </Act>
        </>
      )}
      {mayOperate && isOpen && (
        <>
          <Act name="It exists at the forge" button="Record that it exists" fields={{ act: 'exists', target: id }}>
            <p>Look at the forge first. The bot counts the effect as done, and goes on with its run.</p>
          </Act>
          <Act
            name="It does not exist at the forge"
            button="Record that it does not exist"
            fields={{ act: 'absent', target: id }}
          >
            <p>Look at the forge first. The bot plans the effect again and repeats the call.</p>
          </Act>
        </>
      )}
    </div>
  );
}

function waitsForApproval({ state, approval }: Intent): boolean {
  return state === 'waiting' && approval === 'wanted';
}

function Wishes({ intents }: { intents: readonly Intent[] }) {
  return (
    <ul class="lines">
      {intents.map(({ id, action, itemKey, params, target }) => (
        <li key={id}>
          <code>{action}</code> {itemKey} on {targetText(target)} <span class="muted">{value(params)}</span>
        </li>
      ))}
    </ul>
  );
}

/** What a policy found and wanted, by section. */
function Sections({ sections }: { sections: Readonly<Record<string, Json>> }) {
  return (
    <Facts
      facts={Object.entries(sections).map(([name, part]) => [
        name,
        isJsonObject(part) ? (
          <ul class="lines">
            {Object.entries(part).map(([what, of]) => (
              <li key={what}>
                {what.replace(/_/g, ' ')}: <code>{value(of)}</code>
              </li>
            ))}
          </ul>
        ) : (
          <code>{value(part)}</code>
        ),
      ])}
    />
  );
}

function targetText(target: Intent['target']): string {
  if (target.kind === 'repository') return `${target.owner}/${target.name}`;
  return target.kind === 'organization' ? `organization ${target.name}` : `account ${target.login}`;
}

function took(sentAt: Date | string, answeredAt: Date | string | null): string {
  return answeredAt === null ? '' : `${new Date(answeredAt).getTime() - new Date(sentAt).getTime()} ms`;
}

async function act({ call }: Ask, form: Form): Promise<string> {
  const [id, reason] = [form['target'] ?? '', form['reason']];
  switch (form['act']) {
    case 'retry': {
      const { retried } = await call('retry', { id, reason });
      return retried ? 'The effect is planned again.' : 'The effect is neither dead nor refused any more.';
    }
    case 'exists':
    case 'absent': {
      const { resolved } = await call('resolve', { id, exists: form['act'] === 'exists', reason });
      return resolved ? 'The outcome is recorded.' : 'The effect does not wait for a person any more.';
    }
    case 'approve':
    case 'deny': {
      const { intents } = await call('approve', { id, deny: form['act'] === 'deny', reason });
      if (intents.length === 0) return 'Nothing waits for an approval any more.';
      return form['act'] === 'deny'
        ? `${counted(intents.length, 'effect')} will not be done.`
        : `${counted(intents.length, 'effect')} will be done.`;
    }
    default:
      throw unknownAct();
  }
}
