import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { didYouMean } from '../core/did-you-mean.js';
import { UserError } from '../core/errors.js';
import type { ForgeEvent } from '../core/event.js';
import { subjectOf } from '../core/event-subject.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { JournalStore } from '../pipeline/journal-store.port.js';
import { lacksTrace } from '../pipeline/decide/left-out-trace.js';
import type { BotSelf } from '../pipeline/rule-engine.port.js';
import { openReads } from '../pipeline/decide/answer-lookups.js';
import { PureRuleEngine } from '../policies/pure-rule-engine.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { Encryptor } from '../core/encryptor.js';
import { BotSelves } from './bot-self.js';
import { RulesBehind } from './rules-behind.js';
import { stringifyJson } from '../core/json.js';
import { withReasonText, textOf, type Reason } from '../core/reason.js';
import { runReason } from '../core/run-reasons.js';
import type { Intent, Run } from '../core/run.js';
import { seesWholeOrg, type Visibility } from '../core/visibility.js';
import type { ExpressionEngine } from '../rules/language/expression-engine.js';
import type { CompiledPolicy, CompiledRule, Revision } from '../rules/language/revision.js';
import { sayWaiting, showWaiting, type Waiting } from '../core/waiting.js';
import { type WaitingFilter, WaitingStore } from '../pipeline/waiting-store.port.js';
import { whatAbout } from './about-run.js';
import { factsOfEvent, type PureRules } from './decide-again.js';
import { explainForEvent } from './explain-for-event.js';
import { explainLookups, explainRun, notesOnSeal } from './explain-run.js';
import type {
  DecisionExplanation,
  EventExplanation,
  EventFacts,
  Explanation,
  ExplainQuery,
  Place,
  RevisionFacts,
  RunExplanation,
} from './explanation.js';
import { rankRules, type PolicyVerdict } from './rank-rules.js';
import { answersOf } from './recorded-answers.js';
import { withRules, type RuleBehind } from './rule-behind.js';
import { orgOf } from '../rules/revisions/shadow-org.js';
import type { StoredRevision } from '../rules/revisions/revision-store.port.js';
import { StoredRevisions, factsOf, lineAt } from './revisions.js';
import { sourceOf } from './source-text.js';
import type { OpenedRevision } from './revisions.js';

/** Of the effect that is asked about, where it waits; else of all. */
function withId(waiting: readonly Waiting[], id: string): readonly Waiting[] {
  const own = waiting.filter(({ ids }) => ids.includes(id));
  return own.length > 0 ? own : waiting;
}

/** The rule would fire for the event, and has no run. */
function whyNoRun(waiting: readonly Waiting[]): string {
  const undecided = waiting.find(({ code }) => code.startsWith('event.') || code.startsWith('work.'));
  if (!undecided) return 'no run of it is stored: the event was decided before this rule was there';
  return `the event is not decided yet: ${sayWaiting(showWaiting(undecided))}, since ${undecided.since.toISOString()}`;
}

/** Who asks, and how much is told. */
type Viewer = Required<Pick<ExplainQuery, 'visibility' | 'opens' | 'full'>>;

/** Runs of one event that are looked at; a rule has one, and one more per replay that wanted nothing. */
const MAX_RUNS = 1000;

/** Says why: from stored runs, events, answers and revisions alone, without a forge. */
@Injectable()
export class Explainer {
  constructor(
    @Inject(JournalStore)
    private readonly journal: Pick<
      JournalStore,
      'run' | 'intent' | 'runs' | 'intentsOfRun' | 'attemptsOfIntent' | 'decidedBy'
    >,
    @Inject(InboxStore) private readonly inbox: Pick<InboxStore, 'event' | 'arrivalsOfEvent' | 'eventsOfArrival'>,
    private readonly revisions: StoredRevisions,
    @Inject(CelEngine) private readonly engine: ExpressionEngine,
    @Inject(PureRuleEngine) private readonly rules: Pick<PureRules, 'candidates' | 'find' | 'evaluate'>,
    @Inject(RulesBehind) private readonly ruleBehind: RuleBehind,
    private readonly encryptor: Encryptor,
    @Inject(Clock) private readonly clock: Pick<Clock, 'now'>,
    @Inject(WaitingStore) private readonly waits: Pick<WaitingStore, 'waiting'>,
    @Inject(BotSelves) private readonly self: Pick<BotSelves, 'of'>,
  ) {}

