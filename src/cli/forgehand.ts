#!/usr/bin/env node
import { existsSync } from 'node:fs';

// The same program in a few files (rolldown.config.mjs), which load in a fraction of the time; without it the separate ones run.
const bundled = new URL('../bundle/run-cli.js', import.meta.url);
const { runCli } = (await import(existsSync(bundled) ? bundled.href : './run-cli.js')) as typeof import('./run-cli.js');

// A reader that has seen enough (`| head`) is no error: what is left to print goes nowhere, and the command ends as it would have.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });

process.exitCode = await runCli(process.argv.slice(2));
