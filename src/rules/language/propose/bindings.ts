import type { ForgeEvent } from '../../../core/event.js';
import { EVENT_PLACE, LEARNED, unknownFields } from '../../../core/event-knowledge.js';
import { isJsonObject } from '../../../core/json.js';
import type { JsonObject } from '../../../core/json.js';
import type { Budget, ExpressionEngine } from '../expression-engine.js';
import { commandOf } from '../match/where-filter.js';
import { withUnknown } from '../expressions/unknown.js';
import type { LookupAnswers } from '../revision.js';
import { FACTS, withFacts } from './asked-facts.js';
import type { EvaluationInput } from './input.js';

/** Work one decision may do in all its expressions together; about 50 ms. */
export const STEPS_PER_DECISION = 30_000;

/** Variables of a decision, as plain data (for the trace) and as the engine holds them. */
export class Bindings {
  #raw: Readonly<Record<string, unknown>>;
  readonly budget: Budget = { remaining: STEPS_PER_DECISION };
  /** Whether the decision is to say why. */
  readonly isTraced: boolean;
  #bound: Readonly<Record<string, unknown>>;
  /** Of the budget, what is left after the conditions that were evaluated. */
  #settled = STEPS_PER_DECISION;

  constructor(
    private readonly input: EvaluationInput,
    scope: Scope,
    readonly engine: ExpressionEngine,
  ) {
    this.isTraced = input.untraced !== true;
    const repo = input.repo === undefined ? (input.event?.repo ?? null) : input.repo;
    const facts = withFacts(input.bot, input.config ?? NOTHING, input.now, input.lookups);
    this.#raw = {
      event: input.event && viewOf(input.event, input.awaits === true, input.org),
      repo:
        input.event && repo && repo === input.event.repo
          ? repositoryOf(input.event, input.awaits === true, input.org)
          : repo,
      org: orgOf(input.org),
      now: input.now,
      vars: scope.vars,
      lookups: valuesOf(input.lookups),
      ...facts,
      item: null,
      secrets: null,
    };
    const bound: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(this.#raw))
      bound[name] = name === 'lookups' ? bindEach(engine, value as object) : bindOnce(engine, value);
    // An engine may then keep what it makes of them, for all the expressions of the decision.
    this.#bound = Object.freeze(bound);
  }

  /** Variables as plain data. */
  get raw(): Readonly<Record<string, unknown>> {
    return this.#raw;
  }

  /** What was spent until now stays spent, whatever is learned. */
  settle(): void {
    this.#settled = this.budget.remaining;
  }

