import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../../test/builders/arrivals.js';
import { aRule } from '../../../../test/builders/rule-environment.js';
import { CelEngine } from '../expressions/cel-engine.js';
import { windowOf, type Window } from './coalesce-key.js';

const engine = new CelEngine();
const event = anEvent({
  kind: 'push',
  repo: { id: '7', owner: 'acme', name: 'web', full_name: 'acme/web' },
  data: { branch: 'main', number: 3 },
});

function windowWith(coalesce: string): Window | null {
  const rule = aRule(`id: x\non: push\ndo: {milestone.ensure: {title: a}}\n${coalesce}`);
  return windowOf(rule, { org: 'acme', event, now: new Date(0), bot: { login: 'forgehand' }, lookups: {} }, engine);
}

describe('rules/language/propose/coalesce-key', () => {
  it.each<[string, Window | null]>([
    ['', null],
    ['coalesce: {key: "${{ repo.full_name }}", window: 2m}', { key: 'acme/web', windowMs: 120_000 }],
    ['coalesce: {key: all, window: 1h30m}', { key: 'all', windowMs: 5_400_000 }],
    ['coalesce: {key: "${{ event.number }}", window: 1s}', { key: '3', windowMs: 1_000 }],
    ['coalesce: {key: "${{ repo.name }}/${{ event.branch }}", window: 1s}', { key: 'web/main', windowMs: 1_000 }],
    [
      'coalesce: {key: "${{ event.tag }}", window: 1s}',
      { problem: expect.stringMatching(/^coalesce\.key: .*tag.* \(rules\/1\.yaml:8:/) as unknown as string },
    ],
  ])('%s', (written, expected) => {
    expect(windowWith(written)).toEqual(expected);
  });
});
