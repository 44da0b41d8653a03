import { Option } from 'commander';
import type { About, EffectCount } from '../insight/about-run.js';
import { plain, state } from './print.js';
import { colour } from './terminal.js';

/** Options of the lists of what happened. */
export interface ListOptions {
  readonly json: boolean;
  readonly limit: number;
  readonly all: boolean;
  readonly before?: string;
}

export const allOption = (): Option =>
  new Option('--all', 'also what changed nothing. JSON always has it').default(false);
export const beforeOption = (): Option => new Option('--before <id>', 'the page before this one');

/** Scripts read everything; people read what changed something, unless they ask. */
export function hidesUnchanged({ json, all }: ListOptions): boolean {
  return !json && !all;
}

/** What stands below a list: what it leaves out, and how to go on. */
export function footer(shown: number, lastId: string | undefined, options: ListOptions): string {
  const lines = [
    ...(hidesUnchanged(options) ? ['what changed nothing is left out: --all shows it'] : []),
    ...(shown === options.limit && lastId !== undefined ? [`older ones: --before ${lastId}`] : []),
  ];
  return lines.map((line) => `\n${colour.dim(line)}`).join('');
}

/** `acme/app #12`; empty where it is about the organization. */
export function aboutText(about: About | null): string {
  return plain([about?.repo, about?.subject].filter((part) => typeof part === 'string').join(' '));
}

/** `label.ensure ×13 done`: a reason stands where the effect was not simply made or found. */
export function effectsText(effects: readonly EffectCount[]): string {
  return effects.map(effectText).join('; ');
}

function effectText({ action, state: of, mode, reason, count }: EffectCount): string {
  const many = count > 1 ? ` ×${count}` : '';
  const why = reason === null || of === 'unchanged' ? '' : `: ${plain(reason)}`;
  return `${action}${many} ${state(of)}${mode === 'dry-run' ? ' (dry-run)' : ''}${why}`;
}
