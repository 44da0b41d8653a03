import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '../core/clock.js';
import type { EventSource, ForgeEvent } from '../core/event.js';
import { madeAtMs } from '../core/ids.js';
import { textOf } from '../core/reason.js';
import type { Intent, Run } from '../core/run.js';
import { count, fields, maybeText, maybeTime, mode, text, time, word, type Shape } from '../core/schema.js';
import { seesEvent, seesRepo, seesWholeOrg, type Visibility } from '../core/visibility.js';
import { RUN_STATES } from '../core/states.js';
import type { ArrivalState } from '../core/arrival.js';
import { type ArrivalSummary, InboxStore } from '../pipeline/inbox-store.port.js';
import { JournalStore } from '../pipeline/journal-store.port.js';
import { OwnActs } from './own-acts.js';
import { ActiveRevisions } from '../rules/revisions/active-revisions.port.js';
import { about, aboutEvent, aboutRun, countEffects, effectCount, whatAbout } from './about-run.js';
import { type CauseFilter, type CauseRef, type SourceOfEvent, ActivityStore } from './activity-store.port.js';
import { eventsById, intentsByRun } from './read-work.js';

/** Arrivals of one event that are shown; a hook that tells it again and again counts as repeats. */
const SOURCES_SHOWN = 10;
/** Runs of the causes of one page. */
const RUNS_OF_PAGE = 5_000;
/** The newest causes that are looked through for acts of the bot that rules did not take, and how many of those are shown. */
const OWN_ACTS_LOOKED_AT = 100;
const NOT_ASKED_SHOWN = 5;
/** Windows of the store that one page looks at before it says that the older ones are behind the next. */
const LOOKS = 4;

const activityRun = z.object({
  ...fields('id rule reason code', text),
  kind: z.enum(['rule', 'policy']),
  state: z.enum(RUN_STATES),
  mode,
  hasRead: z.boolean().describe('It asked the forge for something, beside what its event says.'),
  effects: z.array(
    effectCount.extend({
      repoId: maybeText.describe('Number of the repository that it changes; null = something else.'),
    }),
  ),
});

/** One line of the timeline: what started something, the rules that decided about it, and what became of what they wanted. */
export const activityRow = about.extend({
  ...fields('id org', text),
  what: z
    .enum(['event', 'arrival', 'run'])
    .describe('`arrival`: a delivery or entry that made no event; `run`: a schedule or a person caused it.'),
  repoId: maybeText.describe('Number of the repository; null = it concerns the organization, or made no event.'),
  at: time,
  schedule: aboutRun.shape.schedule,
  sources: z
    .array(z.object({ id: text, source: word<EventSource>(), hook: maybeText, at: time, repeats: count }))
    .describe('Arrivals that reported it, oldest first.'),
  state: z.enum(['waits', 'decided', 'quarantined']).describe('`waits`: the bot has not decided about it yet.'),
  reason: maybeText.describe('Of an arrival: why it made no event.'),
  code: maybeText,
  notAsked: z
    .array(text)
    .describe(
      "Rules that would take the event from anybody else: it is the bot's own act, and they do not take those.",
    ),
  runs: z.array(activityRun).describe('Rules and policies that decided about it; others did not match it.'),
});
export type ActivityRow = Shape<typeof activityRow>;

export const activityPage = z.object({
  rows: z.array(activityRow),
  notAsked: z
    .array(activityRow)
    .describe(
      "The newest of the bot's own acts that rules would take from anybody else. On the first page, where it leaves out what changed nothing or is about one rule.",
    ),
  next: maybeText.describe('`before` of the next page; null = there is nothing older.'),
  lookedBackTo: maybeTime.describe(
    'A page without enough rows looked back to this moment, not further; null = it did not have to stop.',
  ),
});
type ActivityPage = Shape<typeof activityPage>;

