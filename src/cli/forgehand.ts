#!/usr/bin/env node
import { loadProgram, startIsOver } from '../platform/load-program.js';

/** About what a start takes. A command that takes longer works. */
const START_MS = 2_000;
setTimeout(startIsOver, START_MS).unref();

const { runCli } = await loadProgram('run-cli', () => import('./run-cli.js'));

// A reader that has seen enough (`| head`) is no error: what is left to print goes nowhere, and the command ends as it would have.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });

process.exitCode = await runCli(process.argv.slice(2));
