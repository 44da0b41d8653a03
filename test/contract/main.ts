import { readOptions, USAGE, WrongUsage } from './options.js';

/** A real server is played on without anything of the sandbox, so that each way is loaded by itself. */
async function main(): Promise<number> {
  const options = readOptions();
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  if (options.url === undefined) return (await import('./main-sandbox.js')).playOnSandbox(options);
  return (await import('./real/main-real.js')).playOnReal(options, options.url);
}

// A reader that has seen enough (`| head`) is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(process.exitCode ?? 0);
});

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof Error)) throw error;
  const isUsage = error instanceof WrongUsage;
  console.error(isUsage ? `${error.message}\n\n${USAGE}` : error.message);
  process.exitCode = isUsage ? 2 : 1;
}
