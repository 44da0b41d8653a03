import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const FOLDER = resolve('test/simulation');
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }));
const imported = (text: string): string[] =>
  [...text.matchAll(/^import (?!type )[^'"]*from '([^']+)';/gm)].map((match) => match[1] ?? '');

/** What decides and does in the program; the simulation runs these and none of its own. */
const CORE = [
  'webhooks/receive-delivery.js',
  'pipeline/receive.js',
  'events/deduplicate.js',
  'policies/pure-rule-engine.js',
  'pipeline/decide.js',
  'pipeline/execute.js',
  'pipeline/execute/settle.js',
  'pipeline/recover.js',
  'pipeline/decide/detect-echoes.js',
  'pipeline/decide/decide-turns.js',
  'pipeline/store-poll.js',
  'pipeline/execute/executor.js',
  'pipeline/execute/prepare-effect.js',
  'housekeeping/scheduler.js',
  'polling/feed-poller.js',
  'pipeline/decide/rollout.js',
  'policies/planner.js',
  'rules/revisions/rule-status.js',
  'actions/index.js',
];

describe('architecture/simulation', () => {
  it('runs the production modules of the core', () => {
    const taken = files
      .filter(({ name }) => name === 'bot.ts' || name === 'ports.ts')
      .flatMap(({ text }) => imported(text));

    expect(CORE.filter((module) => !taken.includes(`../../src/${module}`))).toEqual([]);
  });

  it('has doubles of ports alone', () => {
    const fakes = files.flatMap(({ text }) => imported(text)).filter((path) => path.includes('/fakes/'));

    expect([...new Set(fakes)].sort()).toEqual([
      '../../fakes/fake-forge.js',
      '../../fakes/in-memory-cursor-store.js',
      '../../fakes/in-memory-inbox-store.js',
      '../../fakes/in-memory-journal-store.js',
      '../../fakes/in-memory-plan-store.js',
      '../../fakes/in-memory-rollout-store.js',
      '../../fakes/in-memory-seen-repositories.js',
      '../../fakes/in-memory-tick-store.js',
      '../fakes/fake-messenger.js',
      '../fakes/honest-acts.js',
    ]);
  });

  it('is unknown to the program', () => {
    const src = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'),
    );

    expect(
      src.filter((name) => /test\/simulation|isSimulated|plantedBug/.test(readFileSync(join('src', name), 'utf8'))),
    ).toEqual([]);
  });
});
