import type { MigrationInterface } from 'typeorm';
import { FirstTables1763600000000 } from './1763600000000-first-tables.js';
import { ArchivedArrivals1763700000000 } from './1763700000000-archived-arrivals.js';
import { Talks1763800100000 } from './1763800100000-talks.js';
import { Recovery1763810000000 } from './1763810000000-recovery.js';
import { ApprovalsAndWindows1763820000000 } from './1763820000000-approvals-and-windows.js';
import { Gaps1763835000000 } from './1763835000000-gaps.js';
import { Rollouts1763840000000 } from './1763840000000-rollouts.js';
import { ObjectStates1763845000000 } from './1763845000000-object-states.js';
import { Budgets1763855000000 } from './1763855000000-budgets.js';
import { PlansAndFindings1763860000000 } from './1763860000000-plans-and-findings.js';
import { KnownFacts1763865000000 } from './1763865000000-known-facts.js';
import { ToldBy1763867000000 } from './1763867000000-told-by.js';
import { ObjectsOfEvents1763869000000 } from './1763869000000-objects-of-events.js';
import { Upkeep1763870000000 } from './1763870000000-upkeep.js';
import { WorkInHand1763871000000 } from './1763871000000-work-in-hand.js';
import { ListedEntries1763872000000 } from './1763872000000-listed-entries.js';
import { Audit1763875000000 } from './1763875000000-audit.js';
import { OpenEventsOfObjects1763880000000 } from './1763880000000-open-events-of-objects.js';
import { ArrivalCodes1763900100000 } from './1763900100000-arrival-codes.js';
import { FeedRepositories1763900200000 } from './1763900200000-feed-repositories.js';
import { StatesByOrganization1763900210000 } from './1763900210000-states-by-organization.js';
import { HeldByBudgets1763900400000 } from './1763900400000-held-by-budgets.js';
import { UndecidedBytes1763900500000 } from './1763900500000-undecided-bytes.js';
import { Operators1763900700000 } from './1763900700000-operators.js';
import { OriginsOfRevisions1763900800000 } from './1763900800000-origins-of-revisions.js';
import { AcceptedAges1763901100000 } from './1763901100000-accepted-ages.js';
import { ReasonCodes1763901200000 } from './1763901200000-reason-codes.js';
import { StandardWords1763901300000 } from './1763901300000-standard-words.js';
import { TrustedPolicies1763901400000 } from './1763901400000-trusted-policies.js';
import { PauseReasons1763901450000 } from './1763901450000-pause-reasons.js';
import { SentEffects1763901500000 } from './1763901500000-sent-effects.js';
import { RepositoriesOfRuns1763901700000 } from './1763901700000-repositories-of-runs.js';
import { ConsoleSessions1763902000000 } from './1763902000000-console-sessions.js';
import { ConsoleGrants1763902100000 } from './1763902100000-console-grants.js';
import { Acts1763902200000 } from './1763902200000-acts.js';
import { UndecidedDeliveries1763902300000 } from './1763902300000-undecided-deliveries.js';
import { OpenAlerts1763902400000 } from './1763902400000-open-alerts.js';
import { ResolvedAlerts1763902510000 } from './1763902510000-resolved-alerts.js';
import { PackedEvents1763902600000 } from './1763902600000-packed-events.js';
import { DecidersOfEvents1763902700000 } from './1763902700000-deciders-of-events.js';
import { ObjectsOfIntents1763902800000 } from './1763902800000-objects-of-intents.js';
import { ForgeHolds1763902900000 } from './1763902900000-forge-holds.js';
import { PutOff1763903000000 } from './1763903000000-put-off.js';

export type Migrations = ReadonlyArray<new () => MigrationInterface>;

/** Append only: what was released is never changed, a further change is a further class. */
export const MIGRATIONS: Migrations = [
  FirstTables1763600000000,
  ArchivedArrivals1763700000000,
  Talks1763800100000,
  Recovery1763810000000,
  ApprovalsAndWindows1763820000000,
  Gaps1763835000000,
  Rollouts1763840000000,
  ObjectStates1763845000000,
  Budgets1763855000000,
  PlansAndFindings1763860000000,
  KnownFacts1763865000000,
  ToldBy1763867000000,
  ObjectsOfEvents1763869000000,
  Upkeep1763870000000,
  WorkInHand1763871000000,
  ListedEntries1763872000000,
  Audit1763875000000,
  OpenEventsOfObjects1763880000000,
  ArrivalCodes1763900100000,
  FeedRepositories1763900200000,
  StatesByOrganization1763900210000,
  HeldByBudgets1763900400000,
  UndecidedBytes1763900500000,
  Operators1763900700000,
  OriginsOfRevisions1763900800000,
  AcceptedAges1763901100000,
  ReasonCodes1763901200000,
  StandardWords1763901300000,
  TrustedPolicies1763901400000,
  PauseReasons1763901450000,
  SentEffects1763901500000,
  RepositoriesOfRuns1763901700000,
  ConsoleSessions1763902000000,
  ConsoleGrants1763902100000,
  Acts1763902200000,
  UndecidedDeliveries1763902300000,
  OpenAlerts1763902400000,
  ResolvedAlerts1763902510000,
  PackedEvents1763902600000,
  DecidersOfEvents1763902700000,
  ObjectsOfIntents1763902800000,
  ForgeHolds1763902900000,
  PutOff1763903000000,
];
