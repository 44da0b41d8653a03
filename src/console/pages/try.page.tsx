import type { AnswerOf } from '../../api/operations/index.js';
import { BotError } from '../../core/errors.js';
import { EVENT_KINDS } from '../../core/event-kinds.js';
import { isJsonObject, type Json } from '../../core/json.js';
import { definePage, type Ask, type Form } from '../page.js';
import { renderToString } from 'preact-render-to-string';
import { EDIT_FIELD } from '../try/edit-fields.js';
import { FORM, isUnderWay, OutcomeView, type Outcome } from '../try/outcome.js';
import { ActForm, Callout, Empty, Section } from '../ui/components.js';

type Files = AnswerOf<'ruleFiles'>;

interface Tried {
  readonly orgs: readonly string[];
  /** Null = there is no organization of which the person sees all. */
  readonly org: string | null;
  readonly files: Files['files'];
  readonly events: ReadonlyArray<{ readonly id: string; readonly label: string }>;
  /** The file in the editor. */
  readonly path: string;
  readonly text: string;
  /** Texts of the other files that were edited, by path: they are tried together. */
  readonly edits: ReadonlyMap<string, string>;
  readonly editUrl: string | null;
  readonly newFileUrl: string | null;
  /** The event that the draft is tried on. */
  readonly event: string;
  /** The object that the draft is tried on, as `acme/app#12`, and the kind of event to make of it; '' = its opening. */
  readonly on: string;
  readonly as: string;
  readonly days: string;
  readonly outcome: Outcome | null;
  /** Why there is none. */
  readonly problem: string | null;
}

/** Draft of a file that does not exist yet. */
const NEW_FILE = 'new.yaml';
const DAYS = ['1', '7', '30'] as const;
const EVENTS_OFFERED = 10;
/** What an issue or pull request may be shown as. */
const OBJECT_KINDS = EVENT_KINDS.filter(
  (kind) => (/^(?:issue|pull_request)\./.test(kind) && !kind.endsWith('.deleted')) || kind === 'comment.created',
);
/** Several may tell one event, and many none. */
const ARRIVALS_READ = 50;
const BODY = 1024 * 1024;

/** Rule files with edits, tried before they are saved anywhere. */
export const tryPage = definePage<Tried>({
  path: '/try',
  nav: { label: 'Try it', order: 80 },
  title: () => 'Try it',
  islands: ['editor'],
  maxBodyBytes: BODY,
  load: (ask) => tried(ask, ask.query, null),
  view: (data) => <TryView data={data} />,
  act: async (ask, form) => ({ show: await tried(ask, form, form) }),
  calls: {
    language: async ({ call }) => (await call('ruleLanguage')) as unknown as Json,
    file: async ({ call }, body) => {
      const { org = '', path = '' } = formOf(body);
      const { files } = await call('ruleFiles', { org });
      const file = files.find((one) => one.path === path);
      return { text: file?.text ?? newText(org, path), editUrl: file?.editUrl ?? null };
    },
    check: async ({ call }, body) => {
      const form = formOf(body);
      return (await call('checkDraft', { org: form['org'] ?? '', files: filesOf(form) })) as unknown as Json;
    },
    outcome: async (ask, body) => {
      const form = formOf(body);
      const outcome = await outcomeOf(ask, form);
      return {
        html: outcome ? renderToString(<Shown outcome={outcome} form={form} />) : '',
        isUnderWay: outcome?.of === 'backtest' && isUnderWay(outcome.backtest.state),
      };
    },
  },
});

function formOf(body: Json): Form {
  const fields = isJsonObject(body) ? Object.entries(body) : [];
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'));
}

/** The file in the editor, and the others that were edited. */
function filesOf(form: Form): Array<{ path: string; text: string }> {
  const edits = Object.entries(form)
    .filter(([name]) => name.startsWith(EDIT_FIELD))
    .map(([name, text]) => [name.slice(EDIT_FIELD.length), text] as const);
  const openFile = form['path'] === undefined ? [] : [[form['path'], form['text'] ?? ''] as const];
  return (
    [...new Map([...edits, ...openFile])]
      .filter(([path]) => path !== '')
      // Forms send lines that end as on a typewriter.
      .map(([path, text]) => ({ path, text: text.replaceAll('\r\n', '\n') }))
  );
}