  /** The decision goes on with one answer more: what it took to ask for it is not on its budget. */
  learn(answers: LookupAnswers): void {
    this.budget.remaining = this.#settled;
    const { bot, config, now } = this.input;
    const changed = {
      lookups: valuesOf(answers),
      ...(Object.hasOwn(answers, FACTS) ? withFacts(bot, config ?? NOTHING, now, answers) : {}),
    };
    const bound: Record<string, unknown> = { ...this.#bound };
    for (const [name, value] of Object.entries(changed))
      bound[name] = name === 'lookups' ? bindEach(this.engine, value) : bindOnce(this.engine, value);
    this.#raw = { ...this.#raw, ...changed };
    this.#bound = Object.freeze(bound);
  }

  /** For one item of a `for_each`. */
  with(item: unknown): Readonly<Record<string, unknown>> {
    return Object.freeze({ ...this.#bound, item: this.engine.bind(item) });
  }

  get all(): Readonly<Record<string, unknown>> {
    return this.#bound;
  }
}

/** What all decisions about one rule or policy share. */
interface Scope {
  readonly vars: JsonObject;
}

const NOTHING = {};
/** One for each organization of the bot, so that it is converted once. */
const orgs = new Map<string, { readonly name: string }>();

function orgOf(name: string): { readonly name: string } {
  let org = orgs.get(name);
  if (!org) orgs.set(name, (org = { name }));
  return org;
}

type View = Record<string, unknown>;
interface Views {
  readonly event: View;
  readonly repo: object | null;
}
/** By whether what is unknown may become known. */
const views = { open: new WeakMap<ForgeEvent, Views>(), closed: new WeakMap<ForgeEvent, Views>() };

/** `event` as rules see it: the data of its kind, and what every event has. Made once per event, so that it is converted once. */
export function viewOf(event: ForgeEvent, isOpen = false, org = event.org): View {
  return viewsOf(event, isOpen, org).event;
}

function repositoryOf(event: ForgeEvent, isOpen: boolean, org: string): object | null {
  return viewsOf(event, isOpen, org).repo;
}

function viewsOf(event: ForgeEvent, isOpen: boolean, org: string): Views {
  const cache = isOpen ? views.open : views.closed;
  let made = cache.get(event);
  if (!made) cache.set(event, (made = makeViews(event, isOpen, org)));
  return made;
}

/** @param org the name of the organization: events know its key */
function makeViews(event: ForgeEvent, isOpen: boolean, org: string): Views {
  const { [LEARNED]: _, ...data } = event.data;
  const view: View = {
    ...data,
    ...commandIn(event),
    ...labelsIn(event),
    ...authorIn(event),
    id: event.id,
    kind: event.kind,
    source: event.source,
    org,
    actor: event.actor,
    repo: event.repo,
    fact_at: event.factAt,
    stored_at: event.storedAt,
  };
  for (const [place, fields] of unknownFields(event)) {
    const mark = (object: object, at: string): object => {
      const paths = [...fields]
        .filter((field) => !Object.hasOwn(object, field))
        .map((field) => [field, `${at}.${field}`]);
      return withUnknown(object, { paths: new Map(paths as Array<[string, string]>), isOpen });
    };
    if (place === EVENT_PLACE) {
      if (fields.has('actor')) delete view.actor;
      for (const field of fields) if (field === 'files_complete') delete view[field];
      mark(view, 'event');
    } else if (place === 'files') view.files = mark({}, 'event.files');
    else markIn(view, place.split('.'), (object) => mark(object, `event.${place}`));
  }
  return { event: view, repo: view.repo as object | null };
}

/** Marks a copy of the object at the end of a way, `commits[]` standing for each of a list; what is on the way is copied as well. */
function markIn(holder: View, [part = '', ...rest]: readonly string[], mark: (object: object) => object): void {
  const name = part.replace(/\[\]$/, '');
  const copy = (value: unknown): object => {
    const own = { ...(value as View) };
    if (rest.length === 0) return mark(own);
    markIn(own, rest, mark);
    return own;
  };
  const value = holder[name];
  holder[name] = name === part ? copy(value) : (Array.isArray(value) ? value : []).filter(isObject).map(copy);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** `event.command`, where the comment is one. */
function commandIn(event: ForgeEvent): { command?: object } {
  const command = commandOf(event);
  return command ? { command } : {};
}

/** `event.labels`: the names alone, of the pull request or issue that the event is about. Not told is not empty. */
function labelsIn({ data }: ForgeEvent): { labels?: string[] } {
  for (const subject of [data['pull_request'], data['issue']]) {
    const labels = isJsonObject(subject) ? subject['labels'] : undefined;
    if (labels === null) return { labels: [] };
    if (Array.isArray(labels))
      return { labels: labels.flatMap((one) => (isJsonObject(one) && typeof one.name === 'string' ? [one.name] : [])) };
  }
  return {};
}

/** `event.author`: who opened the pull request or issue that the event is about; null where the account is gone. */
function authorIn({ data }: ForgeEvent): { author?: string | null } {
  for (const subject of [data['pull_request'], data['issue']]) {
    const user = isJsonObject(subject) ? subject['user'] : undefined;
    if (user === null) return { author: null };
    if (isJsonObject(user) && typeof user['login'] === 'string') return { author: user['login'] };
  }
  return {};
}

const conversions = new WeakMap<ExpressionEngine, WeakMap<object, unknown>>();

function bindOnce(engine: ExpressionEngine, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return engine.bind(value);
  let ofEngine = conversions.get(engine);
  if (!ofEngine) conversions.set(engine, (ofEngine = new WeakMap()));
  if (!ofEngine.has(value)) ofEngine.set(value, engine.bind(value));
  return ofEngine.get(value);
}

/** Answers are as large as events and come one by one: each is converted once, the map around them each time. */
function bindEach(engine: ExpressionEngine, answers: object): unknown {
  return engine.bind(
    Object.fromEntries(Object.entries(answers).map(([name, value]) => [name, bindOnce(engine, value)])),
  );
}

/** What is missing is null to a rule; a lookup without an answer is absent. */
function valuesOf(answers: LookupAnswers): Record<string, unknown> {
  const values = Object.entries(answers).filter(([name, answer]) => name !== FACTS && !('failed' in answer));
  return Object.fromEntries(values.map(([name, answer]) => [name, 'value' in answer ? answer.value : null]));
}
