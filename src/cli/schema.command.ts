import { Command } from 'commander';
import { stringifyJson } from '../core/json.js';

/** Editors: `# yaml-language-server: $schema=forgehand.schema.json` on the first line of a rule file. */
export function schemaCommand(): Command {
  return new Command('schema').description('the JSON Schema of rule files, for completion and hover in editors').action(async () => {
    const [{ ruleSchema }, { actionCatalogue }, { lookupCatalogue }] = await Promise.all([
      import('../rules/rule-schema.js'),
      import('../actions/index.js'),
      import('../actions/lookups/index.js'),
    ]);
    process.stdout.write(`${stringifyJson(ruleSchema({ actions: actionCatalogue(), lookups: lookupCatalogue() }), 2)}\n`);
  });
}