async function tried(ask: Ask, query: Form, form: Form | null): Promise<Tried> {
  const organizations = await ask.call('organizations');
  const orgs = organizations.map(({ name }) => name).filter((name) => ask.may('read', name));
  const org = orgs.find((name) => name === query['org']) ?? orgs[0] ?? null;
  if (org === null) return NOTHING;
  const [{ files, newFileUrl }, events] = await Promise.all([ask.call('ruleFiles', { org }), eventsOf(ask, org)]);
  const formTexts = new Map(form ? filesOf(form).map(({ path, text }) => [path, text]) : []);
  const wanted = form?.['open'] ?? form?.['path'] ?? query['file'];
  const file = files.find(({ path }) => path === wanted) ?? (form || wanted === NEW_FILE ? null : files[0]);
  const path = file?.path ?? form?.['open'] ?? form?.['path'] ?? NEW_FILE;
  const stored = (one: string): string => files.find((file) => file.path === one)?.text ?? newText(org, one);
  const edits = new Map([...formTexts].filter(([one, text]) => one !== path && text !== stored(one)));
  const text = formTexts.get(path) ?? stored(path);
  const base = { orgs, org, files, newFileUrl, path, text, edits, editUrl: file?.editUrl ?? null };
  const event = query['id'] ?? query['event'] ?? events[0]?.id ?? '';
  const more = { events, event, on: query['on'] ?? '', as: query['as'] ?? '', days: query['days'] ?? '7' };
  try {
    return {
      ...base,
      ...more,
      outcome: form && form['open'] === undefined ? await outcomeOf(ask, form) : null,
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof BotError)) throw error;
    return { ...base, ...more, outcome: null, problem: error.message };
  }
}

const NOTHING: Tried = {
  ...{ orgs: [], org: null, files: [], events: [], path: '', text: '', editUrl: null, newFileUrl: null },
  ...{ edits: new Map(), event: '', on: '', as: '', days: '7', outcome: null, problem: null },
};

function newText(org: string, path: string): string {
  return path === NEW_FILE ? starter(org) : '';
}

const starter = (org: string): string => `version: 1
org: ${org}
rules:
  - id: first
    on: push
    do: [{ label.ensure: { name: first, color: '#00aabb' } }]
`;

async function eventsOf({ call }: Ask, org: string): Promise<Tried['events']> {
  const { rows: arrivals } = await call('deliveries', { org, limit: ARRIVALS_READ });
  const labels = new Map(
    arrivals.flatMap(({ eventIds: [id], about }): Array<[string, string]> =>
      id !== undefined && about ? [[id, [about.event, about.repo, about.subject].filter(Boolean).join(' · ')]] : [],
    ),
  );
  return [...labels].slice(0, EVENTS_OFFERED).map(([id, label]) => ({ id, label }));
}

/** What a button asks for. */
async function outcomeOf({ call }: Ask, form: Form): Promise<Outcome | null> {
  const org = form['org'] ?? '';
  const draft = { org, files: filesOf(form) };
  const event = form['id'] ?? form['event'] ?? '';
  switch (form['rule'] === undefined && form['id'] === undefined ? form['do'] : 'event') {
    case 'event':
      return { of: 'event', trial: await call('tryDraft', { ...draft, id: event, rule: form['rule'] }) };
    case 'object': {
      const as = form['as'] ?? '';
      return {
        of: 'object',
        trial: await call('tryOnObject', {
          ...draft,
          on: form['on'] ?? '',
          as: as === '' ? undefined : as,
          alone: false,
        }),
      };
    }
    case 'fixture': {
      const { newFileUrl } = await call('ruleFiles', { org });
      return { of: 'fixture', fixture: await call('draftFixture', { ...draft, id: event }), newFileUrl };
    }
    case 'backtest': {
      const days = form['days'] === '1' ? 1 : form['days'] === '30' ? 30 : 7;
      return { of: 'backtest', backtest: await call('startBacktest', { ...draft, days }) };
    }
    case 'cancel':
      await call('cancelBacktest', { org });
      return { of: 'backtest', backtest: await call('backtest', { org }) };
    case 'progress':
      return { of: 'backtest', backtest: await call('backtest', { org }) };
    default:
      return { of: 'check', check: await call('checkDraft', draft) };
  }
}

function Shown({ outcome, form }: { outcome: Outcome; form: Form }) {
  return <OutcomeView outcome={outcome} file={form['path'] ?? ''} text={form['text'] ?? ''} />;
}

