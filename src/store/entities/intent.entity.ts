import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Json, JsonObject } from '../../core/json.js';
import type { IntentState } from '../../core/states.js';
import type { Target } from '../../core/target.js';
import type { Approval, CountsFor } from '../../core/run.js';
import { jsonText } from '../columns.js';

@Entity('intents')
export class IntentEntity {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  runId: string;

  @Column('text')
  forge: string;

  @Column('text')
  org: string;

  @Column('text')
  rule: string;

  @Column('text')
  revisionId: string;

  @Column('text')
  stepId: string;

  @Column('integer')
  stepNo: number;

  @Column('text')
  itemKey: string;

  @Column('text')
  intentKey: string;

  @Column('text')
  action: string;

  @Column('text', { transformer: jsonText })
  params: JsonObject;

  @Column('text', { transformer: jsonText })
  target: Target;

  @Column('text')
  orderKey: string;

  @Column('text')
  effectKey: string;

  /** Of the effect key; what the unique index holds. */
  @Column('bytea')
  effectHash: Buffer;

  /** The object that it writes; null = only its effect key says. */
  @Column('text', { nullable: true })
  object: string | null;

  /** The objects that it needs, a line each; null = none. */
  @Column('text', { nullable: true })
  names: string | null;

  @Column('text')
  mode: 'live' | 'dry-run';

  @Column('timestamptz')
  plannedAt: Date;

  /** Order of planning, given by the database: clocks of several workers differ. */
  @Column('bigint', { generated: 'increment' })
  seq: string;

  @Column('text')
  state: IntentState;

  @Column('text', { nullable: true })
  reasonCode: string | null;

  @Column('text', { nullable: true })
  reasonParams: string | null;

  @Column('timestamptz')
  dueAt: Date;

  @Column('integer')
  epoch: number;

  @Column('integer')
  attempts: number;

  @Column('integer')
  tries: number;

  @Column('timestamptz', { nullable: true })
  failingSince: Date | null;

  /** Worker that claimed it last, and until when the claim holds (database time). */
  @Column('text', { nullable: true })
  owner: string | null;

  @Column('timestamptz', { nullable: true })
  leaseUntil: Date | null;

  /** Reads about an unknown outcome that told nothing, and such that showed the effect. */
  @Column('integer', { default: 0 })
  reads: number;

  @Column('integer', { default: 0 })
  sightings: number;

  /** When an ended intent is looked at once more; null = not. */
  @Column('timestamptz', { nullable: true })
  lookAgainAt: Date | null;

  @Column('text', { nullable: true, transformer: jsonText })
  result: Json;

  /** Others of its order key go first until `dueAt`: a budget is spent (`heldBy`), it waits for others, or it stepped aside. */
  @Column('boolean', { default: false })
  // oxlint-disable-next-line local/no-participle-names -- the name of the column
  held: boolean;

  /** Key of the spent budget, where that is why. */
  @Column('text', { nullable: true })
  heldBy: string | null;

  /** It cannot end for a reason of its own: what was planned after it goes on, but for its object. */
  @Column('boolean', { default: false })
  aside: boolean;

  /** Its run was deleted; it stays, since it tells what was made of its effect last. */
  @Column('boolean', { default: false })
  remembered: boolean;

  /** When it was held for the first time. */
  @Column('timestamptz', { nullable: true })
  heldSince: Date | null;

  /** A schedule or a plan caused it. */
  @Column('boolean', { default: false })
  background: boolean;

  @Column('text', { nullable: true, transformer: jsonText })
  countsFor: CountsFor | null;

  @Column('text', { nullable: true })
  approval: Approval | null;

  @Column('text', { nullable: true })
  approvalBy: string | null;

  @Column('timestamptz', { nullable: true })
  approvalAt: Date | null;

  /** Only a second person may approve it. */
  @Column('boolean', { default: false })
  twoPeople: boolean;

  /** The names beside which it was approved. */
  @Column('text', { nullable: true })
  approvalBeside: string | null;

  @Column('timestamptz')
  updatedAt: Date;
}
