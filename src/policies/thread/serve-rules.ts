import { LRUCache } from 'lru-cache';
import type { CompiledExpression, ExpressionEngine } from '../../rules/language/expression-engine.js';
import { CelEngine } from '../../rules/language/expressions/cel-engine.js';
import { loadRules } from '../../rules/language/load/load-rules.js';
import { expressionsOf } from '../../rules/language/propose/expressions-of.js';
import type { Revision } from '../../rules/language/revision.js';
import type { ActionFacts, LookupFacts } from '../../rules/language/catalogue.js';
import { PureRuleEngine } from '../pure-rule-engine.js';
import { AT } from './messages.js';
import type { Answer, Order } from './messages.js';
import { serveOrders, type ServedThread } from './serve-orders.js';

/** Revisions kept at once; those of the organizations of one bot. */
const MAX_KEPT = 32;

interface Served extends ServedThread {
  readonly actions: ReadonlyMap<string, ActionFacts>;
  readonly lookups: ReadonlyMap<string, LookupFacts>;
}

/** The thread's side: loads and evaluates as it is told, and shows in shared memory how far it is, for it may be ended at any moment. */
export function serveRules({ port, memory, actions, lookups }: Served): void {
  const places = new Map<CompiledExpression, number>();
  const engine = watched(new CelEngine(), (compiled) => {
    const place = places.get(compiled);
    if (place !== undefined) Atomics.store(memory, AT, place);
  });
  const rules = new PureRuleEngine(engine);
  const revisions = new LRUCache<number, Revision>({ max: MAX_KEPT });

  const answer = (order: Order): Answer => {
    if (order.kind === 'load') {
      const { powers, secrets, ...load } = order.load;
      const result = loadRules(load.files, {
        ...load,
        powers: new Set(powers),
        secrets: new Set(secrets),
        actions,
        lookups,
        engine,
      });
      if (!result.ok) return { kind: 'loaded', problems: result.problems };
      if (order.key === null) return { kind: 'loaded', problems: [] };
      revisions.set(order.key, result.revision);
      for (const { program } of [...result.revision.rules, ...result.revision.policies])
        for (const [place, { expression }] of expressionsOf(program).entries()) places.set(expression.compiled, place);
      return { kind: 'loaded', problems: [] };
    }
    const revision = revisions.get(order.key);
    if (!revision) return { kind: 'failed', message: 'this revision was not loaded' };
    return { kind: 'evaluated', evaluation: rules.evaluate(revision, order.candidate, order.facts, order.answers) };
  };

  serveOrders({ port, memory }, answer);
}

function watched(engine: ExpressionEngine, begins: (compiled: CompiledExpression) => void): ExpressionEngine {
  return {
    bind: (value) => engine.bind(value),
    compile: (source, variables) => {
      const inner = engine.compile(source, variables);
      const compiled: CompiledExpression = {
        ...inner,
        evaluate: (bindings, budget) => {
          begins(compiled);
          return inner.evaluate(bindings, budget);
        },
      };
      return compiled;
    },
  };
}