/** What happened, as a timeline. */
@Injectable()
export class Activity {
  constructor(
    private readonly store: ActivityStore,
    @Inject(InboxStore) private readonly inbox: Pick<InboxStore, 'event'>,
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'runs' | 'workOfRuns'>,
    @Inject(ActiveRevisions) private readonly keeper: Pick<ActiveRevisions, 'active'>,
    @Inject(OwnActs) private readonly ownActs: Pick<OwnActs, 'notAsked'>,
    @Inject(Clock) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  async page(filter: CauseFilter): Promise<ActivityPage> {
    const causes: CauseRef[] = [];
    let before = filter.before;
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const page = await this.store.causes({ ...filter, before, limit: filter.limit - causes.length });
      causes.push(...page.causes);
      before = page.next ?? undefined;
      if (page.next === null || causes.length >= filter.limit) break;
    }
    const next = before ?? null;
    const isShort = next !== null && causes.length < filter.limit;
    const madeAt = isShort ? madeAtMs(next) : null;
    const rows = (await this.rowsOf(causes, filter.visibility)).filter((row) => isExactly(row, filter));
    const notAsked = filter.before === undefined ? await this.notAsked(filter) : [];
    return { rows, notAsked, next, lookedBackTo: madeAt === null ? null : new Date(madeAt) };
  }

  /** What a page of changes, or of the runs of one rule, leaves out without a word. */
  private async notAsked({ changed, rule, orgs, repo, visibility }: CauseFilter): Promise<ActivityRow[]> {
    if (changed !== true && rule === undefined) return [];
    const { causes } = await this.store.causes({ orgs, repo, visibility, limit: OWN_ACTS_LOOKED_AT });
    const events = causes.filter(({ what }) => what === 'event');
    const rows = await this.rowsOf(events, visibility);
    return rows
      .filter(({ notAsked }) => (rule === undefined ? notAsked.length > 0 : notAsked.includes(rule)))
      .slice(0, NOT_ASKED_SHOWN);
  }

  /** The newest rows, unless nothing has changed since this mark was given. */
  async news(since: string | undefined, limit: number): Promise<{ mark: string; rows: readonly ActivityRow[] }> {
    const mark = await this.store.mark();
    if (mark === since) return { mark, rows: [] };
    return { mark, rows: (await this.page({ visibility: null, limit })).rows };
  }

  private async rowsOf(causes: readonly CauseRef[], visibility: Visibility): Promise<ActivityRow[]> {
    const { store, inbox, journal } = this;
    const idsOf = (kind: CauseRef['what']): string[] => causes.flatMap(({ what, id }) => (what === kind ? [id] : []));
    const [eventIds, arrivalIds, runIds] = [idsOf('event'), idsOf('arrival'), idsOf('run')];
    const [events, sources, arrivals, decided, alone] = await Promise.all([
      eventsById(inbox, eventIds),
      store.sources(eventIds, visibility, SOURCES_SHOWN),
      store.arrivals(arrivalIds, visibility),
      eventIds.length === 0 ? [] : journal.runs({ eventIds, shadow: false, visibility, limit: RUNS_OF_PAGE }),
      runIds.length === 0 ? [] : journal.runs({ ids: runIds, visibility, limit: runIds.length }),
    ]);
    const ofEvents = decided.toReversed();
    const intentsOf = await intentsByRun(journal, [...ofEvents, ...alone], visibility);
    const shownOf = (run: Run): ActivityRow['runs'][number] => shownRun(run, intentsOf.get(run.id) ?? []);

    const rows = new Map<string, ActivityRow>();
    for (const arrival of arrivals) rows.set(arrival.id, rowOfArrival(arrival));
    for (const event of events.values()) {
      const ofEvent = sources.find(({ eventId }) => eventId === event.id);
      const own = ofEvents.filter(({ cause }) => cause.kind === 'event' && cause.eventId === event.id);
      const isDecided = ofEvent?.isDecided ?? true;
      const notAsked = isDecided ? await this.ownActs.notAsked(event) : [];
      rows.set(event.id, rowOfEvent(event, ofEvent?.arrivals ?? [], { isDecided, notAsked, runs: own.map(shownOf) }));
    }
    for (const run of alone) {
      const intents = intentsOf.get(run.id) ?? [];
      const active = run.cause.kind === 'tick' ? await this.keeper.active(run.org) : null;
      const facts = whatAbout({ run, event: null, intents, active, now: this.clock.now() });
      rows.set(run.id, rowOfRun(run, facts, shownOf(run)));
    }
    return causes.flatMap(({ id }) => rows.get(id) ?? []);
  }
}

