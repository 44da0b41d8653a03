import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { BotError } from '../core/errors.js';
import { createLogger } from './logger.js';

const BASE = [
  '\n',
  '\r\n',
  '\u001b[31m',
  '\u001b]0;title\u0007',
  '\0',
  '\b',
  '\u2028',
  '\u2029',
  '\u009b2J',
  '"}\n{"level":"error"',
];
/** Fifty texts that would begin a line, move a cursor or end a field where they are written as they are. */
const TEXTS = BASE.flatMap((part) => [part, `${part}${part}`, `a${part}b`, `${part}{"msg":"forged"}`, `x'"\\${part}`]);

function linesOf(write: (logger: ReturnType<typeof createLogger>) => void): string {
  let written = '';
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString();
      done();
    },
  });
  write(createLogger('info', sink));
  return written;
}

describe('observability/logger', () => {
  it('writes one line of each text from outside, without a control character', () => {
    expect(new Set(TEXTS).size).toBe(50);
    for (const text of TEXTS) {
      const written = linesOf((logger) =>
        logger.warn({ title: text, [text]: 1, error: new BotError('BAD', text, 'permanent', { seen: text }) }, text),
      );

      expect(written.endsWith('\n')).toBe(true);

      expect(written.slice(0, -1)).not.toMatch(/[\u0000-\u001f]/);
      const line = JSON.parse(written) as { msg: string; title: string; error: { message: string } };
      expect([line.msg, line.title, line.error.message]).toEqual([text, text, text]);
    }
  });

  it('tells of an error of a library its name and words alone', () => {
    const error = Object.assign(new Error('no'), {
      config: { headers: { authorization: 'token canary' } },
      code: 'ECONNRESET',
    });

    const written = linesOf((logger) => logger.error({ error }, 'failed'));

    expect(JSON.parse(written)).toMatchObject({ error: { name: 'Error', message: 'no', code: 'ECONNRESET' } });
    expect(written).not.toContain('canary');
  });
});
