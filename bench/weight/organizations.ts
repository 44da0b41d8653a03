import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Secret } from '../../src/core/secret.js';
import { makeRuleLoader } from '../../src/policies/rule-loader.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import type { ExpressionEngine } from '../../src/rules/language/expression-engine.js';
import type { Revision, RuleFile } from '../../src/rules/language/revision.js';
import { missingSets } from '../../src/rules/sources/shared-files.js';
import { aConfig } from '../../test/builders/a-config.js';
import { systemClock } from '../../src/core/clock.js';
import { organizationRules } from '../support/organization-rules.js';
import { POWERS } from './bots.js';

/** Loaded before those that are counted: what all organizations have in common is there then. */
const FIRST = 5;
const COUNTED = 40;

/**
 * Bytes of the JavaScript heap that the rules of a further organization take in one process, after a forced collection. `shared`: its own file extends the shipped
 * rules and says nothing more. `own`: the shipped rules are its own files, and no other organization has one of their expressions.
 */
export async function bytesOfOrganization(kind: 'shared' | 'own'): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heap = (): number => {
    for (let n = 0; n < 4; n += 1) collect();
    return process.memoryUsage().heapUsed;
  };
  const engine = new CelEngine();
  const names = Array.from({ length: FIRST + COUNTED }, (_, n) => `org-${n}`);
  const config = aConfig({
    orgs: names.map((name) => ({
      name,
      powers: POWERS,
      mirrorHosts: ['mirror.example.org'],
      secrets: { mirror_token: new Secret('a token') },
      limits: { merges: true },
    })),
  });
  const revisions: Revision[] = [];
  const expressions = kind === 'shared' ? engine : withOwnExpressions(engine, () => revisions.length);
  const loader = makeRuleLoader(expressions, config, { list: async () => [] }, systemClock, null);
  const load = async (org: string): Promise<void> => {
    const result = await loader.load(org, kind === 'shared' ? sharedBy(org) : ownedBy(org), true);
    if (!result.ok) throw new Error(`the rules of ${org} are refused: ${JSON.stringify(result.problems[0])}`);
    revisions.push(result.revision);
  };
  for (const org of names.slice(0, FIRST)) await load(org);
  useAllKept(engine);
  const before = heap();
  for (const org of names.slice(FIRST)) await load(org);
  useAllKept(engine);
  return (heap() - before) / COUNTED;
}

function ownedBy(org: string): RuleFile[] {
  const own = organizationRules().map(([name, text]) => ({
    path: `rules/${org}/${name}`,
    name,
    text: text.replaceAll(/\bacme\b/g, org),
  }));
  return [...own, ...missingSets(own, { builtInSets: true })];
}

function sharedBy(org: string): RuleFile[] {
  const shared = organizationRules().map(([name, text]) => ({
    path: `shared/${name}`,
    name: `extends:${name}`,
    shared: name,
    text: text.replaceAll(/^(?:org|secrets):.*\n/gm, '').replaceAll(/\bacme\//g, ''),
  }));
  const text = `version: 1\norg: ${org}\nsecrets: [mirror_token]\nextends: ${JSON.stringify(shared.map((file) => file.shared))}\n`;
  const files = [{ path: `rules/${org}/own.yaml`, name: 'own.yaml', text }, ...shared];
  return [...files, ...missingSets(files, { builtInSets: true })];
}

/** The engine keeps programs of the expressions used last, up to a bound: of these, no organization has one then. */
function useAllKept(engine: ExpressionEngine): void {
  for (let n = 0; n < 40; n += 1) engine.compile(`'${String(n).padEnd(4000, 'x')}' == ''`, []);
}

/** Spaces behind an expression make it another one to the engine. */
function withOwnExpressions(engine: ExpressionEngine, spaces: () => number): ExpressionEngine {
  return {
    bind: (value) => engine.bind(value),
    compile: (source, variables) => engine.compile(source + ' '.repeat(spaces()), variables),
  };
}
