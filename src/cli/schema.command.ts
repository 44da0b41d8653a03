import { Command } from 'commander';
import { stringifyJson } from '../core/json.js';
import { writeOut } from './terminal.js';

/** Editors: `# yaml-language-server: $schema=forgehand.schema.json` on the first line of a rule file. */
export function schemaCommand(): Command {
  return new Command('schema')
    .description('print the JSON Schema of rule files, for completion in editors')
    .option('--config', 'print the schema of the config file instead')
    .action(async ({ config }: { config?: true }) => {
      writeOut(`${stringifyJson(config ? await ofConfig() : await ofRules(), 2)}\n`);
    });
}

async function ofConfig(): Promise<unknown> {
  const { configJsonSchema } = await import('../config/config-schema.js');
  return configJsonSchema();
}

/** The JSON Schema of rule files. */
export async function ofRules(): Promise<unknown> {
  const [{ ruleSchema }, { actionCatalogue }, { lookupCatalogue }, { builtInSets }] = await Promise.all([
    import('../rules/language/rule-schema.js'),
    import('../actions/index.js'),
    import('../actions/lookups/index.js'),
    import('../rules/sources/built-in-sets.js'),
  ]);
  return ruleSchema({ actions: actionCatalogue(), lookups: lookupCatalogue(), sets: [...builtInSets().keys()] });
}
