import { Column, Entity, PrimaryColumn } from 'typeorm';

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
  told: string;

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
