// The commands of deploy/README.md for systemd, typed as they stand there, in a root that has nothing but /usr.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DEPLOY, ROOT, Skipped, expect, must, need, run } from './common.mjs';

const NOT_OF_THE_UNIT = ['system.clock', 'system.disk'];

export function systemdChecks(scratch) {
  return [['commands of README.md for systemd, in an empty root', () => commandsHold(join(scratch, 'systemd'))]];
}

function commandsHold(folder) {
  if (process.getuid?.() !== 0) throw new Skipped('only root can make users and files of theirs');
  const bwrap = need('bwrap', 'it makes the root');
  for (const name of ['useradd', 'systemctl']) need(name, 'deploy/README.md types it', ['/usr/sbin']);
  const root = join(folder, 'root');
  const write = (path, text = '') => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  // What a distribution brings, and what was copied to /opt.
  write('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n');
  write('etc/group', 'root:x:0:\n');
  write('usr/bin/node');
  for (const path of ['etc/systemd/system', 'var/lib', 'work']) mkdirSync(join(root, path), { recursive: true });
  write('opt/forgehand/dist/cli/forgehand.js');
  write('work/my.env', 'FORGE_TOKEN=x\n');
  const commands = commandsOf('systemd');
  expect(commands.length >= 5, 'deploy/README.md has no commands for systemd');
  const inRoot = ['etc', 'var', 'work'].flatMap((name) => ['--bind', join(root, name), `/${name}`]);
  const links = ['bin', 'sbin', 'lib', 'lib64'].flatMap((name) =>
    existsSync(`/usr/${name}`) ? ['--symlink', `usr/${name}`, `/${name}`] : [],
  );
  const box = ['--ro-bind', '/usr', '/usr', ...links, ...inRoot, '--ro-bind', DEPLOY, '/work/deploy', '--dev', '/dev'];
  const script = ['set -e', ...commands].join('\n');
  must(bwrap, [...box, '--tmpfs', '/tmp', '--cap-add', 'ALL', '--chdir', '/work', '/bin/sh', '-c', script], {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', SYSTEMD_OFFLINE: '1' },
  });
  for (const unit of ['forgehand', 'forgehand@web', 'forgehand@worker', 'forgehand@scheduler', 'forgehand@console'])
    // A link whose target is there in the root alone.
    expect(
      run('test', ['-L', join(root, `etc/systemd/system/multi-user.target.wants/${unit}.service`)]).status === 0,
      `${unit} is not enabled`,
    );
  copyFileSync(join(DEPLOY, 'forgehand.yaml'), join(root, 'etc/forgehand/forgehand.yaml'));
  const doctor = [join(ROOT, 'dist/cli/forgehand.js'), 'doctor', '--system', '--root', root, '--json'];
  const { checks } = JSON.parse(run(process.execPath, doctor).out);
  const wrong = checks.filter(
    ({ check, state }) => state !== 'ok' && !NOT_OF_THE_UNIT.includes(check) && check !== 'system.ports',
  );
  expect(wrong.length === 0, `doctor --system: ${wrong.map(({ said }) => said).join('; ')}`);
  expect(
    checks.filter(({ check }) => check === 'system.modes').length === 5,
    'doctor --system does not see the five files with secrets',
  );
  return `${commands.length} commands, five units enabled, doctor --system finds nothing`;
}

/** Lines of code of a section, but for those that need a network (the check of the package runs them). No systemd runs here that could start a unit. */
function commandsOf(section) {
  const text = readFileSync(join(DEPLOY, 'README.md'), 'utf8').split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  return text
    .split('\n')
    .filter((line) => /^ {4}\S/.test(line))
    .map((line) => line.trim().replace('enable --now', 'enable'))
    .filter((line) => !line.startsWith('npm '));
}
