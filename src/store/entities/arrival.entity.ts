import type { EventSource } from '../../core/event.js';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ArrivalState } from '../../core/arrival.js';

/** A delivery or an entry as it came. The columns of the other kind are null. */
@Entity('arrivals')
export class ArrivalEntity {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  kind: 'delivery' | 'entry';

  @Column('text')
  forge: string;

  @Column('text')
  org: string;

  @Column('text')
  source: EventSource;

  @Column('text', { nullable: true })
  hook: string | null;

  @Column('text', { nullable: true })
  eventType: string | null;

  @Column('text', { nullable: true })
  event: string | null;

  @Column('text', { nullable: true })
  deliveryId: string | null;

  @Column('text', { nullable: true })
  targetType: string | null;

  @Column('text', { nullable: true })
  contentType: 'json' | 'form' | null;

  @Column('text', { nullable: true })
  verdict: 'signed' | 'unsigned' | null;

  @Column('text', { nullable: true })
  entryKey: string | null;

  /** Of a delivery since it was decided. */
  @Column('bytea', { nullable: true })
  textHash: Buffer | null;

  /** A delivery's bytes as received; an entry's JSON text in UTF-8. */
  @Column('bytea')
  body: Buffer;

  @Column('text')
  state: ArrivalState;

  @Column('text', { nullable: true })
  reason: string | null;

  /** Names the reason for programs. */
  @Column('text', { nullable: true })
  code: string | null;

  /** First event it was joined to; `arrival_events` has them all. */
  @Column('text', { nullable: true })
  eventId: string | null;

  @Column('integer')
  repeats: number;

  @Column('timestamptz')
  arrivedAt: Date;

  /** Of an entry: when it was matched with the deliveries. */
  @Column('timestamptz', { nullable: true })
  matchedAt: Date | null;

  /** When its body was given up (empty since); keys and hashes stay. */
  @Column('timestamptz', { nullable: true })
  archivedAt: Date | null;

  /** When a person released it after its act was found too old. */
  @Column('timestamptz', { nullable: true })
  ageAcceptedAt: Date | null;

  /** Until when it is left alone, since it waits for others. */
  @Column('timestamptz', { nullable: true })
  dueAt: Date | null;
}
