import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { ForgeEvent } from '../../src/core/event.js';
import { formatProblem } from '../../src/core/problem.js';
import { stringifyJson } from '../../src/core/json.js';
import { PureRuleEngine } from '../../src/policies/pure-rule-engine.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import type { Revision } from '../../src/rules/language/revision.js';

export const RULES_FILE = resolve('test/recordings/rules.yaml');

/** What the rules of `rules.yaml` want when an event comes: a line for each run, with all its steps. */
export class RunsOfEvents {
  private readonly engine = new CelEngine();
  private readonly rules = new PureRuleEngine(this.engine);
  private readonly revision: Revision;

  constructor(text = readFileSync(RULES_FILE, 'utf8')) {
    const environment = {
      actions: actionCatalogue(),
      lookups: lookupCatalogue(),
      engine: this.engine,
      org: 'acme',
      powers: new Set<never>(),
      secrets: new Set<never>(),
    };
    const loaded = loadRules([{ path: 'test/recordings/rules.yaml', text }], environment);
    if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
    this.revision = loaded.revision;
  }

  of(event: ForgeEvent): string[] {
    return this.rules.candidates(this.revision, event, null).map((candidate) => {
      const facts = { org: event.org, event, repo: event.repo, bot: null, now: new Date(0) };
      const decided = this.rules.evaluate(this.revision, candidate, facts, {});
      if (decided.kind !== 'decided') return `${candidate.id} asks`;
      const steps = decided.steps.map((step) => stringifyJson(step)).join(' ');
      return `${candidate.id} on ${event.kind}: ${decided.report.verdict} ${decided.report.verdict === 'fired' ? steps : decided.report.reason}`;
    });
  }
}
