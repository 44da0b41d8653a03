import { Command, Option } from 'commander';
import type { StoreConfig } from '../config/app-config.js';
import { UserError } from '../core/errors.js';
import { jsonOption, storeOption } from './command-options.js';
import { print, tableOfCounts } from './print.js';
import { colour, writeErr } from './terminal.js';

interface CopyOptions {
  from: StoreConfig;
  to: StoreConfig;
  socket?: string;
  json: boolean;
}

/** `forgehand store copy`: growing from the embedded store to a server, or back. */
export function storeCommands(): Command {
  return new Command('store').description('copy stores').addCommand(copyCommand());
}

function copyCommand(): Command {
  return new Command('copy')
    .description('copy a store into an empty one and verify every table; no bot may be running')
    .addOption(
      storeOption('--from <store>', 'embedded:DIR or postgres://…', 'FORGEHAND_COPY_FROM').makeOptionMandatory(),
    )
    .addOption(
      storeOption(
        '--to <store>',
        'empty store: embedded:DIR or postgres://…',
        'FORGEHAND_COPY_TO',
      ).makeOptionMandatory(),
    )
    .addOption(new Option('--socket <path>', 'control socket of the embedded store. Default: DIR/run/control.sock'))
    .addOption(jsonOption())
    .action(async ({ from, to, socket, json }: CopyOptions) => {
      if (from.kind === 'embedded' && to.kind === 'embedded' && from.dir === to.dir)
        throw new UserError('SAME_STORE', 'from and to are the same store');
      const { copyStore } = await import('../store/copy-store.js');
      const tables = await copyStore(from, to, {
        socket,
        progress: (name) => (json ? undefined : writeErr(`copying ${name}\n`)),
      });
      const rows = tables.reduce((sum, one) => sum + one.rows, 0);
      print(json, { ok: true, rows, tables }, () =>
        [
          tableOfCounts(tables),
          `${colour.green('ok')} ${rows} rows, counted and compared in both stores`,
          ...next(from, to),
        ].join('\n'),
      );
    });
}

/** What is sealed in the store is opened by the key alone, which is never copied into a database. */
function next(from: StoreConfig, to: StoreConfig): string[] {
  if (from.kind !== 'embedded' || to.kind !== 'postgres') return [];
  return [
    `next: keys.data of the config must be the key of ${from.dir} (its file data.key, unless the config named one already); then store.url`,
  ];
}
