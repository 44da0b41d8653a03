import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { UserError } from '../../core/errors.js';
import { word } from './operator-files.js';

const FOLDER = fileURLToPath(new URL('../../../config/rules/starters/', import.meta.url));

/** In the order in which they are offered. */
export const STARTER_NAMES = ['labels', 'stale', 'release-notes', 'milestones', 'mirrors'] as const;
export type StarterName = (typeof STARTER_NAMES)[number];

export interface StarterSet {
  readonly name: StarterName;
  /** What it does, in a sentence. */
  readonly about: string;
  /** For the organization acme, with a mirror at mirror.example.org. */
  readonly text: string;
}

export interface Mirror {
  /** Like `https://mirror.example.org/acme`: the name of the repository follows. */
  readonly address: string;
  readonly username: string;
}

/** @throws UserError where the program was installed without them */
export function starterSets(): StarterSet[] {
  try {
    readdirSync(FOLDER);
  } catch {
    throw new UserError('NO_STARTERS', `the starter sets are not there (${FOLDER}): pass --starters none`);
  }
  return STARTER_NAMES.map((name) => {
    const text = readFileSync(`${FOLDER}${name}.yaml`, 'utf8');
    return { name, about: text.slice(1, text.indexOf('\n')).trim(), text };
  });
}

/** A starter set as a rule file of the organization; editors find the schema by its first line. */
export function starterFile({ text }: StarterSet, org: string, mirror: Mirror | null): string {
  const own = text
    .replace('https://mirror.example.org/acme/', `${mirror?.address ?? 'https://mirror.example.org/acme'}/`)
    .replace('acme-mirror', JSON.stringify(mirror?.username ?? 'acme-mirror'))
    .replaceAll('"acme/*"', JSON.stringify(`${org}/*`))
    .replace(/^org: acme$/m, `org: ${word(org)}`);
  return `${SCHEMA_LINE}\n${own}`;
}

/** For editors with the YAML language server; the schema lies one folder above. */
export const SCHEMA_LINE = '# yaml-language-server: $schema=../forgehand.schema.json';