/** What of a row may be told; null = nothing. For whoever shows one list of rows to several people. */
export function visibleRow(row: ActivityRow, visibility: Visibility): ActivityRow | null {
  const { org } = row;
  if (seesWholeOrg(visibility, org)) return row;
  const isWhole = seesRepo(visibility, org, row.repoId);
  if (!isWhole && (row.event === null || !seesEvent(visibility, org, row.repoId, row.event))) return null;
  // As `tellsRun` and `tellsIntent` of the store: where a unit alone is visible, what a run read may be of another.
  const sees = (repoId: string | null): boolean =>
    seesRepo(visibility, org, repoId) || (!isWhole && repoId === row.repoId);
  const runs = row.runs
    .filter(({ hasRead }) => isWhole || !hasRead)
    .map((run) => ({ ...run, effects: run.effects.filter(({ repoId }) => sees(repoId)) }));
  return { ...row, runs };
}

/** The store looks for names as they stand in a text; a fork, for one, names its parent as well. */
function isExactly({ repo, person }: ActivityRow, { repo: ofRepo, person: ofPerson }: CauseFilter): boolean {
  const isSame = (value: string | null, filter: string | undefined): boolean =>
    filter === undefined || value?.toLowerCase() === filter.toLowerCase();
  return isSame(repo, ofRepo) && isSame(person, ofPerson);
}

function rowOfEvent(
  event: ForgeEvent,
  sources: readonly SourceOfEvent[],
  { isDecided, ...ofRules }: Pick<ActivityRow, 'notAsked' | 'runs'> & { readonly isDecided: boolean },
): ActivityRow {
  const { id, org, repo, storedAt } = event;
  const state = isDecided ? 'decided' : 'waits';
  const facts = { ...aboutEvent(event), repoId: repo?.id ?? null, schedule: null };
  return { id, what: 'event', org, at: storedAt, ...facts, sources, state, reason: null, code: null, ...ofRules };
}

const ARRIVAL_STATES: Readonly<Record<ArrivalState, ActivityRow['state']>> = {
  stored: 'waits',
  decided: 'decided',
  quarantined: 'quarantined',
};

function rowOfArrival({ id, org, source, hook, at, repeats, state, reason, code }: ArrivalSummary): ActivityRow {
  const nothing = { event: null, repo: null, subject: null, person: null, repoId: null, schedule: null };
  const sources = [{ id, source, hook, at, repeats }];
  return {
    ...nothing,
    id,
    what: 'arrival',
    org,
    at,
    sources,
    state: ARRIVAL_STATES[state],
    reason,
    code,
    notAsked: [],
    runs: [],
  };
}

function rowOfRun(run: Run, facts: Shape<typeof aboutRun>, ownRun: ActivityRow['runs'][number]): ActivityRow {
  const { id, org, decidedAt, cause } = run;
  const repoId = cause.kind === 'event' || cause.subject === '' ? null : cause.subject;
  const nothing = { sources: [], state: 'decided', reason: null, code: null, notAsked: [] } as const;
  return { ...facts, ...nothing, id, what: 'run', org, repoId, at: decidedAt, runs: [ownRun] };
}

function shownRun(run: Run, intents: readonly Intent[]): ActivityRow['runs'][number] {
  const { id, rule, kind, state, mode: of, reason, lookups } = run;
  const targets = [...new Set(intents.map(repoOf))];
  const effects = targets.flatMap((repoId) =>
    countEffects(intents.filter((intent) => repoOf(intent) === repoId)).map((effect) => ({ ...effect, repoId })),
  );
  const hasRead = Object.keys(lookups).length > 0;
  return { id, rule, kind, state, mode: of, hasRead, reason: textOf(reason), code: reason.code, effects };
}

function repoOf({ target }: Intent): string | null {
  return target.kind === 'repository' && !target.refused ? target.id : null;
}
