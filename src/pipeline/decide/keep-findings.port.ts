import { portToken } from '../../core/part.js';
import type { RecordedRun } from '../journal-store.port.js';

/** Keeps what the expectations of a policy found in one subject. */
export interface FindingSink {
  keep(decided: Pick<RecordedRun, 'run' | 'found'>): Promise<void>;
}

export const FINDING_SINK = portToken<FindingSink>('FindingSink');
