import type { OrgLimits } from '../../config/app-config.js';
import type { ForgeEvent } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import type { Problem } from '../../core/problem.js';
import type { BotSelf } from '../../pipeline/rule-engine.port.js';
import type { Failed } from '../../policies/thread/messages.js';
import type { Window } from '../../rules/language/propose/coalesce-key.js';
import type { LookupRequest, ProposedStep, Report, RuleFile } from '../../rules/language/revision.js';
import type { BacktestReport } from '../backtest/backtest-report.js';
import type { RecordedFixture } from '../fixtures/record-fixture.js';
import type { Place, RuleLine } from '../explanation.js';
import type { HistoryAnswer } from '../history-store.port.js';
import type { DraftCheck, EventTrial } from './try-answers.js';

/** Rule files of an organization as somebody would have them, and what its operator allows them. */
export interface Draft {
  readonly org: string;
  /** Of the organization, at the forge. */
  readonly name: string;
  readonly files: readonly RuleFile[];
  readonly powers: readonly string[];
  /** Names alone. */
  readonly secrets: readonly string[];
  readonly mirrorHosts: readonly string[];
  readonly notifyHosts: readonly string[];
  readonly limits: OrgLimits;
}

/** What is asked of the thread that tries drafts. It holds one back-test at a time: `begin`, `add` page by page, `report`. */
export type TryOrder =
  | { readonly kind: 'check'; readonly draft: Draft }
  | {
      readonly kind: 'event';
      readonly draft: Draft;
      readonly history: HistoryAnswer;
      /** The rule to show step by step. */
      readonly rule: string | null;
    }
  | {
      readonly kind: 'object';
      readonly draft: Draft;
      /** Made from an object. */
      readonly event: ForgeEvent;
      readonly bot: BotSelf | null;
      /** What was read so far, each with its key (`askKey`). */
      readonly answers: ReadonlyArray<{ readonly rule: string; readonly lookups: JsonObject }>;
    }
  | {
      readonly kind: 'fixture';
      readonly draft: Draft;
      readonly history: HistoryAnswer;
      /** Their values, which the fixture must not hold. */
      readonly secrets: readonly string[];
    }
  | { readonly kind: 'begin'; readonly draft: Draft }
  | { readonly kind: 'add'; readonly page: HistoryAnswer }
  | { readonly kind: 'report'; readonly about: Pick<BacktestReport, 'org' | 'since' | 'until' | 'notes'> };

/** One round of a trial on an object: with `requests` answered, the next one tells more. */
export interface ObjectRound {
  readonly rules: ReadonlyArray<
    Omit<RuleLine, 'place' | 'runId'> & {
      readonly place: Place | null;
      readonly mode: string;
      /** Null where its filters turned the event away. */
      readonly steps: EventTrial['steps'];
    }
  >;
  readonly requests: ReadonlyArray<{ readonly rule: string; readonly request: LookupRequest }>;
  /** Of the rules that fired. */
  readonly decisions: ReadonlyArray<{
    readonly rule: string;
    readonly report: Report;
    readonly steps: readonly ProposedStep[];
    /** Its window (`coalesce`); null = it gathers nothing. */
    readonly window: Window | null;
    /** `limits.runs_per_hour`; null = none. */
    readonly runsPerHour: number | null;
  }>;
}

export type TryAnswer =
  | { readonly kind: 'checked'; readonly check: DraftCheck }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }
  | { readonly kind: 'tried'; readonly trial: EventTrial }
  | { readonly kind: 'object-tried'; readonly round: ObjectRound }
  | { readonly kind: 'recorded'; readonly fixture: RecordedFixture }
  /** No rule takes the event, or what came of it cannot be repeated. */
  | { readonly kind: 'not-recorded'; readonly code: string; readonly message: string }
  | { readonly kind: 'begun'; readonly rules: number }
  | { readonly kind: 'added' }
  | { readonly kind: 'reported'; readonly report: BacktestReport }
  | Failed;
