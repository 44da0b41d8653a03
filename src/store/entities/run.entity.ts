import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Json, JsonObject } from '../../core/json.js';
import type { Cause, RunState } from '../../core/run.js';
import { jsonText } from '../columns.js';

@Entity('runs')
export class RunEntity {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  forge: string;

  @Column('text')
  org: string;

  @Column('text')
  rule: string;

  @Column('text')
  kind: 'rule' | 'policy';

  @Column('text')
  revisionId: string;

  @Column('text', { transformer: jsonText })
  cause: Cause;

  /** The cause's event, once more, to search by. */
  @Column('text', { nullable: true })
  eventId: string | null;

  /** Number of the repository that the cause is about; null = the organization. */
  @Column('text', { nullable: true })
  repoId: string | null;

  @Column('text')
  runKey: string;

  @Column('text')
  mode: 'live' | 'dry-run';

  @Column('text')
  state: RunState;

  @Column('text')
  reasonCode: string;

  @Column('text')
  reasonParams: string;

  @Column('text', { transformer: jsonText })
  trace: Json;

  @Column('text', { transformer: jsonText })
  lookups: JsonObject;

  @Column('timestamptz')
  decidedAt: Date;

  @Column('timestamptz', { nullable: true })
  endedAt: Date | null;

  @Column('timestamptz', { nullable: true })
  dueAt: Date | null;

  /** Of organization, rule and coalesce key, while it gathers. */
  @Column('bytea', { nullable: true })
  coalesceHash: Buffer | null;

  @Column('text', { nullable: true })
  coalescedInto: string | null;

  /** Number of the link that sealed it last. */
  @Column('bigint', { nullable: true })
  sealedN: string | null;

  /** Number of the link that sealed it last before a person took it up again. */
  @Column('bigint', { nullable: true })
  earlierN: string | null;

  @Column('bigint', { generated: 'increment' })
  seq: string;
}
