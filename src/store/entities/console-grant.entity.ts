import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { KeptGrant } from '../../console/login/grant-store.port.js';

/** Tokens of a person who logs in through a forge. */
@Entity('console_grants')
export class ConsoleGrantEntity implements KeptGrant {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  forge: string;

  @Column('text')
  userId: string;

  @Column('text')
  login: string;

  @Column('text')
  sealed: string;

  @Column('timestamptz')
  accessEndsAt: Date;

  @Column('timestamptz')
  renewedAt: Date;
}
