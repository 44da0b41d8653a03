import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventActor, EventRepository, EventSource } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import type { BotSelf } from '../../pipeline/rule-engine.port.js';
import { jsonText } from '../columns.js';

@Entity('events')
export class EventEntity {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  forge: string;

  @Column('text')
  org: string;

  @Column('text')
  kind: EventKind;

  @Column('text')
  source: EventSource;

  @Column('text')
  factKey: string;

  /** Of forge and fact key; what the index holds. */
  @Column('bytea')
  factHash: Buffer;

  /** Of forge and discussion key: reviews and comments of one person about one pull request. Null for all other events. */
  @Column('bytea', { nullable: true })
  discussionHash: Buffer | null;

  /** Of the object that it is about, in whose order it is decided. Null for all other events. */
  @Column('bytea', { nullable: true })
  objectHash: Buffer | null;

  /** Bits for the classes of source that have reported it. */
  @Column('smallint', { default: 0 })
  reportedBy: number;

  @Column('timestamptz', { nullable: true })
  factAt: Date | null;

  @Column('text', { transformer: jsonText })
  actor: EventActor | null;

  @Column('text', { transformer: jsonText })
  repo: EventRepository | null;

  @Column('text', { nullable: true })
  repoId: string | null;

  @Column('text', { transformer: jsonText })
  data: JsonObject;

  @Column('timestamptz')
  storedAt: Date;

  /** When it was matched against rules; null = due. */
  @Column('timestamptz', { nullable: true })
  decidedAt: Date | null;

  /** Until then a process has it in hand; null = none had. */
  @Column('timestamptz', { nullable: true })
  claimedUntil: Date | null;

  /** Id of what decided it; null = it is due. */
  @Column('text', { nullable: true })
  decidedBy: string | null;

  /** Order of storing: fact keys are read oldest first. */
  @Column('bigint', { generated: 'increment' })
  seq: string;
}

/** What decided events: there are few, and each is kept once. */
@Entity('deciders')
export class DeciderEntity {
  /** Hash of the others. */
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  revisionId: string;

  @Column('text', { transformer: jsonText })
  bot: BotSelf | null;
}

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
