import type { ForgeEvent } from './event.js';
import { isJsonObject, type Json } from './json.js';

/** What an event is about within its repository, as people name it: `#12`, `tag v1.2`, `branch main`. Null = the repository itself. */
export function subjectOf({ data }: Pick<ForgeEvent, 'data'>): string | null {
  const number =
    numberOf(data['number']) ??
    numberOf(fieldOf(data['issue'], 'number')) ??
    numberOf(fieldOf(data['pull_request'], 'number'));
  if (number !== null) return `#${number}`;
  const named: ReadonlyArray<readonly [word: string, name: Json | undefined]> = [
    ['package', fieldOf(data['package'], 'name')],
    ['page', data['page']],
    ['job', fieldOf(data['task'], 'name')],
    ['workflow', fieldOf(data['workflow'], 'name') ?? fieldOf(data['run'], 'title')],
    ['tag', data['tag'] ?? fieldOf(data['release'], 'tag_name')],
    ['branch', data['branch']],
  ];
  for (const [word, name] of named) if (typeof name === 'string' && name !== '') return `${word} ${name}`;
  const sha = data['sha'];
  return typeof sha === 'string' && sha !== '' ? `commit ${sha.slice(0, 10)}` : null;
}

function fieldOf(value: Json | undefined, name: string): Json | undefined {
  return value !== undefined && isJsonObject(value) ? value[name] : undefined;
}

/** A number of an issue or pull request, as text; null = the value is none. */
export function numberOf(value: Json | undefined): string | null {
  const isNumber =
    typeof value === 'number' || typeof value === 'bigint' || (typeof value === 'string' && value !== '');
  return isNumber ? String(value) : null;
}
