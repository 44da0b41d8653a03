import type { ComponentChildren } from 'preact';
import type { AnswerOf } from '../../api/operations/index.js';
import type { Problem } from '../../core/problem.js';
import { Badge, Callout, Facts, Section, Source, Table, type Column } from '../ui/components.js';
import { eventPath } from '../ui/words.js';
import { ListTable } from '../ui/list.js';
import { BACKTEST } from '../../api/lists.js';
import type { Tone } from '../../api/words.js';
import { counted } from '../../api/words.js';
import { StepsView } from './steps.js';

type Check = AnswerOf<'checkDraft'>;
type Trial = AnswerOf<'tryDraft'>;
type ObjectTrial = AnswerOf<'tryOnObject'>;
type Backtest = AnswerOf<'backtest'>;
type Fixture = AnswerOf<'draftFixture'>;
type Report = NonNullable<Backtest['report']>;
type RuleOf<Of extends { readonly rules: readonly unknown[] }> = Of['rules'][number];

/** What came of the draft. */
export type Outcome =
  | { readonly of: 'check'; readonly check: Check }
  | { readonly of: 'event'; readonly trial: Trial }
  | { readonly of: 'object'; readonly trial: ObjectTrial }
  | { readonly of: 'backtest'; readonly backtest: Backtest }
  | { readonly of: 'fixture'; readonly fixture: Fixture; readonly newFileUrl: string | null };

/** The form that its buttons belong to. */
export const FORM = 'try';

/** @param file the file in the editor, with the text that was tried: problems in it are shown where they are */
export function OutcomeView({ outcome, file, text }: { outcome: Outcome; file: string; text: string }) {
  switch (outcome.of) {
    case 'check':
      return <CheckView check={outcome.check} file={file} text={text} />;
    case 'event':
      return <TrialView trial={outcome.trial} />;
    case 'object':
      return <ObjectTrialView trial={outcome.trial} file={file} text={text} />;
    case 'backtest':
      return <BacktestView backtest={outcome.backtest} />;
    case 'fixture':
      return <FixtureView {...outcome} />;
  }
}

function CheckView({
  check: { ok, problems, warnings, rules },
  file,
  text,
}: {
  check: Check;
  file: string;
  text: string;
}) {
  const all = [...problems, ...warnings];
  return (
    <Section title="Check" aside={ok ? <Badge tone="good">loads</Badge> : <Badge tone="bad">does not load</Badge>}>
      {all.length > 0 && <Problems problems={all} />}
      <MarkedSource problems={all} file={file} text={text} />
      {ok && (
        <p>
          {counted(rules.length, 'rule or policy', 'rules and policies')}:{' '}
          {rules.map(({ id }, n) => [n > 0 && ', ', <code key={id}>{id}</code>])}
        </p>
      )}
    </Section>
  );
}

function Problems({ problems }: { problems: readonly Problem[] }) {
  return (
    <ul class="problems">
      {problems.map(({ file, line, col, message, hint, level }, n) => (
        <li key={n}>
          <Badge tone={level === 'warning' ? 'attention' : 'bad'}>{level ?? 'error'}</Badge>{' '}
          <a class="place" href={`#line-${line}`} data-line={line} data-col={col} data-file={file}>
            {file}:{line}:{col}
          </a>
          <p>{message}</p>
          {hint !== undefined && <p class="muted">{hint}</p>}
        </li>
      ))}
    </ul>
  );
}

/** Lines around a problem that are shown. */
const AROUND = 2;

/** For browsers without the editor, which marks the lines itself. */
function MarkedSource({ problems, file, text }: { problems: readonly Problem[]; file: string; text: string }) {
  const own = problems.filter((one) => one.file === file);
  const first = own[0];
  if (!first) return null;
  const lines = text.split('\n');
  const from = Math.max(1, first.line - AROUND);
  const to = Math.min(lines.length, first.line + AROUND);
  const marks = new Map(own.map(({ line, level }) => [line, { tone: (level ? 'attention' : 'bad') as Tone }]));
  return <Source file={file} firstLine={from} text={lines.slice(from - 1, to).join('\n')} marks={marks} />;
}

type Line = RuleOf<Trial> | RuleOf<ObjectTrial>;

