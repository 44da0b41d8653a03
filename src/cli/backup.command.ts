import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { StoreFiles } from '../api/store-files.port.js';
import type { AppConfig } from '../config/app-config.js';
import { UserError } from '../core/errors.js';
import { plain, print, tableOfCounts } from './print.js';
import { reachRunning } from './reach-bot.js';
import { colour, writeErr } from './terminal.js';
import { storeCommand, type BotOptions } from './bot-command.js';

interface BackupCommandOptions extends BotOptions {
  readonly verify: boolean;
}

export function backupCommand(): Command {
  return storeCommand(
    'backup',
    'write the whole store into one file, while the bot runs; every table is counted and compared',
  )
    .argument('<file>', 'a new file; it holds deliveries, so it is readable by its owner alone')
    .option('--verify', 'check the counts and digests of a file that is there; needs no store and no config', false)
    .action((file: string, options: BackupCommandOptions) =>
      options.verify ? verify(resolve(file), options) : backUp(resolve(file), options),
    );
}

async function backUp(file: string, { config: configFile, json }: BackupCommandOptions): Promise<void> {
  const [{ readConfig }, { backUpStore }] = await Promise.all([
    import('../config/read-config.js'),
    import('../store/backup.js'),
  ]);
  const config = readConfig(configFile, { reader: 'command' });
  // Before a bot is made to wait for nothing.
  if (existsSync(file))
    throw new UserError('BACKUP_EXISTS', `${file} already exists: choose another name, or remove it`);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort(new UserError('STOPPED', 'stopped: no backup was made')));
  const copy = await filesOfRunningBot(config);
  try {
    const report = await backUpStore(config, file, { progress: sayTable, signal: stop.signal, copy: copy?.dir });
    const rows = report.tables.reduce((sum, one) => sum + one.rows, 0);
    print(json, { ok: true, rows, ...report, pauseMs: copy?.pauseMs ?? 0 }, () =>
      [
        tableOfCounts(report.tables),
        `${colour.green('ok')} ${rows} rows in ${plain(file)} (${report.bytes} bytes), counted and compared with the store`,
        ...(copy ? [`the bot waited ${copy.pauseMs} ms for the copy of its files`] : []),
        `next: keep the data key too, in another place. It is not in the file: ${keyOf(config)}`,
      ].join('\n'),
    );
  } finally {
    if (copy) rmSync(copy.dir, { recursive: true, force: true });
  }
}

/** An embedded store belongs to its bot, which copies its files for us; null = no bot runs, or the store is a server. */
async function filesOfRunningBot(config: AppConfig): Promise<StoreFiles | null> {
  const bot = config.store.kind === 'embedded' ? await reachRunning(config) : null;
  if (!bot) return null;
  sayTable('the files, as the bot copies them');
  const copy = await bot.call('copyStoreFiles').catch((error: unknown) => {
    if ((error as UserError).code !== 'Not Found') throw error;
    throw new UserError(
      'STORE_IN_USE',
      'another command has the store, or the bot is of a version without backups: wait for it, or update the bot',
    );
  });
  if (!existsSync(copy.dir))
    throw new UserError(
      'OTHER_MACHINE',
      `the bot copied its files to ${copy.dir}, which is not on this machine: run the command where the bot runs`,
    );
  return copy;
}

function keyOf({ keys, store }: AppConfig): string {
  return keys.data || store.kind !== 'embedded' ? 'keys.data of the config' : `${plain(store.dir)}/data.key`;
}

async function verify(file: string, { json }: BackupCommandOptions): Promise<void> {
  const { verifyBackup } = await import('../store/backup.js');
  const { header, bytes, tables } = await verifyBackup(file, sayTable);
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  print(json, { ok: true, rows, file, bytes, program: header.program, madeAt: header.madeAt, tables }, () =>
    [
      tableOfCounts(tables),
      `${colour.green('ok')} ${rows} rows in ${plain(file)}, made by forgehand ${plain(header.program)} at ${plain(header.madeAt)}: every count and digest holds`,
    ].join('\n'),
  );
}

function sayTable(table: string): void {
  writeErr(`reading ${table}\n`);
}