  /** @throws UserError when nothing of this id is stored */
  async explain(query: ExplainQuery): Promise<Explanation> {
    const explanation = await this.find(query);
    const { visibility = null } = query;
    const waiting =
      explanation.about === 'run'
        ? await this.waiting({ runIds: [explanation.run.id], visibility })
        : await this.waitingOfEvent(explanation.event.id, visibility);
    const mine =
      explanation.about === 'run' && explanation.intentId !== null ? withId(waiting, explanation.intentId) : waiting;
    return { ...explanation, waiting: mine.map(showWaiting) };
  }

  private async waiting(filter: Omit<WaitingFilter, 'limit'>): Promise<Waiting[]> {
    return this.waits.waiting({ ...filter, limit: MAX_RUNS });
  }

  private async waitingOfEvent(eventId: string, visibility: Visibility): Promise<Waiting[]> {
    const runs = await this.journal.runs({ eventId, visibility, limit: MAX_RUNS });
    return this.waiting({ eventId, runIds: runs.map(({ id }) => id), visibility });
  }

  private async find({ id, rule, revision, ...options }: ExplainQuery): Promise<Explanation> {
    const viewer: Viewer = { visibility: null, opens: () => false, full: false, ...options };
    const run = rule === undefined ? await this.runOf(id, viewer) : null;
    if (run) return this.explainRun(run, null, viewer);
    const intent = rule === undefined ? await this.journal.intent(id) : null;
    const runOfIntent = intent && (await this.runOf(intent.runId, viewer));
    if (intent && runOfIntent) return this.explainRun(runOfIntent, intent, viewer);
    const event = await this.eventOf(id);
    if (!event)
      throw new UserError(
        'NOT_FOUND',
        `there is no ${rule === undefined ? 'run, intent, event or arrival' : 'event or arrival'} ${id}`,
      );
    return rule === undefined
      ? this.explainEvent(event, revision, viewer)
      : this.explainDecision(event, rule, revision, viewer);
  }

  private async runOf(id: string, viewer: Viewer): Promise<Run | null> {
    const run = await this.journal.run(id);
    return run && this.openFor(viewer, run);
  }

  private openFor({ opens }: Viewer, run: Run): Run {
    return opens(run.org) ? openReads(run, this.encryptor) : run;
  }

  private async explainRun(run: Run, intent: Intent | null, { visibility, full }: Viewer): Promise<RunExplanation> {
    const stored = await this.revisions.stored(run.revisionId);
    const intents = await this.journal.intentsOfRun(run.id, visibility);
    const event = run.cause.kind === 'event' ? await this.inbox.event(run.cause.eventId) : null;
    const active = run.cause.kind === 'tick' ? await this.revisions.active(run.org) : null;
    const revisionOfNow = active?.revision ? { revision: active.revision } : null;
    const files = stored && seesWholeOrg(visibility, run.org) ? stored.files : null;
    const ofPolicy = run.kind === 'policy' && files ? await this.placeIn(run.revisionId, run.rule) : null;
    const tracedRun = event ? await this.withTrace(run, event) : run;
    return explainRun({
      run: tracedRun,
      intents: await Promise.all(
        intents.map(async (one) => ({ intent: one, attempts: await this.journal.attemptsOfIntent(one.id) })),
      ),
      event: event && (await this.factsOfEvent(event, visibility)),
      context: whatAbout({ run, event, intents, active: revisionOfNow, now: this.clock.now() }),
      revision: stored ? factsFor(visibility, stored) : { id: run.revisionId, state: 'gone', loadedAt: null },
      lineAt: (place) => lineAt(stored?.files ?? null, place),
      source: (ruleFile) => {
        const place = ruleFile ?? ofPolicy;
        return place && sourceOf(files, place);
      },
      intentId: intent?.id ?? null,
      isFull: full,
      notes: [
        ...(run.cause.kind === 'event' && !event ? [`its event ${run.cause.eventId} is not kept any more`] : []),
        ...(event && lacksTrace(tracedRun) ? [NOT_DERIVED] : []),
      ],
    });
  }

