import type { EntrySource } from '../../core/event.js';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RuleOrigin } from '../../rules/sources/rule-repository.port.js';
import { jsonText } from '../columns.js';

@Entity('cursors')
export class CursorEntity {
  @PrimaryColumn('text')
  forge: string;

  @PrimaryColumn('text')
  org: string;

  @PrimaryColumn('text')
  source: EntrySource;

  /** JSON text; TypeORM's types do not end on `Json`. */
  @Column('text')
  position: string;

  @Column('timestamptz')
  advancedAt: Date;
}

@Entity('ticks')
export class TickEntity {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  forge: string;

  @Column('text')
  org: string;

  @Column('text')
  schedule: string;

  @Column('timestamptz')
  occurrence: Date;

  @Column('text')
  state: 'due' | 'decided';
}

@Entity('revisions')
export class RevisionEntity {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  org: string;

  @Column('text')
  hash: string;

  @Column('text', { transformer: jsonText })
  files: Array<{ path: string; text: string }>;

  @Column('text')
  state: 'active' | 'replaced' | 'broken';

  @Column('text', { transformer: jsonText })
  problems: string[];

  @Column('timestamptz')
  loadedAt: Date;

  @Column('text', { transformer: jsonText, nullable: true })
  origin: RuleOrigin | null;

  @Column('bigint', { generated: 'increment' })
  seq: string;
}

/** `''` stands for "all": a key must not be null. */
@Entity('pauses')
export class PauseEntity {
  @PrimaryColumn('text')
  org: string;

  @PrimaryColumn('text')
  rule: string;

  @Column('text')
  by: string;

  @Column('text', { nullable: true })
  reason: string | null;

  @Column('timestamptz')
  at: Date;
}
