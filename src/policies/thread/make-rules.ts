import { existsSync } from 'node:fs';
import { BoundedPureRules, BoundedRuleEngine } from './bounded-rules.js';
import { RuleThread } from './rule-thread.js';
import { PureRuleEngine } from '../pure-rule-engine.js';
import type { ExpressionEngine } from '../../rules/language/expression-engine.js';

const PROGRAM = new URL('./rule-thread-program.js', import.meta.url);

/** The thread for rules; null where the product runs from its sources, which no thread can load: then the meter alone bounds what rules do. */
export function makeRuleThread(restMs?: number): RuleThread | null {
  return existsSync(PROGRAM) ? new RuleThread({ url: PROGRAM }, restMs) : null;
}

export function makeRules(thread: RuleThread | null, engine: ExpressionEngine): PureRuleEngine | BoundedRuleEngine {
  const pure = new PureRuleEngine(engine);
  return thread ? new BoundedRuleEngine(pure, thread) : pure;
}

export function makePureRules(pure: PureRuleEngine, thread: RuleThread | null): PureRuleEngine | BoundedPureRules {
  return thread ? new BoundedPureRules(pure, thread) : pure;
}
