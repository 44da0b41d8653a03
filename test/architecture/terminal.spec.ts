import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

/** Writes past the place that escapes; colours that it would not know. */
const PAST = /\b(?:process\.std(?:out|err)\.write|console\.\w+)\(|from 'picocolors'/;

/** The place itself, and a step of the build, which is no command. */
const EXEMPT = /^src\/cli\/(?:terminal|build-compiled-code)\.ts$|\.spec\.ts$/;

describe('architecture/terminal', () => {
  it('lets commands write in one place alone, where text for a terminal is escaped', () => {
    const files = readdirSync('src/cli', { recursive: true, encoding: 'utf8' }).map(
      (name) => `src/cli/${name.replaceAll('\\', '/')}`,
    );
    const own = files.filter((name) => name.endsWith('.ts') && !EXEMPT.test(name));

    expect(own.filter((name) => PAST.test(readFileSync(name, 'utf8')))).toEqual([]);
    expect(own.length).toBeGreaterThan(40);
    expect(PAST.test("import pc from 'picocolors';")).toBe(true);
    expect(PAST.test('process.stdout.write(text);')).toBe(true);
  });
});
