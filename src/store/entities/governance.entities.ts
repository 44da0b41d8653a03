import { Column, Entity, PrimaryColumn, type ValueTransformer } from 'typeorm';
import type { JsonObject } from '../../core/json.js';
import { OPERATOR_SCOPES, type OperatorScope } from '../../core/operator-scopes.js';
import type { Operator } from '../../core/operators.js';
import type { RolloutRow } from '../../pipeline/rollout-store.port.js';
import type { KeptFinding, Severity } from '../../policies/finding-store.port.js';
import type { PlanState } from '../../policies/plan-store.port.js';
import { jsonText } from '../columns.js';

/** Scopes with spaces between; those that this version does not know are left out. */
const scopesText: ValueTransformer = {
  to: (scopes: readonly OperatorScope[]) => scopes.join(' '),
  from: (text: string) => {
    const words = text.split(' ');
    return OPERATOR_SCOPES.filter((scope) => words.includes(scope));
  },
};

/** What a policy would change, kept until a person has decided about it. */
@Entity('plans')
export class PlanEntity {
  @PrimaryColumn('text')
  hash: string;

  @Column('text')
  id: string;

  @Column('text')
  forge: string;

  @Column('text')
  org: string;

  @Column('text')
  state: PlanState;

  /** Times in it are texts. */
  @Column('text', { transformer: jsonText })
  plan: JsonObject;

  @Column('timestamptz')
  madeAt: Date;

  @Column('text', { nullable: true })
  decidedBy: string | null;

  @Column('timestamptz', { nullable: true })
  decidedAt: Date | null;

  @Column('text', { nullable: true })
  appliedBy: string | null;

  @Column('timestamptz', { nullable: true })
  appliedAt: Date | null;

  @Column('bigint', { generated: 'increment' })
  seq: string;
}

/** An expectation of a policy that does not hold, or did not once. */
@Entity('findings')
export class FindingEntity implements KeptFinding {
  /** Of forge, organization, policy, subject and name. */
  @PrimaryColumn('bytea')
  findingKey: Buffer;

  @Column('text')
  forge: string;

  @Column('text')
  org: string;

  @Column('text')
  policy: string;

  @Column('text')
  subject: string;

  @Column('text')
  subjectName: string;

  @Column('text')
  name: string;

  @Column('text')
  severity: Severity;

  @Column('text')
  message: string;

  @Column('timestamptz')
  since: Date;

  @Column('timestamptz')
  lastSeenAt: Date;

  @Column('timestamptz', { nullable: true })
  endedAt: Date | null;

  @Column('bigint', { generated: 'increment' })
  seq: string;
}

/** A policy that was applied in this store before. */
@Entity('trusted_policies')
export class TrustedPolicyEntity {
  @PrimaryColumn('text')
  org: string;

  @PrimaryColumn('text')
  policy: string;

  @Column('text')
  by: string;

  @Column('timestamptz')
  at: Date;
}

/** A stage of a rule. Rows are only added; the newest of a rule counts. */
@Entity('rollouts')
export class RolloutEntity implements RolloutRow {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  org: string;

  @Column('text')
  rule: string;

  @Column('text')
  ruleHash: string;

  @Column('text')
  kind: RolloutRow['kind'];

  @Column('text')
  stage: RolloutRow['stage'];

  @Column('double precision', { nullable: true })
  percent: number | null;

  @Column('text')
  by: string;

  @Column('timestamptz')
  at: Date;

  @Column('text', { transformer: jsonText })
  evidence: JsonObject;

  @Column('boolean')
  forced: boolean;

  @Column('bigint', { generated: 'increment' })
  seq: string;
}

/** One token of a named operator; of the token its hash alone. */
@Entity('operators')
export class OperatorEntity implements Operator {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  name: string;

  @Column('text', { nullable: true })
  login: string | null;

  @Column('text', { transformer: scopesText })
  scopes: Operator['scopes'];

