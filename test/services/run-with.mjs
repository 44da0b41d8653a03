// node test/services/run-with.mjs COMMAND [ARG...]: run a command with the test services' URLs in its environment.
import { spawn } from 'node:child_process';
import { withServices } from './with-services.mjs';

const [command, ...args] = process.argv.slice(2);
if (!command) {
  console.error('usage: node test/services/run-with.mjs COMMAND [ARG...]');
  process.exit(2);
}
process.exitCode = await withServices(async ({ env, missing }) => {
  if (missing.length > 0 && process.env.REQUIRE_SERVICES === '1') return 1;
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
    process.once('exit', () => child.kill('SIGTERM'));
    child.on('error', (error) => (console.error(error.message), resolve(127)));
    child.on('exit', (status, signal) => resolve(signal ? 1 : status));
  });
});
