import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '../../core/json.js';
import type { Attempt } from '../../core/run.js';
import { jsonText } from '../columns.js';

@Entity('attempts')
export class AttemptEntity implements Attempt {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  intentId: string;

  /** Of the intent, once more. */
  @Column('text')
  org: string;

  @Column('integer')
  n: number;

  @Column('text')
  operation: string;

  @Column('integer')
  epoch: number;

  @Column('text')
  requestHash: string;

  @Column('text', { nullable: true, transformer: jsonText })
  snapshot: JsonObject | null;

  @Column('timestamptz')
  sentAt: Date;

  @Column('timestamptz', { nullable: true })
  answeredAt: Date | null;

  @Column('text', { nullable: true })
  outcome: Attempt['outcome'];

  @Column('integer', { nullable: true })
  status: number | null;

  @Column('text', { nullable: true })
  message: string | null;

  @Column('text', { nullable: true })
  objectId: string | null;
}
