import { loadProgram } from '../../platform/load-program.js';

/** What the thread for drafts starts with; started by `RuleThread` alone. */
await loadProgram('try-thread-main', () => import('./try-thread-main.js'));