  @Column('text')
  tokenHash: string;

  @Column('text')
  madeBy: string;

  @Column('timestamptz')
  madeAt: Date;

  @Column('timestamptz')
  expiresAt: Date;

  @Column('text', { nullable: true })
  revokedBy: string | null;

  @Column('timestamptz', { nullable: true })
  revokedAt: Date | null;

  @Column('bigint', { generated: 'increment' })
  seq: string;
}

/** A link in the chain of an organization's finished runs and acts. */
@Entity('audit_links')
export class AuditLinkEntity {
  @PrimaryColumn('text')
  org: string;

  @PrimaryColumn('bigint')
  n: string;

  /** Of the run, of the act or of the cut. This and what follows is null once a cut took the link. */
  @Column('text', { nullable: true })
  runId: string | null;

  @Column('timestamptz', { nullable: true })
  asOf: Date | null;

  @Column('text', { nullable: true })
  keyId: string | null;

  @Column('bytea', { nullable: true })
  record: Buffer | null;

  /** Number of the link that sealed the same run before it. */
  @Column('bigint', { nullable: true })
  earlierN: string | null;

  @Column('bytea')
  link: Buffer;

  /** Number of the cut that took it. */
  @Column('bigint', { nullable: true })
  cutN: string | null;
}

/** Links that retention took. `n` is the number of the link that says so. */
@Entity('audit_cuts')
export class AuditCutEntity {
  @PrimaryColumn('text')
  org: string;

  @PrimaryColumn('bigint')
  n: string;

  @Column('bigint')
  fromN: string;

  @Column('bigint')
  toN: string;

  @Column('integer')
  links: number;

  @Column('integer')
  days: number;

  /** Time of the youngest link that it took. */
  @Column('timestamptz')
  newest: Date;

  @Column('timestamptz')
  at: Date;
}

/** What somebody did by the control API. `''` stands for no organization, since its chain has a name too. */
@Entity('acts')
export class ActEntity {
  @PrimaryColumn('text')
  id: string;

  @Column('bigint', { generated: 'increment' })
  seq: string;

  @Column('text')
  org: string;

  @Column('timestamptz', { default: () => 'clock_timestamp()' })
  at: Date;

  @Column('text')
  by: string;

  @Column('text')
  byKind: string;

  @Column('text')
  operation: string;

  /** JSON text. */
  @Column('text')
  about: string;

  @Column('text', { nullable: true })
  reason: string | null;

  @Column('text', { nullable: true })
  outcome: string | null;

  @Column('timestamptz', { nullable: true })
  endedAt: Date | null;

  /** Number of its newest link in the chain. */
  @Column('bigint', { nullable: true })
  sealedN: string | null;
}

/** What was learned last of a forge or of a repository of rules. */
@Entity('known_facts')
export class KnownFactEntity {
  @PrimaryColumn('text')
  forge: string;

  @PrimaryColumn('text')
  subject: string;

  @PrimaryColumn('text')
  kind: string;

  /** JSON text; TypeORM's types do not end on `Json`. */
  @Column('text')
  fact: string;

  @Column('timestamptz', { default: () => 'clock_timestamp()' })
  learnedAt: Date;
}

/** A peer that named a client in X-Forwarded-For and is not trusted. */
@Entity('untrusted_proxies')
export class UntrustedProxyEntity {
  @PrimaryColumn('text')
  address: string;

  @Column('timestamptz')
  seenAt: Date;
}

/** What a process of the bot has raised and not resolved. */
@Entity('open_alerts')
export class OpenAlertsEntity {
  @PrimaryColumn('text')
  process: string;

  /** JSON text. */
  @Column('text')
  alerts: string;

  @Column('timestamptz')
  at: Date;
}

/** When a process resolved the alerts of a key. */
@Entity('resolved_alerts')
export class ResolvedAlertEntity {
  @PrimaryColumn('text')
  key: string;

  @Column('timestamptz')
  at: Date;
}
