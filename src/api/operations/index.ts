import type { z } from 'zod';
import type { Operator } from '../../core/operators.js';
import { consoleOperations } from './console.js';
import { configOperations } from './config.js';
import { activityOperations } from './activity.js';
import { deliveryOperations } from './deliveries.js';
import { housekeepingOperations } from './housekeeping.js';
import type { LongCalls } from '../long-calls.js';
import type { ShownOrgs } from './shown-orgs.js';
import type { KnownNames } from './known-names.js';
import type { Bound } from './operation.js';
import { operatorOperations } from './operators.js';
import { planOperations } from './plans.js';
import { ruleOperations } from './rules.js';
import { scheduleOperations } from './schedules.js';
import { runOperations } from './runs.js';
import { statusOperations } from './status.js';
import { tryingOperations } from './trying.js';

/** By subject. */
export const GROUPS = {
  status: statusOperations,
  activity: activityOperations,
  deliveries: deliveryOperations,
  runs: runOperations,
  rules: ruleOperations,
  schedules: scheduleOperations,
  trying: tryingOperations,
  plans: planOperations,
  operators: operatorOperations,
  console: consoleOperations,
  housekeeping: housekeepingOperations,
  config: configOperations,
};

/**
 * The operations of the control API, by the names under which the command line calls them. A new one is one entry in the file of its subject.
 */
export const OPERATIONS = {
  ...GROUPS.status,
  ...GROUPS.activity,
  ...GROUPS.deliveries,
  ...GROUPS.runs,
  ...GROUPS.rules,
  ...GROUPS.schedules,
  ...GROUPS.trying,
  ...GROUPS.plans,
  ...GROUPS.operators,
  ...GROUPS.console,
  ...GROUPS.housekeeping,
  ...GROUPS.config,
};

type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;
/** What a caller sends: what has a default may be left out. */
export type SentTo<Name extends OperationName> = z.input<Operations[Name]['input']>;
export type AnswerOf<Name extends OperationName> = z.output<Operations[Name]['answer']>;

/** What the control API serves. */
export interface Control {
  readonly operations: Bound<Operations>;
  readonly longCalls: Pick<LongCalls, 'run' | 'look'>;
  /** Names to leave out of what people are told by another way than an operation. */
  readonly knownNames: Pick<KnownNames, 'of'>;
  /** How organizations are shown. */
  readonly shownOrgs: ShownOrgs;
  /** Whose token this is, whatever its state; null = nobody's. */
  operatorOf(tokenHash: string): Promise<Operator | null>;
  /** Whether the bot has work to do, which whoever only looks must not slow down. */
  isBusy(): Promise<boolean>;
  /** Read the gauges of the store anew. */
  readGauges(): Promise<unknown>;
}