  /**
   * A run that wanted nothing keeps no trace: its rule is evaluated again, by the revision, for the account of the bot and at the time of the run. What
   * comes out otherwise than it did then is no explanation, and the trace stays null.
   */
  async withTrace(run: Run, event: ForgeEvent): Promise<Run> {
    if (!lacksTrace(run)) return run;
    const revision = await this.revisions.compiled(run.org, run.revisionId);
    const rule = revision && this.rules.find(revision, run.rule);
    if (!revision || rule?.kind !== 'rule') return run;
    const facts = factsOfEvent(event, await this.botOf(event), run.decidedAt);
    const again = this.rules.evaluate(revision, rule, facts, {});
    if (again.kind !== 'decided' || again.report.verdict !== 'not-fired') return run;
    const { reason: because, trace } = again.report;
    return isEqual(runReason('run.not-fired', { because }), run.reason) ? { ...run, trace } : run;
  }

  private async placeIn(revisionId: string, id: string): Promise<Place | null> {
    const revision = (await this.revisions.byId(revisionId))?.revision ?? null;
    return revision && (placeOf(revision, id) ?? null);
  }

  /** Every rule of the active revision, or of the one that is named. */
  private async explainEvent(event: ForgeEvent, wanted: string | undefined, viewer: Viewer): Promise<EventExplanation> {
    const { visibility } = viewer;
    const opened = await this.openRevision(event.org, wanted ?? 'active');
    const facts = await this.factsOfEvent(event, visibility);
    if (!opened?.revision)
      return {
        about: 'event',
        event: facts,
        revision: opened && factsFor(visibility, opened.stored),
        rules: [],
        notes: [whyUnreadable(opened, event.org)],
      };
    const { revision } = opened;
    const bot = await this.botOf(event);
    const runs = new Map((await this.runsOf(event, viewer)).reverse().map((run) => [run.rule, run]));
    const candidates = this.candidatesOf(revision, event, bot);
    const policyVerdict = (policy: CompiledPolicy): PolicyVerdict => verdictOfPolicy(policy, event, candidates, runs);
    const ranked = rankRules({ event, revision, bot, now: event.storedAt }, runs, this.engine, policyVerdict);
    const rules = ranked.map((line) => ({ ...line, place: line.place && lineAt(opened.stored.files, line.place) }));
    return {
      about: 'event',
      event: facts,
      revision: factsFor(visibility, opened.stored),
      rules,
      notes: notesOnBot(event, bot),
    };
  }

