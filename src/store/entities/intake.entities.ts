import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { EntrySource } from '../../core/event.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { Gap, GapClass, GapOutcome } from '../../pipeline/gap-store.port.js';

/** Under which key the text of a delivery counts, and for which delivery. A key is two halves of half a hash. */
@Entity('repeats')
export class RepeatEntity {
  @PrimaryColumn('bigint')
  key: string;

  @PrimaryColumn('bigint')
  rest: string;

  @Column('uuid')
  arrivalId: string;
}

/** A polled row that is known, by half a hash. */
@Entity('known_entries')
export class KnownEntryEntity {
  @PrimaryColumn('uuid')
  key: string;

  @Column('uuid')
  arrivalId: string;
}

/** A fact that a row of the forge told and no delivery. */
@Entity('gaps')
export class GapEntity implements Omit<Gap, 'lateByS'> {
  /** Id of the event, or of the arrival where it made none. */
  @PrimaryColumn('text')
  gapKey: string;

  @Column('text')
  forge: string;

  @Column('text')
  org: string;

  @Column('text')
  arrivalId: string;

  @Column('text', { nullable: true })
  eventId: string | null;

  @Column('text')
  source: EntrySource;

  @Column('text')
  entryKey: string;

  @Column('text', { nullable: true })
  kind: EventKind | null;

  @Column('text', { nullable: true })
  repo: string | null;

  @Column('text')
  class: GapClass;

  @Column('text')
  reason: string;

  @Column('text')
  outcome: GapOutcome;

  @Column('timestamptz', { nullable: true })
  factAt: Date | null;

  @Column('timestamptz')
  foundAt: Date;

  @Column('bigint', { generated: 'increment' })
  seq: string;
}

/** When something of this name was alive last. */
@Entity('heartbeats')
export class HeartbeatEntity {
  @PrimaryColumn('text')
  name: string;

  @Column('timestamptz')
  at: Date;
}

/** From when until when no receiver of deliveries was alive. */
@Entity('outages')
export class OutageEntity {
  @Column('timestamptz')
  fromAt: Date;

  @Column('timestamptz')
  toAt: Date;

  /** The table has no key of its own; TypeORM asks for one. */
  @PrimaryColumn('bigint', { generated: 'increment' })
  seq: string;
}

/** A repository that a row of an organization's feed named. */
@Entity('feed_repositories')
export class FeedRepositoryEntity {
  @PrimaryColumn('text')
  forge: string;

  @PrimaryColumn('text')
  org: string;

  @PrimaryColumn('text')
  repoId: string;

  @Column('text')
  name: string;

  @Column('timestamptz', { default: () => 'clock_timestamp()' })
  seenAt: Date;
}

/** What the last fact about an object told. */
@Entity('object_states')
export class ObjectStateEntity {
  @PrimaryColumn('text')
  forge: string;

  @PrimaryColumn('text')
  org: string;

  @PrimaryColumn('text')
  repoId: string;

  @PrimaryColumn('text')
  kind: string;

  @PrimaryColumn('text')
  objectId: string;

  /** JSON text. */
  @Column('text')
  state: string;

  @Column('timestamptz', { default: () => 'clock_timestamp()' })
  keptAt: Date;
}

/** What one process is about to do that may end it. */
@Entity('work_in_progress')
export class WorkInProgressEntity {
  @PrimaryColumn('text')
  topic: 'arrival' | 'event';

  @PrimaryColumn('text')
  id: string;

  @Column('text')
  owner: string;

  @Column('timestamptz')
  leaseUntil: Date;

  /** Processes that ended over it. */
  @Column('integer')
  deaths: number;

  /** It is left alone until a person releases it. */
  @Column('boolean', { default: false })
  quarantined: boolean;

  @Column('timestamptz', { default: () => 'clock_timestamp()' })
  beganAt: Date;
}
