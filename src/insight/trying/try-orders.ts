import type { OrgLimits } from '../../config/app-config.js';
import type { Problem } from '../../core/problem.js';
import type { Failed } from '../../policies/thread/messages.js';
import type { RuleFile } from '../../rules/language/revision.js';
import type { BacktestReport } from '../backtest/backtest-report.js';
import type { RecordedFixture } from '../fixtures/record-fixture.js';
import type { HistoryAnswer } from '../history-store.port.js';
import type { DraftCheck, EventTrial } from './try-answers.js';

/** Rule files of an organization as somebody would have them, and what its operator allows them. */
export interface Draft {
  readonly org: string;
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
      readonly kind: 'fixture';
      readonly draft: Draft;
      readonly history: HistoryAnswer;
      /** Their values, which the fixture must not hold. */
      readonly secrets: readonly string[];
    }
  | { readonly kind: 'begin'; readonly draft: Draft }
  | { readonly kind: 'add'; readonly page: HistoryAnswer }
  | { readonly kind: 'report'; readonly about: Pick<BacktestReport, 'org' | 'since' | 'until' | 'notes'> };

export type TryAnswer =
  | { readonly kind: 'checked'; readonly check: DraftCheck }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }
  | { readonly kind: 'tried'; readonly trial: EventTrial }
  | { readonly kind: 'recorded'; readonly fixture: RecordedFixture }
  /** No rule takes the event, or what came of it cannot be repeated. */
  | { readonly kind: 'not-recorded'; readonly code: string; readonly message: string }
  | { readonly kind: 'begun'; readonly rules: number }
  | { readonly kind: 'added' }
  | { readonly kind: 'reported'; readonly report: BacktestReport }
  | Failed;