  private async explainDecision(
    event: ForgeEvent,
    id: string,
    wanted: string | undefined,
    viewer: Viewer,
  ): Promise<DecisionExplanation> {
    const { visibility, full } = viewer;
    const runs = await this.runsOf(event, viewer, id);
    const [run = null] = runs;
    const { opened, notes: onRevision } = await this.revisionFor(event, id, run, wanted);
    const notes = [...onRevision, ...(run ? notesOnSeal(run) : [])];
    const revision = opened?.revision ?? null;
    const base = {
      ...NOTHING_FOUND,
      rule: id,
      event: await this.factsOfEvent(event, visibility),
      revision: opened && factsFor(visibility, opened.stored),
      runs: runs.map(({ id: runId, state, reason }) => withReasonText({ id: runId, state, reason })),
      lookups: run ? explainLookups(run, full) : [],
      notes,
    };
    const files = opened && seesWholeOrg(visibility, event.org) ? opened.stored.files : null;
    if (!opened || !revision) return { ...base, verdict: 'unknown', reason: whyUnreadable(opened, event.org) };
    const bot = await this.botOf(event);
    const rule = findRule(revision, id);
    if (rule) {
      const facts = { event, revision, answers: run ? answersOf(run) : {}, bot, now: run?.decidedAt ?? event.storedAt };
      const { look, away: _away, unknown: _unknown, ...explanation } = explainForEvent(rule, facts, this.engine);
      const undecided =
        explanation.verdict === 'fired' && !run ? [whyNoRun(await this.waitingOfEvent(event.id, visibility))] : [];
      return {
        ...base,
        ...explanation,
        source: sourceOf(files, rule.position),
        place: rule.position,
        look: look && lineAt(opened.stored.files, look),
        notes: [...notes, ...notesOnBot(event, bot), ...undecided],
      };
    }
    const policy = revision.policies.find((one) => one.id === id);
    if (!policy)
      return {
        ...base,
        verdict: 'absent',
        reason: noSuchRule(id, revision),
        notes: [...notes, ...namesOf(revision)],
      };
    return {
      ...base,
      source: sourceOf(files, policy.position),
      ...verdictOfPolicy(policy, event, this.candidatesOf(revision, event, bot), new Map(run ? [[id, run]] : [])),
    };
  }

  private candidatesOf(revision: Revision, event: ForgeEvent, bot: BotSelf | null): ReadonlySet<string> {
    return new Set(this.rules.candidates(revision, event, bot).map(({ id }) => id));
  }

  /** Who the bot was when the event was decided; where that is not kept, who it is now. */
  private async botOf({ id, forge, org }: ForgeEvent): Promise<BotSelf | null> {
    return (await this.journal.decidedBy(id))?.bot ?? this.self.of(forge, org);
  }

  /** Of its run; else the one that decided the event; where that is not kept, the one that was active when it was stored; else that of now. */
  private async revisionFor(
    event: ForgeEvent,
    rule: string,
    run: Run | null,
    wanted: string | undefined,
  ): Promise<{ opened: OpenedRevision | null; notes: string[] }> {
    if (wanted !== undefined) return { opened: await this.openRevision(event.org, wanted), notes: [] };
    if (run) return { opened: await this.revisions.byId(run.revisionId), notes: [] };
    const active = await this.revisions.active(event.org);
    const by = await this.journal.decidedBy(event.id);
    const isOfNow = by ? by.revisionId === active?.stored.id : active && active.stored.loadedAt <= event.storedAt;
    if (!active || isOfNow) return { opened: active, notes: [] };
    const then = by ? await this.revisions.byId(by.revisionId) : await this.revisions.before(event.org, event.storedAt);
    if (!then)
      return {
        opened: active,
        notes: ['no revision was loaded yet when the event was stored; these are the rules of now'],
      };
    const done = by ? 'decided' : 'stored';
    const isThere = then.revision && [...then.revision.rules, ...then.revision.policies].some(({ id }) => id === rule);
    if (!isThere)
      return { opened: active, notes: [`the rule was not there when the event was ${done}; this is the rule of now`] };
    return {
      opened: then,
      notes: [`these are the rules of then, when the event was ${done}; --revision active asks those of now`],
    };
  }

  private async openRevision(org: string, wanted: string): Promise<OpenedRevision | null> {
    if (wanted === 'active') return this.revisions.active(org);
    const opened = await this.revisions.byId(wanted);
    if (!opened || opened.stored.org !== org) throw new UserError('NOT_FOUND', `${org} has no revision ${wanted}`);
    return opened;
  }

  private async eventOf(id: string): Promise<ForgeEvent | null> {
    let event = await this.inbox.event(id);
    const [first] = event ? [] : await this.inbox.eventsOfArrival(id);
    if (first !== undefined) event = await this.inbox.event(first);
    return event && ((await withRules([event], this.ruleBehind))[0] ?? null);
  }

