import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { KeptSession, TicketKind } from '../../api/session-store.port.js';

/** A browser that is logged in to the Console. */
@Entity('console_sessions')
export class ConsoleSessionEntity {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  tokenHash: string;

  @Column('text')
  kind: KeptSession['kind'];

  @Column('text')
  name: string;

  /** `grant` is a word of SQL. */
  @Column('text', { nullable: true })
  grantId: string | null;

  @Column('text')
  agent: string;

  @Column('timestamptz')
  madeAt: Date;

  @Column('timestamptz')
  seenAt: Date;

  @Column('timestamptz')
  endsAt: Date;

  @Column('timestamptz', { nullable: true })
  endedAt: Date | null;
}

/** What begins a session, once. */
@Entity('console_tickets')
export class ConsoleTicketEntity {
  @PrimaryColumn('text')
  hash: string;

  @Column('text')
  kind: TicketKind;

  @Column('text')
  content: string;

  @Column('timestamptz')
  endsAt: Date;
}
