import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import type { Step } from '../../../src/cli/init/steps.js';
import { ROOT } from '../../services/with-services.mjs';
import { hasTerminal, Terminal } from '../support/a-terminal.js';
import { FORGEHAND, requireBuild } from '../support/built.js';
import { Child } from '../support/child.js';
import { waitFor } from '../support/wait-for.js';
import { aClone, type Clone } from './a-clone.js';

export const withTerminal = hasTerminal ? it : it.skip;

/** What `init --json` prints. */
export interface Report {
  readonly org: string;
  readonly steps: readonly Step[];
}

export const statesOf = ({ steps }: Report): Record<string, string> =>
  Object.fromEntries(steps.map(({ step, state }) => [step, state]));

/** The text of a page of the project. */
export const page = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

export interface Clones {
  /** Close this when the test ends, the last one first. */
  keep<T>(thing: T, close: (thing: T) => unknown): T;
  clone(): Clone;
  terminal(place: Clone, command: string): Terminal;
  /** A command that stays. */
  start(place: Clone, command: string, env?: Readonly<Record<string, string>>): Child;
}

/** Whoever listens here is the one whose bots take the ports that `init` proposes and the pages name. */
const TURN_PORT = 18_470;

/** Null while another spec has the turn. */
function tryTurn(): Promise<Server | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen(TURN_PORT, '127.0.0.1', () => resolve(server));
  });
}

/** Clones and what runs in them, for the tests of the describe block that asks. Specs that ask take turns: their bots have ports of the machine. */
export function useClones(): Clones {
  const closers: Array<() => unknown> = [];
  let turn: Server | null = null;
  const keep: Clones['keep'] = (thing, close) => (closers.push(() => close(thing)), thing);
  beforeAll(async () => {
    requireBuild();
    await waitFor(async () => (turn = await tryTurn()) !== null);
  });
  afterAll(() => void turn?.close());
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  return {
    keep,
    clone: () => keep(aClone(), (one) => one.remove()),
    terminal: (place, command) => keep(new Terminal(command, place.dir, place.env), (one) => one.interrupt()),
    start: (place, command, env = {}) => {
      const words = command.replace(/^(npx )?forgehand /, '').split(' ');
      return keep(new Child([FORGEHAND, ...words], env, place.dir), (one) => one.end('SIGTERM'));
    },
  };
}
