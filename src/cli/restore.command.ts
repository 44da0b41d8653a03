import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { RestoreReport } from '../store/backup.js';
import type { AppConfig, StoreConfig } from '../config/app-config.js';
import { configOption, jsonOption, storeOption } from './command-options.js';
import { plain, print, tableOfCounts } from './print.js';
import { colour, writeErr } from './terminal.js';

interface RestoreCommandOptions {
  readonly config: string;
  readonly to?: StoreConfig;
  readonly socket?: string;
  readonly json: boolean;
}

export function restoreCommand(): Command {
  return new Command('restore')
    .description(
      'restore a backup into an empty store, all or nothing; for archived arrivals use `forgehand housekeeping restore`',
    )
    .argument('<file>', 'file that `forgehand backup` wrote')
    .addOption(
      storeOption(
        '--to <store>',
        'the empty store: embedded:DIR or postgres://…; without it, the one of the config',
        'FORGEHAND_RESTORE_TO',
      ),
    )
    .addOption(
      new Option(
        '--socket <path>',
        'with --to embedded:DIR: control socket, where the config names another than DIR/run/control.sock',
      ),
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action(restore);
}

async function restore(path: string, { config: configFile, to, socket, json }: RestoreCommandOptions): Promise<void> {
  const file = resolve(path);
  const { restoreStore } = await import('../store/backup.js');
  const sayTable = (table: string): void => writeErr(`restoring ${table}\n`);
  const config = to ? null : await configOf(configFile);
  const target = to ?? (config as AppConfig).store;
  const report = await restoreStore(file, target, {
    progress: sayTable,
    socket: config?.control.socket ?? socket,
    dataKey: config?.keys.data ?? null,
  });
  const { header, tables, migrated, dataKey, bytes } = report;
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  print(
    json,
    { ok: true, rows, file, bytes, tables, program: header.program, madeAt: header.madeAt, migrated, dataKey },
    () =>
      [
        tableOfCounts(tables),
        `${colour.green('ok')} ${rows} rows of ${plain(header.madeAt)}, counted and compared with the file`,
        ...(migrated > 0
          ? [
              `the backup was made by forgehand ${plain(header.program)}: ${migrated} migrations brought its tables up to date`,
            ]
          : []),
        ...aboutKey(dataKey, target),
      ].join('\n'),
  );
}

async function configOf(file: string): Promise<AppConfig> {
  const { readConfig } = await import('../config/read-config.js');
  return readConfig(file, { reader: 'command' });
}

function aboutKey(dataKey: RestoreReport['dataKey'], to: StoreConfig): string[] {
  const place =
    to.kind === 'embedded' ? `${plain(to.dir)}/data.key, or keys.data of the config` : 'keys.data of the config';
  if (dataKey === 'same') return [];
  if (dataKey === 'other')
    return [
      `${colour.yellow('warning')} the data key here is not the one of the backup: put the old one into ${place}, before the bot starts`,
    ];
  return [
    `next: put the data key of the old store into ${place}, before the bot starts; with another key it opens nothing that was sealed`,
  ];
}
