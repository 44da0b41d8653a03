import type { MessagePort } from 'node:worker_threads';
import type { CompiledExpression, ExpressionEngine } from '../../rules/language/expression-engine.js';
import { CelEngine } from '../../rules/language/expressions/cel-engine.js';
import { loadRules } from '../../rules/language/load/load-rules.js';
import { expressionsOf } from '../../rules/language/propose/expressions-of.js';
import type { ActionFacts, LookupFacts, Revision } from '../../rules/language/revision.js';
import { PureRuleEngine } from '../pure-rule-engine.js';
import { ANSWERED, AT, BEGUN } from './messages.js';
import type { Answer, Numbered, Order } from './messages.js';

/** Revisions kept at once; those of the organizations of one bot. */
const MAX_KEPT = 32;

interface Served {
  readonly port: MessagePort;
  readonly memory: Int32Array;
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
  const revisions = new Map<number, Revision>();

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
      for (const key of revisions.keys()) if (revisions.size > MAX_KEPT) revisions.delete(key);
      return { kind: 'loaded', problems: [] };
    }
    const revision = revisions.get(order.key);
    if (!revision) return { kind: 'failed', message: 'this revision was not loaded' };
    return { kind: 'evaluated', evaluation: rules.evaluate(revision, order.candidate, order.facts, order.answers) };
  };

  port.on('message', ({ no, body }: Numbered<Order>) => {
    Atomics.store(memory, AT, -1);
    Atomics.store(memory, BEGUN, no);
    let told: Answer;
    try {
      told = answer(body);
    } catch (error) {
      told = { kind: 'failed', message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
    }
    port.postMessage({ no, body: told } satisfies Numbered<Answer>);
    Atomics.store(memory, ANSWERED, no);
    Atomics.notify(memory, ANSWERED);
  });
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
