#!/usr/bin/env node
import { existsSync } from 'node:fs';

// The same program in a few files (rolldown.config.mjs), which load in a fraction of the time; without it the separate ones run.
const bundled = new URL('../bundle/run-cli.js', import.meta.url);
const { runCli } = (await import(existsSync(bundled) ? bundled.href : './run-cli.js')) as typeof import('./run-cli.js');

process.exitCode = await runCli(process.argv.slice(2));
