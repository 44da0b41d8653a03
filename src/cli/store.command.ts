import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { StoreConfig } from '../config/app-config.js';
import { UserError } from '../core/errors.js';
import { Secret } from '../core/secret.js';
import { jsonOption } from './command-options.js';
import { print, table } from './print.js';
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
    .addOption(address('--from <store>', 'embedded:DIR or postgres://…', 'FORGEHAND_COPY_FROM'))
    .addOption(address('--to <store>', 'empty store: embedded:DIR or postgres://…', 'FORGEHAND_COPY_TO'))
    .addOption(new Option('--socket <path>', 'control socket of the embedded store. Default: DIR/run/control.sock'))
    .addOption(jsonOption())
    .action(async ({ from, to, socket, json }: CopyOptions) => {
      if (from.kind === 'embedded' && to.kind === 'embedded' && from.dir === to.dir) throw new UserError('SAME_STORE', 'from and to are the same store');
      const { copyStore } = await import('../copy-store.js');
      const tables = await copyStore(from, to, { socket, told: (name) => (json ? undefined : writeErr(`copying ${name}\n`)) });
      const rows = tables.reduce((sum, one) => sum + one.rows, 0);
      print(json, { ok: true, rows, tables }, () =>
        [
          table(
            ['table', 'rows'],
            tables.map((one) => [one.name, String(one.rows)]),
            'no tables',
          ),
          `${colour.green('ok')} ${rows} rows, counted and compared in both stores`,
          ...next(from, to),
        ].join('\n'),
      );
    });
}

/** A URL may hold a password, and a command line is read by everybody on the machine: hence also from the environment. */
function address(flags: string, about: string, variable: string): Option {
  return new Option(flags, about).env(variable).makeOptionMandatory().argParser(storeAddress);
}

/** What is sealed in the store is opened by the key alone, which is never copied into a database. */
function next(from: StoreConfig, to: StoreConfig): string[] {
  if (from.kind !== 'embedded' || to.kind !== 'postgres') return [];
  return [`next: keys.data of the config must be the key of ${from.dir} (its file data.key, unless the config named one already); then store.url`];
}

function storeAddress(text: string): StoreConfig {
  if (text.startsWith('embedded:') && text.length > 'embedded:'.length) return { kind: 'embedded', dir: resolve(text.slice('embedded:'.length)) };
  if (/^postgres(ql)?:\/\//.test(text)) return { kind: 'postgres', url: new Secret(text) };
  throw new InvalidArgumentError('embedded:DIR or postgres://… is wanted.');
}
