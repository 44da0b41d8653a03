import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
// What commands import only when they run, so that two imports at once do not meet in the test runner.
import '../config/read-config.js';
import './check-rules.js';
import { stringifyJson } from '../core/json.js';
import { junitOf } from '../insight/fixtures/junit.js';
import { createLogger } from '../observability/logger.js';
import { print, table } from './print.js';
import { runCli } from './run-cli.js';
import { colour, forTerminal, writeErr, writeFileText, writeProgress } from './terminal.js';

/** What a terminal would obey, and what it would hide. */
const HOSTILE = {
  'a colour': '\u001b[31mred',
  'a hidden text': '\u001b[8mhidden\u001b[0m',
  'a cursor that moves up': '\u001b[2A\u001b[2Kok',
  'a title of the window': '\u001b]0;owned\u0007',
  'a link': '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\',
  'a C1 sequence': '\u009b31mred',
  'a C1 command of the system': '\u009d0;owned\u009c',
  'text from right to left': 'a\u202egnp.exe',
  'an isolate': '\u2066a\u2069\u200f',
  'a line of Unicode': 'a\u2028b\u2029c',
  'a NUL': 'a\u0000b',
  'a bell, a backspace, a return': '\u0007ab\b\rok',
} as const;
const ALL = Object.values(HOSTILE).join('|');

/** Anything but letters that stand, and line ends. */
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

describe('cli/terminal', () => {
  let written = '';
  let dir: string;
  const keep = (chunk: unknown): boolean => {
    written += String(chunk);
    return true;
  };

  beforeEach(() => {
    written = '';
    dir = mkdtempSync(join(tmpdir(), 'forgehand-terminal-'));
    jest.spyOn(process.stdout, 'write').mockImplementation(keep as never);
    jest.spyOn(process.stderr, 'write').mockImplementation(keep as never);
  });

  afterEach(() => {
    jest.restoreAllMocks();
    rmSync(dir, { recursive: true, force: true });
  });

  it.each(Object.entries(HOSTILE))('writes %s in no form that a terminal obeys', (_, text) => {
    print(false, null, () => `${colour.red('error')} ${text}\n${table(['a', text], [[text, colour.green(text)]], '')}`);
    writeErr(`${text}\n`);
    print(true, { [text]: [text] }, () => '');

    expect(written.replace(/\u001b\[(1|22|31|32|39)m/g, '')).not.toMatch(OBEYED);
  });

  it('keeps every value of JSON', () => {
    print(true, { [ALL]: [ALL] }, () => '');

    expect(JSON.parse(written)).toEqual({ [ALL]: [ALL] });
    expect(written).toContain('\\u202e');
    expect(written).toContain('\\u009b31m');
  });

  it('lets colours through that it made, and no others, also where they look alike', () => {
    const open = '\u001b[31;1000;1000;1000;1000mred';

    expect(forTerminal(`${colour.red('x')} ${open} \u001b[31m`).replace(/\u001b\[(31|39)m(?=x| )/g, '')).not.toMatch(
      OBEYED,
    );
    expect(forTerminal('a\nb')).toBe('a\nb');
  });

  it('draws no cell over two lines', () => {
    expect(table(['a', 'b'], [['x\n\u001b[2Afake', 'y']], '').split('\n')).toHaveLength(2);
  });

  it('writes progress and files for a terminal as it writes all else', () => {
    writeProgress(ALL);
    writeFileText('a: b\n');

    expect(written.slice(1)).not.toMatch(OBEYED);
  });

  it.each(['text', 'json', 'sarif'])(
    'forgehand check --format %s shows what rule files say, and obeys none of it',
    async (format) => {
      const rules = join(dir, 'rules');
      mkdirSync(rules);
      const secret = join(dir, 'secret');
      writeFileSync(secret, 'x'.repeat(64), { mode: 0o600 });
      const hostile = ALL.replace(/[\u0000/]/g, '');
      const quoted = JSON.stringify(ALL);
      writeFileSync(
        join(rules, `a${hostile.slice(0, 40)}.yaml`),
        `version: 1\norg: acme\nrules:\n  - {id: ${quoted}, ${quoted}: 1, on: ${quoted}, if: ${quoted}}\n`,
      );
      writeFileSync(
        join(rules, 'raw.yaml'),
        `version: 1\norg: acme\nrules:\n  - id: x\u202e\u009b31m\n    on: \u2066push\n`,
      );
      const config = join(dir, 'config.yaml');
      writeFileSync(
        config,
        `forges: [{ id: main, base_url: "https://git.example.org/api/v1/", auth: { type: token, token: { file: ${secret} } } }]\norgs: [{ name: acme, forge: main, hooks: [{ id: acme, secret: { file: ${secret} } }], rules: { path: rules } }]\nstore: { url: "embedded:./data" }\n`,
        { mode: 0o600 },
      );

      expect(await runCli(['check', '--config', config, '--format', format])).toBe(1);
      expect(written).toContain('\\u202e');
      expect(written).not.toMatch(OBEYED);
      if (format === 'text')
        expect(written.split('\n').every((line) => /^(?:error|warning) |^acme: |^$/.test(line))).toBe(true);
    },
  );

  it.each([
    ['a command', [ALL]],
    ['an option', ['status', `--${ALL}`]],
    ['a file that is not there', ['check', '--config', `/nowhere/${ALL.replaceAll('\u0000', '')}`]],
    ['a duration', ['runs', '--since', ALL]],
  ])('answers %s of a hostile name with an error that is shown', async (_, args) => {
    expect(await runCli(args)).not.toBe(0);
    expect(written).not.toBe('');
    expect(written).not.toMatch(OBEYED);
  });

  it('shows a hostile config', async () => {
    const config = join(dir, 'c.yaml');
    writeFileSync(config, `${JSON.stringify(ALL)}: 1\norgs: [{name: ${JSON.stringify(ALL)}}]\n`, { mode: 0o600 });

    expect(await runCli(['check', '--config', config])).toBe(2);
    expect(written).not.toMatch(OBEYED);
    expect(
      written
        .trimEnd()
        .split('\n')
        .every((line) => line.startsWith('error ')),
    ).toBe(true);
  });

  it('holds for lines of the log and for reports in XML', () => {
    let log = '';
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        log += String(chunk);
        done();
      },
    });
    createLogger('info', stream).info({ title: ALL, [ALL]: 1 }, ALL);
    const place = { file: ALL, line: 1, col: 1 };
    const xml = junitOf([{ file: ALL, name: ALL, place, failures: [{ place, rule: ALL, message: ALL }] }] as never);

    expect(log).not.toMatch(OBEYED);
    expect(JSON.parse(log)).toMatchObject({ title: ALL, [ALL]: 1, msg: ALL });
    expect(xml).not.toMatch(OBEYED);
    expect(stringifyJson(ALL)).toContain('\u202e');
  });
});