/** What the rules of the draft make of one event, stored or made from an object. */
function RulesOnEvent<Rule extends Line>({
  on,
  trial: { event, rules, notes },
  columns,
  children,
}: {
  on: 'event' | 'object';
  trial: {
    event: Omit<NonNullable<ObjectTrial['event']>, 'data'> & { readonly id?: string };
    notes: readonly string[];
    rules: readonly Rule[];
  };
  /** Beside the rule, what it would do and why. */
  columns: { readonly before?: ReadonlyArray<Column<Rule>>; readonly after?: ReadonlyArray<Column<Rule>> };
  children?: ComponentChildren;
}) {
  return (
    <Section title={`On this ${on}`}>
      <Facts
        facts={[
          ['Event', event.id === undefined ? event.kind : <a href={eventPath(event.id)}>{event.kind}</a>],
          event.repo !== null && ['Repository', event.repo],
          event.subject !== null && ['About', event.subject],
          event.actor !== null && ['Person', event.actor],
        ]}
      />
      <Notes notes={notes} />
      <Table
        caption={`Rules of the draft on this ${on}`}
        rows={rules}
        keyOf={({ rule }) => rule}
        empty="The draft has no rules."
        columns={[
          { head: 'Rule', cell: ({ rule }) => <code>{rule}</code> },
          { head: 'Would', cell: ({ verdict, effects }) => <Would verdict={verdict} effects={countOf(effects)} /> },
          ...(columns.before ?? []),
          { head: 'Why', kind: 'wide', cell: ({ reason }) => reason },
          ...(columns.after ?? []),
        ]}
      />
      {children}
    </Section>
  );
}

function countOf(effects: Line['effects']): number {
  return typeof effects === 'number' ? effects : effects.length;
}

function TrialView({ trial }: { trial: Trial }) {
  const did: ReadonlyArray<Column<RuleOf<Trial>>> = [{ head: 'Did', cell: (line) => <Did did={line.did} /> }];
  const closer: ReadonlyArray<Column<RuleOf<Trial>>> = [
    {
      head: 'Look closer',
      cell: ({ rule, kind, verdict }) =>
        kind === 'rule' &&
        verdict !== 'rejected' && (
          <button type="submit" form={FORM} name="rule" value={rule} class="button-plain">
            Steps<span class="unseen"> of {rule}</span>
          </button>
        ),
    },
  ];
  return (
    <div class="stack" data-event={trial.event.id}>
      <RulesOnEvent on="event" trial={trial} columns={{ before: did, after: closer }} />
      {trial.steps && <StepsView steps={trial.steps} />}
    </div>
  );
}

function ObjectTrialView({ trial, file, text }: { trial: ObjectTrial; file: string; text: string }) {
  const { problems, event, rules, notes } = trial;
  if (!event)
    return (
      <Section title="On this object" aside={<Badge tone="bad">does not load</Badge>}>
        <Problems problems={problems} />
        <MarkedSource problems={problems} file={file} text={text} />
      </Section>
    );
  return (
    <div class="stack">
      <RulesOnEvent on="object" trial={{ event, rules, notes }} columns={{}}>
        <p class="muted small">The bot read this from the forge just now. It wrote and stored nothing.</p>
      </RulesOnEvent>
      {rules.map(
        ({ rule, steps, effects, waits }) =>
          steps && <StepsView key={rule} steps={{ ...steps, effects: [] }} looks={effects} waits={waits} />,
      )}
    </div>
  );
}

const WOULD: Readonly<Record<RuleOf<Trial>['verdict'], readonly [Tone, string]>> = {
  fired: ['good', 'fires'],
  'not-fired': ['neutral', 'does not fire'],
  rejected: ['neutral', 'not for this event'],
  error: ['bad', 'fails'],
  unknown: ['attention', 'not known'],
  absent: ['neutral', 'is not there'],
};

function Would({ verdict, effects }: Pick<RuleOf<Trial>, 'verdict' | 'effects'>) {
  const [tone, word] = WOULD[verdict];
  return (
    <>
      <Badge tone={tone}>{word}</Badge>
      {effects > 0 && ` ${counted(effects, 'effect')}`}
    </>
  );
}

function Did({ did }: Pick<RuleOf<Trial>, 'did'>) {
  if (!did) return <span class="muted">nothing recorded</span>;
  const hasFired = did.state !== 'not-fired' && did.state !== 'error';
  return (
    <>
      <Badge tone={did.state === 'error' ? 'bad' : hasFired ? 'good' : 'neutral'}>
        {hasFired ? 'fired' : did.state === 'error' ? 'failed' : 'did not fire'}
      </Badge>
      {did.effects > 0 && ` ${counted(did.effects, 'effect')}`}
    </>
  );
}

