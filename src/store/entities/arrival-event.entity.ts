import type { EventSource } from '../../core/event.js';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The arrival tells this event. */
@Entity('arrival_events')
export class ArrivalEventEntity {
  @PrimaryColumn('text')
  arrivalId: string;

  @PrimaryColumn('text')
  eventId: string;

  /** Source of the arrival, so that deduplication reads one table. */
  @Column('text')
  source: EventSource;

  /** Order in which the arrival told its events. */
  @Column('bigint', { generated: 'increment' })
  seq: string;
}
