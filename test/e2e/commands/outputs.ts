import { expect } from '@jest/globals';
import type { Place } from '../support/a-place.js';
import type { CommandResult } from '../support/forgehand.js';
import { forgehand } from '../support/forgehand.js';

/** A line of a stack trace. */
const STACK = /^\s+at .+(:\d+:\d+\)?|<anonymous>)$/m;

/** Everything that commands and the bot printed, to be held against the secrets at the end. */
export class Outputs {
  private readonly texts: Array<{ from: string; text: string }> = [];

  add(from: string, text: string): void {
    this.texts.push({ from, text });
  }

  /** Run a command, keep what it prints. */
  async run(place: Place, ...args: string[]): Promise<CommandResult> {
    const result = await forgehand(place, ...args);
    this.add(`forgehand ${args.join(' ')}`, result.stdout + result.stderr);
    return result;
  }

  /** The value that a command prints with `--json`; it must end well. */
  async json<T>(place: Place, ...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run(place, ...args, '--json');
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
    return JSON.parse(stdout) as T;
  }

  /** Nothing printed so far shows a stack trace or one of the secrets, as it is or encoded. */
  prove(secrets: Readonly<Record<string, string>>): void {
    expect(this.texts.length).toBeGreaterThan(0);
    const shown = this.texts.flatMap(({ from, text }) => [
      ...(STACK.test(text) ? [`${from}: a stack trace: ${text}`] : []),
      ...secretsIn(text, secrets).map((name) => `${from}: ${name}`),
    ]);
    expect(shown).toEqual([]);
  }
}

/** Names of the secrets that the text holds, also in base64 or percent-encoded. */
export function secretsIn(text: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets)
    .filter(([, value]) =>
      [value, Buffer.from(value).toString('base64').replace(/=+$/, ''), encodeURIComponent(value)].some((form) =>
        text.includes(form),
      ),
    )
    .map(([name]) => name);
}