function TryView({ data }: { data: Tried }) {
  const { orgs, org, events, path, text, edits, editUrl, event, on, as, days, outcome, problem } = data;
  if (org === null)
    return (
      <Empty>
        Only owners of an organization see all of its rules and its history. Ask one of them, or try rules on your
        machine: <code>forgehand test</code> needs no bot.
      </Empty>
    );
  return (
    <>
      {orgs.length > 1 && (
        <form class="filters" method="get" action="/try" aria-label="Organization">
          <label>
            <span>Organization</span>
            <select name="org">
              {orgs.map((name) => (
                <option value={name} selected={name === org} key={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <button type="submit">Open</button>
        </form>
      )}
      <ActForm id={FORM} class="try" fields={{ org, path, ...editFields(edits) }}>
        <div class="try-draft">
          <Tabs data={data} />
          <h2 id="draft-title">{path}</h2>
          <div data-editor data-org={org} data-path={path}>
            <textarea
              class="code"
              name="text"
              rows={28}
              spellcheck={false}
              aria-labelledby="draft-title"
              value={text}
            />
          </div>
          <p class="muted small">
            All edited files are tried together. Nothing is saved here. Copy the text, or use the forge's editor, when
            it does what you want.{' '}
            <a id="edit-at-forge" href={editUrl ?? undefined} hidden={editUrl === null} rel="noreferrer">
              Edit it at the forge
            </a>
          </p>
        </div>
        <div class="try-side">
          <fieldset class="buttons">
            <legend class="unseen">What to try</legend>
            <button type="submit" name="do" value="check">
              Check
            </button>
            <span class="together">
              <label class="unseen" for="days">
                Period
              </label>
              <select name="days" id="days">
                {DAYS.map((one) => (
                  <option value={one} selected={one === days} key={one}>
                    {one === '1' ? 'last day' : `last ${one} days`}
                  </option>
                ))}
              </select>
              <button type="submit" name="do" value="backtest" class="button-main">
                Back-test
              </button>
            </span>
            <span class="together">
              <label class="unseen" for="event">
                Event
              </label>
              <select name="event" id="event">
                {!events.some(({ id }) => id === event) && event !== '' && (
                  <option value={event} selected>
                    event {event.slice(-8)}
                  </option>
                )}
                {events.map(({ id, label }) => (
                  <option value={id} selected={id === event} key={id}>
                    {label}
                  </option>
                ))}
              </select>
              <button type="submit" name="do" value="event">
                Try on this event
              </button>
              <button type="submit" name="do" value="fixture">
                Make a fixture
              </button>
            </span>
            <span class="together">
              <label class="unseen" for="on">
                Issue or pull request
              </label>
              <input type="text" name="on" id="on" value={on} placeholder={`${org}/app#12`} spellcheck={false} />
              <label class="unseen" for="as">
                Kind of event
              </label>
              <select name="as" id="as">
                <option value="" selected={as === ''}>
                  as opened
                </option>
                {OBJECT_KINDS.map((kind) => (
                  <option value={kind} selected={kind === as} key={kind}>
                    as {kind}
                  </option>
                ))}
              </select>
              <button type="submit" name="do" value="object">
                Try on this object
              </button>
            </span>
          </fieldset>
          <div id="outcome" aria-live="polite">
            {problem !== null && <Callout tone="bad">{problem}</Callout>}
            {outcome ? (
              <OutcomeView outcome={outcome} file={path} text={text} />
            ) : (
              problem === null && (
                <Section title="What it would do">
                  <Empty>
                    Back-test the draft on the events of the last days, or try it on one of them, step by step. The bot
                    compares with what was done.
                  </Empty>
                </Section>
              )
            )}
          </div>
        </div>
      </ActForm>
    </>
  );
}

function editFields(edits: Tried['edits']): Record<string, string> {
  return Object.fromEntries([...edits].map(([path, text]) => [EDIT_FIELD + path, text]));
}

/** The files of the organization. Without JavaScript a tab sends the form, and the edits with it. */
function Tabs({ data: { files, path, edits } }: { data: Tried }) {
  const titles = new Map(files.map(({ path: one, isShared }) => [one, isShared ? `${one} (shared)` : one]));
  const paths = new Set([...titles.keys(), path, ...edits.keys(), NEW_FILE]);
  return (
    <fieldset class="tabs">
      <legend class="unseen">Files</legend>
      {[...paths].map((one) => (
        <button type="submit" name="open" value={one} aria-current={one === path ? 'true' : undefined} key={one}>
          {titles.get(one) ?? (one === NEW_FILE ? 'a new file' : one)}
          <span data-mark>{edits.has(one) ? ', edited' : ''}</span>
        </button>
      ))}
    </fieldset>
  );
}
