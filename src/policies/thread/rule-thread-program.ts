import { loadProgram } from '../../platform/load-program.js';

/** What the thread for rules starts with; started by `RuleThread` alone. */
await loadProgram('rule-thread-main', () => import('./rule-thread-main.js'));
