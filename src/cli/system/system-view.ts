import { readFileSync, statSync, statfsSync, type Stats } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

/** What the machine has of an installation with systemd; null = it is not there. */
export interface SystemView {
  readonly unit: UnitFile | null;
  /** The account that the unit names. */
  readonly account: Account | null;
  readonly config: FileView | null;
  /** Environment files that the unit reads and that are there: they hold secrets. */
  readonly secrets: readonly FileView[];
  readonly state: FileView | null;
  readonly dataKey: FileView | null;
  /** What keeps the clock right: a name, or null where nothing was found. */
  readonly clock: string | null;
  readonly disk: Disk | null;
  readonly ports: readonly PortView[];
}

export interface UnitFile {
  readonly path: string;
  readonly user: string;
  /** `forgehand@.service`: a process for each role. */
  readonly isByRole: boolean;
  /** Files that ExecStart names with their full path. */
  readonly programs: ReadonlyArray<{ readonly path: string; readonly isThere: boolean }>;
  /** LimitNOFILE; null = the unit leaves it to systemd. */
  readonly openFiles: number | null;
}

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly shell: string;
}

export interface FileView {
  readonly path: string;
  readonly uid: number;
  readonly gid: number;
  /** Permissions alone: 0o600. */
  readonly mode: number;
}

export interface Disk {
  readonly path: string;
  readonly freeBytes: number;
  /** 0 to 1. */
  readonly freePart: number;
  /** 0 to 1; null = the file system has no fixed number of files. */
  readonly freeFiles: number | null;
}

/** An address that the config names, and who has it. */
export interface PortView {
  readonly key: string;
  readonly host: string;
  readonly port: number;
  readonly holder: 'nobody' | 'forgehand' | 'another';
}

/** An address of the config to look at. */
export type PlannedPort = Omit<PortView, 'holder'>;

const UNIT_FOLDERS = [
  'etc/systemd/system',
  'usr/local/lib/systemd/system',
  'usr/lib/systemd/system',
  'lib/systemd/system',
];
const UNIT_NAMES = ['forgehand.service', 'forgehand@.service'];
const CONFIG = 'etc/forgehand/forgehand.yaml';
const STATE = 'var/lib/forgehand';
/** Who keeps the clock, by a file that exists while it does. */
const CLOCKS = {
  'run/systemd/timesync/synchronized': 'systemd-timesyncd',
  'run/chrony/chronyd.pid': 'chrony',
  'run/chronyd.pid': 'chrony',
  'run/ntpd.pid': 'ntpd',
  'run/openntpd.pid': 'openntpd',
} as const;

/**
 * Look at an installation. Nothing is changed.
 * @param root `/`, or a folder that is one day the root of a machine, such as that of an image
 * @param ports addresses of the config, looked at only where `root` is this machine
 */
export async function lookAtSystem(root: string, ports: readonly PlannedPort[]): Promise<SystemView> {
  const unit = readUnit(root);
  const isThisMachine = join(root, '/') === '/';
  return {
    unit,
    account: unit && readAccount(root, unit.user),
    config: fileAt(root, CONFIG),
    secrets: ['forgehand', 'web', 'worker', 'scheduler', 'console'].flatMap((name) => {
      const file = fileAt(root, name === 'forgehand' ? 'etc/forgehand/forgehand.env' : `etc/forgehand/env.${name}`);
      return file ? [file] : [];
    }),
    state: fileAt(root, STATE),
    dataKey: fileAt(root, `${STATE}/data.key`),
    clock: Object.entries(CLOCKS).find(([path]) => statOf(join(root, path)))?.[1] ?? null,
    disk: readDisk(root),
    ports: isThisMachine ? await Promise.all(ports.map(lookAtPort)) : [],
  };
}

function readUnit(root: string): UnitFile | null {
  for (const folder of UNIT_FOLDERS)
    for (const name of UNIT_NAMES) {
      const text = textOf(join(root, folder, name));
      if (text === null) continue;
      const value = (key: string): string | null => new RegExp(`^${key}=(.*)$`, 'm').exec(text)?.[1]?.trim() ?? null;
      const paths = (value('ExecStart') ?? '').split(/\s+/).filter((word) => /^\/.*(node|\.js)$/.test(word));
      return {
        path: `/${folder}/${name}`,
        user: value('User') ?? 'root',
        isByRole: name.includes('@'),
        programs: paths.map((path) => ({ path, isThere: statOf(join(root, path)) !== null })),
        openFiles: Number(value('LimitNOFILE')?.split(':')[0]) || null,
      };
    }
  return null;
}

function readAccount(root: string, user: string): Account | null {
  const line = (textOf(join(root, 'etc/passwd')) ?? '').split('\n').find((one) => one.startsWith(`${user}:`));
  if (line === undefined) return null;
  const [name = '', , uid, gid, , , shell = ''] = line.split(':');
  return { name, uid: Number(uid), gid: Number(gid), shell };
}

function readDisk(root: string): Disk | null {
  const path = statOf(join(root, STATE)) ? STATE : 'var/lib';
  try {
    const { bavail, blocks, bsize, files, ffree } = statfsSync(join(root, path));
    return {
      path: `/${path}`,
      freeBytes: bavail * bsize,
      freePart: blocks === 0 ? 1 : bavail / blocks,
      freeFiles: files === 0 ? null : ffree / files,
    };
  } catch {
    return null;
  }
}

function fileAt(root: string, path: string): FileView | null {
  const stat = statOf(join(root, path));
  return stat && { path: `/${path}`, uid: stat.uid, gid: stat.gid, mode: stat.mode & 0o777 };
}

/** Null where it is not there, or in a folder that this user may not enter. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

const ANSWER_MS = 2_000;

/** Who listens there: Forgehand answers on each of its ports, with its own words where it is asked for its health. */
async function lookAtPort(planned: PlannedPort): Promise<PortView> {
  const host = ['0.0.0.0', '::'].includes(planned.host) ? 'localhost' : planned.host;
  if (!(await isTaken(host, planned.port))) return { ...planned, holder: 'nobody' };
  return { ...planned, holder: (await isForgehand(host, planned.port)) ? 'forgehand' : 'another' };
}

function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ANSWER_MS });
    const end = (answer: boolean) => () => (socket.destroy(), resolve(answer));
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}

async function isForgehand(host: string, port: number): Promise<boolean> {
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}/healthz`;
  try {
    const answer = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) });
    const text = await answer.text();
    // The control API and the Console ask for a login first, in words of ours.
    return answer.status === 200 ? text === '{"status":"ok"}' : /UNAUTHORIZED|Forgehand/.test(text);
  } catch {
    return false;
  }
}