  private async runsOf(event: ForgeEvent, viewer: Viewer, rule?: string): Promise<Run[]> {
    const runs = await this.journal.runs({ eventId: event.id, rule, visibility: viewer.visibility, limit: MAX_RUNS });
    return runs.map((run) => this.openFor(viewer, run));
  }

  private async factsOfEvent(event: ForgeEvent, visibility: Visibility): Promise<EventFacts> {
    const { id, kind, org, repo, actor, source, factAt, storedAt } = event;
    const arrivals = await this.inbox.arrivalsOfEvent(id, visibility);
    return {
      id,
      kind,
      org,
      repo: repo?.full_name ?? null,
      subject: subjectOf(event),
      actor: actor?.login ?? null,
      source,
      factAt,
      storedAt,
      arrivals,
    };
  }
}

/** Which repository the rules lie in, and who wrote them, is for whoever sees all of the organization. */
function factsFor(visibility: Visibility, stored: StoredRevision): RevisionFacts {
  const { origin, ...facts } = factsOf(stored);
  return origin && seesWholeOrg(visibility, orgOf(stored.org)) ? { ...facts, origin } : facts;
}

/** As they are stored. */
function isEqual(one: Reason, other: Reason): boolean {
  return one.code === other.code && stringifyJson(one.params) === stringifyJson(other.params);
}

const NOT_DERIVED =
  'its conditions cannot be shown: its revision does not load any more, or the bot has another account now';

const NOTHING_FOUND = {
  about: 'decision',
  place: null,
  look: null,
  source: null,
  filters: [],
  conditions: [],
  steps: [],
} as const;

function placeOf({ rules, policies }: Revision, id: string): Place | undefined {
  return [...rules, ...policies].find((one) => one.id === id)?.position;
}

function findRule({ rules }: Revision, id: string): CompiledRule | null {
  return rules.find((rule) => rule.id === id) ?? null;
}

function whyUnreadable(opened: OpenedRevision | null, org: string): string {
  return opened
    ? `revision ${opened.stored.id} does not load any more: ${opened.problem}`
    : `no good revision of the rules of ${org} was ever loaded`;
}

function noSuchRule(id: string, { rules, policies }: Revision): string {
  const suggestion = didYouMean(
    id,
    [...rules, ...policies].map((one) => one.id),
  );
  return `there is no rule "${id}" in this revision${suggestion === null ? '' : ` (did you mean ${suggestion}?)`}`;
}

function namesOf({ rules, policies }: Revision): string[] {
  const ids = [...rules, ...policies].map(({ id }) => id);
  return ids.length === 0 ? [] : [`it has: ${ids.slice(0, 20).join(', ')}${ids.length > 20 ? ', …' : ''}`];
}

/** Without a forge, and without a login in the config, an act of the bot's own looks like anybody's. */
function notesOnBot({ actor, forge }: ForgeEvent, bot: BotSelf | null): string[] {
  return bot || !actor
    ? []
    : [
        `who the bot is on ${forge} is not known here: if ${actor.login} is the bot itself, rules without actor: bot take no notice`,
      ];
}

/** What a policy wants depends on what the forge held; only its run knows. */
function verdictOfPolicy(
  policy: CompiledPolicy,
  event: ForgeEvent,
  candidates: ReadonlySet<string>,
  runs: ReadonlyMap<string, Run>,
): PolicyVerdict {
  const run = runs.get(policy.id);
  const place = policy.position;
  if (run)
    return {
      verdict: run.state === 'not-fired' || run.state === 'error' ? run.state : 'fired',
      reason: textOf(run.reason),
      place,
    };
  if (candidates.has(policy.id))
    return { verdict: 'unknown', reason: 'it compares with what the forge held, and no run of it is stored', place };
  return {
    verdict: 'rejected',
    reason: `${event.kind}${event.repo ? ` of ${event.repo.full_name}` : ''} is no cause for this policy`,
    place,
  };
}
