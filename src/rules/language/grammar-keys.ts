import { SEVERITIES } from '../../core/finding.js';
import { word } from './habits/word.js';

export const MODE = {
  value: { choice: ['live', 'dry-run', 'shadow'] },
  default: 'live',
  instead: [word('dry_run dry-run dryrun', 'mode: dry-run')],
} as const;
export const FLAG = { value: 'boolean' } as const;
export const PRIVATE = {
  ...FLAG,
  summary: 'Only private repositories, or none of them.',
  instead: [word('public visibility', 'private: false')],
} as const;
export const TOPICS = {
  value: 'texts',
  summary: 'Globs of topics; one of the repository’s must match.',
  instead: [word('topic', 'topics: [...]')],
} as const;
export const SEVERITY = { value: { choice: SEVERITIES }, default: 'medium', summary: 'How grave it is.' } as const;
export const EFFECTS = { whole: [1, 1000] } as const;
export const RUNS_PER_HOUR = {
  value: { whole: [1, 10_000] },
  summary: 'Maximum number of runs in an hour.',
  instead: [word('runs max_runs rate effects_per_hour per_hour', 'runs_per_hour: 60')],
} as const;
export const EFFECTS_WORDS = [word('effects max max_effects limit', 'effects_per_run: 20')];
