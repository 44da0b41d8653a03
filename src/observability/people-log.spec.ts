import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.js';
import { peopleLine } from './people-log.js';

const COLOURS = /\u001b\[\d+m/g;

function logged(isTTY: boolean): string {
  const output = Object.assign(new PassThrough(), { isTTY });
  createLogger('info', output).info({ org: 'acme', rules: 2, reason: 'a long one' }, 'poll.slow');
  return String(output.read()).replace(COLOURS, '');
}

describe('observability/people-log', () => {
  it('writes lines for people on a terminal, and JSON elsewhere', () => {
    expect(logged(true)).toMatch(/^\d\d:\d\d:\d\d info  poll\.slow org=acme rules=2 reason="a long one"\n$/);
    expect(JSON.parse(logged(false))).toMatchObject({ level: 'info', msg: 'poll.slow', org: 'acme', rules: 2 });
  });

  it('tells an object field by field, leaves out what is empty, and lets no text command the terminal', () => {
    const entry = {
      time: '2026-11-23T10:00:00.000Z',
      level: 'error',
      app: 'forgehand',
      msg: 'poll.failed',
      error: { code: 'FORGE_AWAY', message: 'a \u001b[2J b' },
      org: null,
    };
    const line = peopleLine(JSON.stringify(entry)).replace(COLOURS, '');

    expect(line).toContain('error poll.failed error.code=FORGE_AWAY error.message="a ');
    expect(line).not.toContain('\u001b');
    expect(line).not.toContain('org=');
    expect(line.endsWith('\n')).toBe(true);
  });

  it.each<[string, object, string]>([
    [
      'forgehand.started',
      { places: ['console http://127.0.0.1:8090'] },
      'The bot runs: console http://127.0.0.1:8090.',
    ],
    ['revision.active', { org: 'acme', rules: 1, policies: 2 }, 'The rules of acme are active: 1 rule, 2 policies.'],
    [
      'forge.connected',
      { forge: 'main', product: 'gitea', version: '1.27', self: 'hand' },
      'The forge main answers: gitea 1.27, where the bot is hand.',
    ],
    ['forge.connected', { forge: 'a\u001b[2J', product: 'unknown', version: null, self: null }, 'The forge a'],
  ])('says in a sentence what whoever starts the bot waits for: %s', (msg, facts, sentence) => {
    const time = '2026-11-23T10:00:00.000Z';
    const line = peopleLine(JSON.stringify({ time, level: 'info', msg, ...facts })).replace(COLOURS, '');

    expect(line).toContain(` info  ${msg} ${sentence}`);
    expect(line).not.toMatch(/[={]|\u001b/);
  });

  it('keeps a line that is no JSON', () => {
    expect(peopleLine('Hello\n')).toBe('Hello\n');
  });
});
