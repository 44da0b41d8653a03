import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import type { StoreConfig } from '../config/app-config.js';
import { CONFIG_PLACES, findConfig } from '../config/find-config.js';
import { Secret } from '../core/secret.js';

/** Where a command says how it ended. */
export type SetExit = (code: number) => void;

export const configOption = (): Option =>
  new Option('-c, --config <file>', 'the operator config')
    .default(findConfig(), `the first of ${CONFIG_PLACES.join(', ')}`)
    .env('FORGEHAND_CONFIG');
export const jsonOption = (): Option => new Option('--json', 'print JSON').default(false);
export const orgOption = (): Option => new Option('--org <name>', 'only this organization');
/** Of an order: recorded with the name of whoever gives it. */
export const reasonOption = (): Option => new Option('--reason <text>', 'reason for the act, recorded with your name');
export const limitOption = (): Option =>
  new Option('-n, --limit <count>', 'maximum number of rows').default(20).argParser(wholeNumber(1, 1000));

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < min || value > max)
      throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}.`);
    return value;
  };
}

/** A URL may hold a password, and a command line is read by everybody on the machine: hence also from the environment. */
export function storeOption(flags: string, about: string, variable: string): Option {
  return new Option(flags, about).env(variable).argParser(storeAddress);
}

function storeAddress(text: string): StoreConfig {
  if (text.startsWith('embedded:') && text.length > 'embedded:'.length)
    return { kind: 'embedded', dir: resolve(text.slice('embedded:'.length)) };
  if (/^postgres(ql)?:\/\//.test(text)) return { kind: 'postgres', url: new Secret(text) };
  throw new InvalidArgumentError('expected embedded:DIR or postgres://….');
}
