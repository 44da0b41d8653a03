import type { Check } from '../../housekeeping/doctor/check.js';
import type { Account, Disk, FileView, PortView, SystemView, UnitFile } from './system-view.js';

/** One thing of the machine that was looked at, as the doctor's other checks. */
export type SystemCheck = Pick<Check, 'check' | 'state' | 'said' | 'fix'>;

/** Enough for a connection of each sender and each forge, and the files of an embedded store. */
const LEAST_OPEN_FILES = 4_096;
const GB = 1024 ** 3;
const LITTLE_BYTES = 2 * GB;
const LITTLE_PART = 0.1;
const NO_LOGIN = /\/(nologin|false)$/;
const INSTALL = 'see "systemd" in deploy/README.md';

/** What is wrong with an installation with systemd, and what to type; in the order in which it is set up. Pure. */
export function examineSystem(view: SystemView): SystemCheck[] {
  const { unit, account, clock, disk, ports } = view;
  return [
    ...(unit ? ofUnit(unit) : [noUnit()]),
    ...(unit ? [ofAccount(unit, account)] : []),
    // Whose files they should be is known once the user is right.
    ...ofFiles(account?.uid === 0 ? { ...view, account: null } : view),
    ofClock(clock),
    ...(disk ? [ofDisk(disk)] : []),
    ...ofPorts(ports, unit),
  ];
}

function noUnit(): SystemCheck {
  return problem(
    'system.unit',
    'no unit forgehand.service or forgehand@.service is installed',
    'type: cp deploy/forgehand.service /etc/systemd/system/ && systemctl daemon-reload',
    INSTALL,
  );
}

function ofUnit({ path, programs, openFiles }: UnitFile): SystemCheck[] {
  const missing = programs.filter(({ isThere }) => !isThere).map((program) => program.path);
  return [
    missing.length === 0
      ? ok('system.unit', `${path} starts what is there`)
      : problem(
          'system.unit',
          `${path} starts what is not there: ${missing.join(', ')}`,
          `put it there, or change ExecStart: systemctl edit --full ${path.split('/').at(-1)}`,
        ),
    openFiles === null || openFiles < LEAST_OPEN_FILES
      ? warning(
          'system.limits',
          openFiles === null
            ? `${path} sets no limit of open files, and the default may be 1024`
            : `${path} allows ${openFiles} open files`,
          `write LimitNOFILE=8192 below [Service]: systemctl edit ${path.split('/').at(-1)}`,
        )
      : ok('system.limits', `${openFiles} open files are allowed`),
  ];
}

function ofAccount({ path, user }: UnitFile, account: Account | null): SystemCheck {
  if (user === 'root' || account?.uid === 0)
    return problem('system.user', `${path} runs the bot as root`, 'write User=forgehand below [Service]', INSTALL);
  if (!account)
    return problem(
      'system.user',
      `${path} names the user ${user}, who does not exist`,
      `type: useradd --system --home /var/lib/forgehand --shell /usr/sbin/nologin ${user}`,
    );
  return NO_LOGIN.test(account.shell)
    ? ok('system.user', `${user} exists and cannot log in`)
    : warning(
        'system.user',
        `${user} can log in, with ${account.shell || 'the default shell'}`,
        `type: usermod --shell /usr/sbin/nologin ${user}`,
      );
}

function ofFiles({ unit, account, config, secrets, state, dataKey }: SystemView): SystemCheck[] {
  const closed = [...secrets, ...(dataKey ? [dataKey] : [])];
  const checks = [
    ...(config
      ? [mayRead(config, account)]
      : [
          problem(
            'system.config',
            '/etc/forgehand/forgehand.yaml is not there',
            'type: forgehand init --config /etc/forgehand/forgehand.yaml',
          ),
        ]),
    ...closed.map((file) => isClosed(file, 0o600, account)),
    ...(state ? [isClosed(state, 0o700, account)] : []),
  ];
  if (unit?.isByRole && secrets.length === 0)
    checks.push(problem('system.config', `${unit.path} reads /etc/forgehand/env.ROLE, and none is there`, INSTALL));
  return checks;
}

