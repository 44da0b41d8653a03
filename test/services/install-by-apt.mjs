import { existsSync } from 'node:fs';
import { findCommand } from './find-binaries.mjs';
import { run } from './processes.mjs';

let updated = false;

/** Only as root on Debian and its children, and only where the operator did not forbid it (FORGEHAND_TEST_NO_INSTALL=1). */
export function canInstallByApt() {
  return (
    process.getuid?.() === 0 &&
    existsSync('/etc/debian_version') &&
    findCommand('apt-get') !== null &&
    process.env.FORGEHAND_TEST_NO_INSTALL !== '1'
  );
}

/**
 * Install a package; says so first. A server is not started: `RUNLEVEL=1` makes Debian's invoke-rc.d keep still.
 * @returns {Promise<boolean>}
 */
export async function installByApt(packageName, log) {
  log(`${packageName} is not on this machine: installing it with apt-get (FORGEHAND_TEST_NO_INSTALL=1 forbids that)`);
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const onLine = (line) => /^(Get|Fetched|Unpacking|Setting up|E:|Err)/.test(line) && log(`apt-get: ${line}`);
  if (!updated) {
    log('apt-get update');
    await run('/usr/bin/apt-get', ['update'], { env, onLine, timeoutMs: 300_000 });
    updated = true;
  }
  const done = await run('/usr/bin/apt-get', ['install', '-y', '--no-install-recommends', packageName], {
    env,
    onLine,
    timeoutMs: 600_000,
  });
  if (done.status !== 0)
    log(`apt-get install ${packageName} ended with ${done.status}: ${done.output.trim().split('\n').at(-1)}`);
  return done.status === 0;
}