const TELLS: Readonly<Record<Backtest['state'], readonly [Tone, string]>> = {
  waiting: ['info', 'waits'],
  running: ['info', 'runs'],
  done: ['good', 'done'],
  refused: ['bad', 'does not load'],
  failed: ['bad', 'failed'],
  cancelled: ['neutral', 'cancelled'],
};

export function isUnderWay(state: Backtest['state']): boolean {
  return state === 'waiting' || state === 'running';
}

function BacktestView({ backtest: { state, days, events, done, problems, failure, report } }: { backtest: Backtest }) {
  const [tone, word] = TELLS[state];
  return (
    <Section
      title={days === 1 ? 'Back-test over the last day' : `Back-test over the last ${days} days`}
      aside={<Badge tone={tone}>{word}</Badge>}
    >
      {isUnderWay(state) && (
        <>
          <progress max={1} value={done} aria-label="Share of the period that was tried" />
          <p>
            {counted(events, 'event')} tried.{' '}
            <button type="submit" form={FORM} name="do" value="progress" class="button-plain">
              Look again
            </button>{' '}
            <button type="submit" form={FORM} name="do" value="cancel" class="button-plain">
              Cancel
            </button>
          </p>
        </>
      )}
      {failure !== null && <Callout tone="bad">{failure}</Callout>}
      {problems.length > 0 && <Problems problems={problems} />}
      {report && <ReportView report={report} />}
    </Section>
  );
}

function ReportView({ report: { events, decisions, rules, notes } }: { report: Report }) {
  return (
    <>
      <p>
        {counted(events, 'event')}, {counted(decisions, 'decision')}. Scheduled runs are not part of a back-test.
      </p>
      <Notes notes={notes} />
      <ListTable
        list={BACKTEST}
        caption="What the draft would have done, against what was done"
        rows={rules}
        empty="The draft has no rules, and no rule fired in the period."
      />
      {rules.map((rule) => (
        <Differences rule={rule} key={rule.rule} />
      ))}
    </>
  );
}

const DIFFERENCES: ReadonlyArray<readonly [keyof RuleOf<Report>['differences'], string]> = [
  ['firesNow', 'would fire, and did not'],
  ['firesNoMore', 'fired, and would not'],
  ['otherEffects', 'would do other things than were done'],
  ['failsNow', 'would fail, and did not'],
  ['unknown', 'unknown: the history lacks what they look up'],
];

function Differences({ rule: { rule, differences } }: { rule: RuleOf<Report> }) {
  const there = DIFFERENCES.flatMap(([name, text]) =>
    differences[name].count > 0 ? [{ ...differences[name], text }] : [],
  );
  if (there.length === 0) return null;
  return (
    <div class="stack">
      <h3>
        <code>{rule}</code>
      </h3>
      {there.map(({ count, samples, text }) => (
        <details key={text}>
          <summary>
            {count.toLocaleString('en')} {text}
          </summary>
          <ul class="samples">
            {samples.map(({ eventId, kind, repo, why }) => (
              <li key={eventId}>
                <a href={eventPath(eventId)}>{kind}</a> {repo} <span class="muted">{why}</span>{' '}
                <button type="submit" form={FORM} name="id" value={eventId} class="button-plain">
                  Try it<span class="unseen"> on {eventId}</span>
                </button>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </div>
  );
}

function FixtureView({
  fixture: { file, text, rules, notes },
  newFileUrl,
}: {
  fixture: Fixture;
  newFileUrl: string | null;
}) {
  return (
    <Section title="Fixture">
      <p>
        It tests {rules.map((rule, n) => [n > 0 && ', ', <code key={rule}>{rule}</code>])}. Read it before you share it,
        and save it beside the rules as <code>{file}</code>; <code>forgehand test</code> runs it.
      </p>
      <Notes notes={notes} />
      <p class="buttons">
        <button type="button" data-copy="fixture" hidden>
          Copy
        </button>
        <button type="button" data-save="fixture" data-name={file} hidden>
          Save as a file
        </button>
        {newFileUrl !== null && (
          <a class="button" href={newFileUrl} rel="noreferrer">
            Make the file at the forge
          </a>
        )}
      </p>
      <textarea class="code" id="fixture" readOnly rows={18} aria-label={file} value={text} />
    </Section>
  );
}

function Notes({ notes }: { notes: readonly string[] }): ComponentChildren {
  if (notes.length === 0) return null;
  return (
    <Callout tone="attention">
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </Callout>
  );
}
