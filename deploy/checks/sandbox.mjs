// Runs the tree of an image where no container engine does: bubblewrap as the image's own user, the tree read-only, no capability, process 1.
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * @param {{ rootfs: string, config: object }} image unpacked tree, and the config of the image (Docker's format)
 * @param {string[]} command what is started: entry point and arguments
 * @param {{ state?: string, env?: object, binds?: [string, string][], netns?: string }} options
 *   state: folder for the image's volume. Default: none. binds: [host, container], read-only. netns: a network namespace.
 */
export function startInImage({ rootfs, config }, command, { state, env = {}, binds = [], netns } = {}) {
  const [uid, gid = uid] = config.User.split(':').map(Number);
  const variables = [...config.Env.map((one) => /^([^=]+)=(.*)$/s.exec(one).slice(1)), ...Object.entries(env)];
  if (state) {
    mkdirSync(state, { recursive: true });
    chmodSync(state, 0o700);
    chownSync(state, uid, gid);
  }
  const args = [
    ...(netns ? ['ip', 'netns', 'exec', netns] : []),
    ...['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'],
    ...[
      'bwrap',
      '--unshare-user',
      '--unshare-pid',
      '--unshare-ipc',
      '--as-pid-1',
      '--die-with-parent',
      '--cap-drop',
      'ALL',
    ],
    ...['--json-status-fd', '3', '--clearenv'],
    ...['--ro-bind', rootfs, '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--chdir', config.WorkingDir],
    ...(binds.length > 0 ? ['--tmpfs', '/etc/forgehand'] : []),
    ...binds.flatMap(([from, to]) => ['--ro-bind', from, to]),
    ...(state ? Object.keys(config.Volumes).flatMap((path) => ['--bind', state, path]) : []),
    ...variables.flatMap(([name, value]) => ['--setenv', name, value]),
    ...command,
  ];
  const child = spawn(args[0], args.slice(1), { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const started = { child, text: '', status: '', ended: undefined };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => (started.text += part));
  child.stdio[3].setEncoding('utf8').on('data', (part) => (started.status += part));
  started.ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)));
  return started;
}

/** Like `docker run`: waits for the end. */
export async function runInImage(image, command, options) {
  const started = startInImage(image, command, options);
  return { status: await started.ended, text: started.text.trim() };
}

/** Runs a health check of the image or of the compose file until it passes. @throws when it ended, or did not pass in five minutes */
export async function untilHealthy(image, test, started, options) {
  const [kind, ...command] = test;
  if (kind !== 'CMD') throw new Error(`health check of kind ${kind}: it needs a shell`);
  let over = false;
  void started.ended.then(() => (over = true));
  for (const end = Date.now() + 300_000; Date.now() < end && !over; await wait(1_000))
    if ((await runInImage(image, command, { ...options, state: undefined })).status === 0) return;
  throw new Error(`${over ? 'ended before it was healthy' : 'is not healthy'}: ${started.text.slice(-2_000)}`);
}

/** Sends SIGTERM to the process that is 1 inside. @returns how it ended, and after how many seconds */
export async function stop(started) {
  const pid = Number(/"child-pid": (\d+)/.exec(started.status)?.[1]);
  const since = Date.now();
  process.kill(pid, 'SIGTERM');
  const how = await started.ended;
  return { how, seconds: (Date.now() - since) / 1_000 };
}
