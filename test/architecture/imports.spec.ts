import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const SRC = resolve('src');

/** Folder -> folders it may import from, in the order of the data. Ports and types of a later folder are listed in PORTS. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  config: ['core', 'rules', 'observability'],
  forge: ['core'],
  observability: ['core'],
  inbox: ['core', 'events'],
  events: ['core', 'inbox'],
  ingest: ['core', 'inbox', 'events', 'forge', 'observability'],
  rules: ['core'],
  policies: ['core', 'rules'],
  journal: ['core', 'events', 'inbox', 'rules', 'policies'],
  queue: ['core'],
  actions: ['core', 'forge', 'rules'],
  execute: ['core', 'forge', 'actions', 'journal', 'inbox', 'observability'],
  history: ['core', 'rules', 'journal', 'inbox', 'events'],
  housekeeping: ['core', 'rules', 'policies', 'journal', 'inbox', 'forge'],
  admin: ['events', 'core', 'inbox', 'journal', 'housekeeping', 'observability', 'config', 'rules'],
  database: ['core', 'config', 'inbox', 'journal', 'ingest', 'housekeeping'],
  sandbox: ['core', 'forge'],
  cli: ['core', 'config', 'admin', 'sandbox', 'rules', 'policies', 'history', 'actions', 'journal', 'inbox', 'forge', 'observability', 'wiring', '.'],
  // Makes the parts and hands them to one another: the only place that may know all of them.
  wiring: [
    'core',
    'config',
    'ingest',
    'inbox',
    'events',
    'rules',
    'policies',
    'journal',
    'queue',
    'execute',
    'actions',
    'forge',
    'history',
    'housekeeping',
    'admin',
    'database',
    'observability',
  ],
  '.': [
    'core',
    'config',
    'ingest',
    'events',
    'journal',
    'queue',
    'execute',
    'forge',
    'history',
    'housekeeping',
    'policies',
    'admin',
    'database',
    'observability',
    'wiring',
  ],
};

/** Files that anybody may import: ports (interfaces with their token) and plain types. */
const PORTS = [
  'queue/wake-queue.ts',
  'inbox/inbox-store.ts',
  'inbox/arrival.ts',
  'journal/journal-store.ts',
  'journal/run.ts',
  'journal/rollout-store.ts',
  'journal/deadly-work.ts',
  'housekeeping/tick-store.ts',
  'housekeeping/seen-repositories.ts',
  'housekeeping/known-facts.ts',
  'ingest/polling/cursor-store.ts',
  'config/revision-store.ts',
  'config/app-config.ts',
  'config/rule-sources/rule-repository.ts',
  'rules/revision.ts',
  'rules/expression-engine.ts',
  'journal/rule-engine.ts',
  'admin/control-service.ts',
  'admin/operator-store.ts',
  'history/explanation.ts',
  'history/gap-store.ts',
  'policies/plan-store.ts',
  'policies/finding-store.ts',
  'policies/policy-plan.ts',
  'history/history-store.ts',
];

/** Library -> the only places that may import it (prefixes below src/). */
const HOMES: Record<string, readonly string[]> = {
  axios: ['forge/http/'],
  bull: ['queue/'],
  '@nestjs/bull': ['queue/', 'app.module.ts'],
  ioredis: ['queue/'],
  typeorm: ['database/'],
  '@nestjs/typeorm': ['database/', 'app.module.ts'],
  pg: ['database/'],
  '@electric-sql/pglite': ['database/'],
  'prom-client': ['observability/'],
  pino: ['observability/'],
  '@bufbuild/cel': ['rules/'],
  re2js: ['rules/'],
  commander: ['cli/'],
  'cli-table3': ['cli/'],
  undici: ['sandbox/', 'admin/', 'cli/'],
  croner: ['housekeeping/', 'rules/'],
  '@nestjs/schedule': ['housekeeping/', 'history/gaps/', 'ingest/polling/', 'app.module.ts'],
};

interface Import {
  file: string;
  target: string;
  typeOnly: boolean;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts') && !name.endsWith('.d.ts'))
    .map((name) => join(folder, name));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const found: Import[] = [];
  for (const match of text.matchAll(/^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm)) {
    found.push({ file, target: match[2] ?? '', typeOnly: match[1] !== undefined });
  }
  for (const match of text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)) found.push({ file, target: match[1] ?? '', typeOnly: false });
  return found;
}

const inSrc = (file: string): string => relative(SRC, file).split(sep).join('/');
const folderOf = (path: string): string => (path.includes('/') ? (path.split('/')[0] ?? '.') : '.');
const all = sources(SRC).flatMap(importsOf);

describe('architecture/imports', () => {
  it('finds the sources', () => {
    expect(all.length).toBeGreaterThan(100);
  });

  it('follows the order of the data', () => {
    const wrong = all
      .filter(({ target }) => target.startsWith('.'))
      .map(({ file, target }) => ({ from: inSrc(file), to: inSrc(resolve(dirname(file), target)).replace(/\.js$/, '.ts') }))
      .filter(({ from, to }) => {
        const [a, b] = [folderOf(from), folderOf(to)];
        return a !== b && b !== 'core' && !PORTS.includes(to) && !(MAY_IMPORT[a] ?? []).includes(b);
      })
      .map(({ from, to }) => `${from} -> ${to}`);

    expect(wrong).toEqual([]);
  });

  it('keeps each library in its home', () => {
    const wrong = all
      .filter(({ target, typeOnly, file }) => {
        const name = target.startsWith('@') ? target.split('/').slice(0, 2).join('/') : (target.split('/')[0] ?? '');
        const homes = HOMES[name];
        return homes !== undefined && !typeOnly && !homes.some((home) => inSrc(file).startsWith(home));
      })
      .map(({ file, target }) => `${inSrc(file)} imports ${target}`);

    expect(wrong).toEqual([]);
  });

  it('keeps Nest out of core, rules and actions', () => {
    const wrong = all
      .filter(({ file, target }) => target.startsWith('@nestjs/') && ['core', 'rules', 'actions', 'policies', 'events'].includes(folderOf(inSrc(file))))
      .map(({ file }) => inSrc(file));

    expect(wrong).toEqual([]);
  });

  it('lets nobody import cli, and sandbox share only the operations table', () => {
    const local = all
      .filter(({ target }) => target.startsWith('.'))
      .map(({ file, target, typeOnly }) => ({ from: inSrc(file), to: inSrc(resolve(dirname(file), target)), typeOnly }));

    expect(local.filter(({ from, to }) => folderOf(to) === 'cli' && folderOf(from) !== 'cli')).toEqual([]);
    expect(
      local.filter(
        ({ from, to, typeOnly }) => folderOf(from) === 'sandbox' && folderOf(to) === 'forge' && !typeOnly && !/^forge\/(operations|define-operation)/.test(to),
      ),
    ).toEqual([]);
  });

  it('reads the environment in config alone', () => {
    const wrong = sources(SRC)
      .filter((file) => /process\.env/.test(readFileSync(file, 'utf8')) && folderOf(inSrc(file)) !== 'config')
      .map(inSrc);

    expect(wrong).toEqual([]);
  });

  it('never reads recordings', () => {
    const wrong = sources(SRC)
      .filter((file) => /recordings\//.test(readFileSync(file, 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')))
      .map(inSrc);

    expect(wrong).toEqual([]);
  });
});
