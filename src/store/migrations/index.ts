import type { MigrationInterface } from 'typeorm';
import { Baseline1764000000000 } from './1764000000000-baseline.js';
import { Lists1764300000000 } from './1764300000000-lists.js';
import { Ended1764310000000 } from './1764310000000-ended.js';
import { EndedMemory1764320000000 } from './1764320000000-ended-memory.js';

export type Migrations = ReadonlyArray<new () => MigrationInterface>;

/** Append only: what was released is never changed, a further change is a further class. */
export const MIGRATIONS: Migrations = [
  Baseline1764000000000,
  Lists1764300000000,
  Ended1764310000000,
  EndedMemory1764320000000,
];
