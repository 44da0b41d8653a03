import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { BudgetKind } from '../../core/budgets.js';

/** A person undid an effect of ours: the same effect is left alone until a person re-arms it. */
@Entity('undone')
export class UndoneEntity {
  @PrimaryColumn('bytea')
  effectHash: Buffer;

  @Column('text')
  effectKey: string;

  @Column('text')
  eventId: string;

  @Column('text')
  by: string;

  @Column('text')
  summary: string;

  @Column('timestamptz')
  at: Date;
}

/** An event that our own effect made the forge tell. */
@Entity('echoes')
export class EchoEntity {
  @PrimaryColumn('text')
  eventId: string;

  @Column('text')
  intentId: string;

  @Column('integer')
  depth: number;
}

/** What a spent budget has held, and the places that it gave away in its last hour. */
@Entity('budget_holds')
export class BudgetHoldEntity {
  @PrimaryColumn('text')
  budget: string;

  @Column('text')
  org: string;

  @Column('text')
  kind: BudgetKind;

  @Column('text')
  whose: string;

  @Column('integer')
  perHour: number;

  @Column('timestamptz')
  since: Date;

  @Column('timestamptz')
  until: Date;

  @Column('integer')
  places: number;
}

/** Credentials of which nothing is claimed until then. */
@Entity('forge_holds')
export class ForgeHoldEntity {
  @PrimaryColumn('text')
  credential: string;

  @Column('text')
  forge: string;

  /** The organizations that use them, a line each. */
  @Column('text')
  orgs: string;

  @Column('text')
  reasonCode: string;

  @Column('text')
  reasonParams: string;

  @Column('timestamptz')
  since: Date;

  @Column('timestamptz')
  until: Date;
}

/** Why an event, a run or an occurrence of a schedule is not decided yet. */
@Entity('put_off')
export class PutOffEntity {
  @PrimaryColumn('text')
  kind: string;

  @PrimaryColumn('text')
  id: string;

  @Column('text')
  org: string;

  @Column('text')
  reasonCode: string;

  @Column('text')
  reasonParams: string;

  @Column('timestamptz')
  since: Date;
}

/** A call that a budget counts; forgotten when it is an hour old. */
@Entity('budget_uses')
export class BudgetUseEntity {
  @PrimaryColumn('text')
  budget: string;

  @PrimaryColumn('text')
  attemptId: string;

  @Column('timestamptz')
  at: Date;
}

/** An entry of the forge upon which a rule acted, for this event. */
@Entity('told_acts')
export class ToldActEntity {
  @PrimaryColumn('text')
  forge: string;

  @PrimaryColumn('text')
  org: string;

  @PrimaryColumn('text')
  rule: string;

  @PrimaryColumn('text')
  act: string;

  @Column('text')
  eventId: string;

  @Column('timestamptz')
  toldAt: Date;

  /** Of the issue or pull request that it was of, where the event is kept no more. Null while it is. */
  @Column('text', { nullable: true })
  repoId: string | null;

  @Column('text', { nullable: true })
  number: string | null;
}
