import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Only names change, so it takes no room, and what reads or grants the old names (indexes, constraints, rights of a user) follows by itself. */
const RENAMES: ReadonlyArray<readonly [where: string, from: string, to: string]> = [
  ['TABLE events RENAME COLUMN', 'told_by', 'reported_by'],
  ['TABLE events RENAME COLUMN', 'talk_hash', 'discussion_hash'],
  ['INDEX', 'events_talk', 'events_discussion'],
  ['TABLE undone RENAME COLUMN', 'told', 'summary'],
  ['TABLE intents RENAME COLUMN', 'upkeep', 'background'],
  ['TABLE', 'beats', 'heartbeats'],
  ['INDEX', 'beats_pkey', 'heartbeats_pkey'],
  ['TABLE', 'work_in_hand', 'work_in_progress'],
  ['INDEX', 'work_in_hand_pkey', 'work_in_progress_pkey'],
  ['TABLE work_in_progress RENAME CONSTRAINT', 'work_in_hand_topic_check', 'work_in_progress_topic_check'],
];

/** Tables and columns have the words of the glossary. */
export class StandardWords1763901300000 implements MigrationInterface {
  name = 'StandardWords1763901300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [where, from, to] of RENAMES) await queryRunner.query(rename(where, from, to));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [where, from, to] of RENAMES.toReversed()) await queryRunner.query(rename(where, to, from));
  }
}

function rename(where: string, from: string, to: string): string {
  return where.endsWith('COLUMN') || where.endsWith('CONSTRAINT')
    ? `ALTER ${where} ${from} TO ${to}`
    : `ALTER ${where} ${from} RENAME TO ${to}`;
}
