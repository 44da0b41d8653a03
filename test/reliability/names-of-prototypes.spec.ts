import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { given } from '../builders/given.js';
import { ManualClock } from '../fakes/manual-clock.js';
import { aLoadEnvironment } from '../builders/rule-environment.js';
import { REPOSITORY, SAMPLE_BODIES, SENDER } from '../builders/sample-bodies.js';
import { Secret } from '../../src/core/secret.js';
import { parseConfig } from '../../src/config/read-config.js';
import { InvalidFile } from '../../src/core/errors.js';
import { Misfit } from '../../src/events/event-fact.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { fromForgejoRun } from '../../src/core/objects/forgejo-run.js';
import { receiveDelivery } from '../../src/webhooks/receive-delivery.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';

/** What every object of JavaScript has, and no table of ours. */
const WORDS = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];

const TYPES = Object.keys(SAMPLE_BODIES);
const KEY = 'a secret of the hook that is long enough';
const HOOK = { id: 'acme', org: 'acme', forge: 'main', secrets: [new Secret(KEY)], authorizations: [] };
const OF_PROTOTYPES = /native code|\[object |=> \{|function [\w$]*\(/;

/** What the door and the worker make of it, in words. */
function told(headers: Readonly<Record<string, string>>, body: object): string {
  const bytes = Buffer.from(JSON.stringify(body));
  const signed = { ...headers, 'x-gitea-signature': createHmac('sha256', KEY).update(bytes).digest('hex') };
  const received = given(receiveDelivery(HOOK, { headers: signed, encoding: 'json', body: bytes }, new ManualClock()));
  const read = readDelivery({ ...received, text: bytes.toString() });
  return read instanceof Misfit
    ? `misfit ${read.code} ${read.reason}`
    : `${read.eventType} ${String(read.fact.kind)} ${read.fact.factKey}`;
}

const CONFIG = `
forges: [{ id: main, base_url: "https://git.example.org/api/v1/", auth: { type: token, token: { env: FORGE_TOKEN } } }]
orgs: [{ name: acme, forge: main, hooks: [{ id: acme, secret: { env: HOOK } }], rules: { path: rules } }]
store: { url: "embedded:./data" }
`;

/** The messages with hints, or none. */
function problemsOf(text: string): string[] {
  const result = loadRules(
    [{ path: 'r.yaml', text: `version: 1\norg: acme\n${text}` }],
    aLoadEnvironment({ checkTypes: true }),
  );
  return result.ok ? [] : result.problems.map(({ message, hint }) => `${message} (${hint ?? ''})`);
}

const rule = (lines: string): string => `rules:\n  - id: x\n    on: push\n${lines}`;
const DO = '    do: {label.ensure: {name: a, color: "#ffffff"}}\n';

describe.each(WORDS)('reliability/names-of-prototypes: %s', (word) => {
  it.each(TYPES)('is no action, no event type and no family of %s', (type) => {
    const body = { ...SAMPLE_BODIES[type], action: word };
    for (const headers of [
      { 'x-gitea-event': type, 'x-gitea-event-type': type },
      { 'x-gitea-event': word, 'x-gitea-event-type': type },
      { 'x-gitea-event': type, 'x-gitea-event-type': word },
      { 'x-gitea-event': type },
      { 'x-gitea-event': 'issues' },
      { 'x-gitea-event': 'pull_request' },
      { 'x-gitea-event': word },
    ]) {
      const outcome = told(headers, body);

      expect(outcome).not.toMatch(OF_PROTOTYPES);
      expect(outcome).not.toMatch(/undefined/);
    }
    expect(({} as Record<string, unknown>)[type]).toBeUndefined();
  });

  it('is no word of a feed row, a task row or a run of a forge', () => {
    const row = {
      id: 900,
      act_user: SENDER,
      repo_id: 37,
      repo: REPOSITORY,
      content: '',
      created: '2026-11-20T19:34:37+01:00',
      op_type: word,
    };
    const task = { id: 12, name: 'ci', status: word, repository: REPOSITORY, created_at: '2026-11-20T19:34:37+01:00' };
    for (const [source, entry] of [
      ['feed', row],
      ['tasks', task],
    ] as const) {
      const facts = normalizeEntry({ org: 'acme', source, text: JSON.stringify(entry), textHash: 'h' });

      expect(
        facts instanceof Misfit ? [] : facts.map(({ kind }) => kind).filter((kind) => kind !== 'unrecognized'),
      ).toEqual([]);
    }
    expect(fromForgejoRun({ index_in_repo: 1, status: word })).toMatchObject({ status: word });
  });

  it('is no key, no parameter, no variable and no hint of a rule file', () => {
    const wrong = [
      rule(`    ${word}: 1\n${DO}`),
      rule(`    where: {${word}: a}\n${DO}`),
      rule(`    do: {label.ensure: {name: a, color: "#ffffff", ${word}: 1}}\n`),
      rule(`    do: {${word}: {name: a}}\n`),
      rule(`    if: event.${word} == "a"\n${DO}`),
      rule(`    if: vars.${word} == "a"\n${DO}`),
      rule(`    if: lookups.${word} == null\n${DO}`),
      rule(`    if: ${word} == "a"\n${DO}`),
      rule(`    if: ${word}(event) == "a"\n${DO}`),
      rule(`    if: event.ref ${word} "a"\n${DO}`),
      rule(`    if: size([{"${word}": 1}, {"a": 1}].map(x, x.b)) > 0\n${DO}`),
      `rules:\n  - id: x\n    on: ${word}\n${DO}`,
      `policies:\n  - id: x\n    ${word}: []\n`,
      `${word}: 1\n`,
    ];
    for (const text of wrong) {
      const problems = problemsOf(text);

      expect([text, problems.length]).not.toEqual([text, 0]);
      expect(problems.join('\n')).not.toMatch(OF_PROTOTYPES);
    }
    expect(problemsOf(rule(`    if: '[{"${word}": 1}, {"a": 1}].exists(x, has(x.a))'\n${DO}`)).join()).not.toMatch(
      OF_PROTOTYPES,
    );
  });

  it('is no key and no environment variable of the config', () => {
    const read = (text: string): string => {
      try {
        parseConfig('/etc/forgehand.yaml', text, { env: { FORGE_TOKEN: 't', HOOK: KEY } });
        return '';
      } catch (error) {
        if (!(error instanceof InvalidFile)) throw error;
        return error.problems.map(({ message, hint }) => `${message} (${hint ?? ''})`).join('\n');
      }
    };

    for (const text of [
      `${CONFIG}${word}: 1\n`,
      CONFIG.replace('id: main', `id: main, ${word}: 1`),
      CONFIG.replace('FORGE_TOKEN', word),
      CONFIG.replace('HOOK', word),
    ]) {
      const problems = read(text);

      expect(problems).not.toBe('');
      expect(problems).not.toMatch(OF_PROTOTYPES);
    }
  });
});
