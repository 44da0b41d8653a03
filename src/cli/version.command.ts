import { Command } from 'commander';
import { jsonOption } from './command-options.js';
import { VERSION } from '../platform/version.js';
import { print } from './print.js';

export function versionCommand(): Command {
  return new Command('version')
    .description('print the version')
    .addOption(jsonOption())
    .action((options: { json: boolean }) =>
      print(
        options.json,
        { version: VERSION, node: process.versions.node },
        () => `forgehand ${VERSION} (node ${process.versions.node})`,
      ),
    );
}