/** The config holds no secret: everybody may read it, and the bot has to. */
function mayRead({ path, uid, gid, mode }: FileView, account: Account | null): SystemCheck {
  const bit = account?.uid === uid ? 0o400 : account?.gid === gid ? 0o040 : 0o004;
  if (account && (mode & bit) === 0)
    return problem('system.config', `${account.name} may not read ${path}`, `type: chmod o+r ${path}`);
  return (mode & 0o022) === 0
    ? ok('system.config', `${path} is there`)
    : problem('system.config', `${path} can be changed by others`, `type: chmod go-w ${path}`);
}

/** What holds secrets belongs to the bot (or root, who hands them over) and is open to nobody else. */
function isClosed({ path, uid, mode }: FileView, wanted: number, account: Account | null): SystemCheck {
  const fixes = [
    ...((mode & 0o077) === 0 ? [] : [`type: chmod ${wanted.toString(8)} ${path}`]),
    ...(account === null || uid === account.uid || (uid === 0 && wanted === 0o600)
      ? []
      : [`type: chown ${account.name}: ${path}`]),
  ];
  if (fixes.length === 0) return ok('system.modes', `${path} is open to nobody else`);
  const fault = (mode & 0o077) === 0 ? 'belongs to another user' : `has mode ${mode.toString(8)}: others get at it`;
  return problem('system.modes', `${path} ${fault}`, ...fixes);
}

function ofClock(clock: string | null): SystemCheck {
  return clock === null
    ? warning(
        'system.clock',
        'nothing was found that keeps the clock right: schedules, sessions and signatures need it',
        'type: apt install systemd-timesyncd && systemctl enable --now systemd-timesyncd',
        'in a container or a virtual machine, the host may keep it: look there',
      )
    : ok('system.clock', `${clock} keeps the clock right`);
}

function ofDisk({ path, freeBytes, freePart, freeFiles }: Disk): SystemCheck {
  const free = `${(freeBytes / GB).toFixed(1)} GB (${Math.round(freePart * 100)} %)`;
  if (freeFiles !== null && freeFiles < LITTLE_PART)
    return warning('system.disk', `${path} has room for few more files`, `type: df -i ${path}`);
  return freeBytes < LITTLE_BYTES || freePart < LITTLE_PART
    ? warning(
        'system.disk',
        `${path} has ${free} left`,
        `type: df -h ${path}`,
        'the bot refuses deliveries when it is full',
      )
    : ok('system.disk', `${path} has ${free} left`);
}

function ofPorts(ports: readonly PortView[], unit: UnitFile | null): SystemCheck[] {
  return ports.map(({ key, host, port, holder }) => {
    const address = `${host}:${port}`;
    if (holder === 'another')
      return problem(
        'system.ports',
        `${key}: another program listens on ${address}`,
        `type: ss -ltnp 'sport = :${port}'`,
        `stop it, or set ${key} to another port`,
      );
    if (holder === 'nobody' && port < 1024 && unit?.user !== 'root')
      return problem('system.ports', `${key}: only root may listen on ${address}`, `set ${key} to a port above 1023`);
    return ok('system.ports', `${key}: ${address} ${holder === 'nobody' ? 'is free' : 'is answered by Forgehand'}`);
  });
}

function ok(check: string, sentence: string): SystemCheck {
  return { check, state: 'ok', said: sentence, fix: [] };
}

function warning(check: string, sentence: string, ...fix: string[]): SystemCheck {
  return { check, state: 'warning', said: sentence, fix };
}

function problem(check: string, sentence: string, ...fix: string[]): SystemCheck {
  return { check, state: 'problem', said: sentence, fix };
}
