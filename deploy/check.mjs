// npm run deploy:check: does deploy/ hold? Builds and starts what this machine can, and says what it skipped. Status 1 when something does not hold.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { Skipped, expect, must, run } from './checks/common.mjs';
import { helmChecks } from './checks/helm.mjs';
import { imageChecks } from './checks/image.mjs';
import { monitoringChecks } from './checks/monitoring.mjs';
import { packageChecks } from './checks/package.mjs';
import { releaseChecks } from './checks/release.mjs';
import { systemdChecks } from './checks/systemd.mjs';

const DEPLOY = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(DEPLOY);
/** Packages and code, unpacked, without the base of the image. */
const MOST_MB = 135;

const scratch = mkdtempSync(join(tmpdir(), 'fh-deploy-'));
/** `npm run deploy:check -- TEXT`: only the checks with this text in their names. */
const wanted = new RegExp(process.argv[2] ?? '', 'i');
const results = [];
try {
  const docker = hasDocker();
  await check('image is lean and not root, as written', () => dockerfileHolds());
  await check('compose file fits the config and the image', () => composeHolds());
  await check('config of the compose file is a good one', () => composeConfigHolds());
  await check('systemd unit', () => unitHolds());
  if (docker) await check('image builds, starts and is healthy', () => imageRuns());
  else
    skip(
      'image builds, starts and is healthy',
      'no container engine answers; its packages and its start command are tried here instead',
    );
  if (docker) await check('compose file, as the engine reads it', () => composeReads());
  else skip('compose file, as the engine reads it', 'no container engine answers');
  await check('production packages start by the start command of the image', () => productionStarts());
  for (const [name, work] of packageChecks(scratch, { run, must, expect, Skipped }, build)) await check(name, work);
  for (const [name, work] of [
    ...imageChecks(scratch),
    ...helmChecks(scratch),
    ...monitoringChecks(scratch),
    ...releaseChecks(scratch, build),
    ...systemdChecks(scratch),
  ])
    await check(name, work);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
const count = (outcome) => results.filter((one) => one.outcome === outcome).length;
console.log(`${count('ok')} ok, ${count('failed')} failed, ${count('skipped')} skipped`);
process.exitCode = count('failed') > 0 ? 1 : 0;

async function check(name, work) {
  if (!wanted.test(name)) return;
  try {
    tell('ok', name, (await work()) ?? '');
  } catch (error) {
    if (error instanceof Skipped) skip(name, error.message);
    else tell('failed', name, error.message);
  }
}

function skip(name, why) {
  tell('skipped', name, why);
}

function tell(outcome, name, detail) {
  results.push({ outcome, name });
  console.log(`${outcome.padEnd(8)}${name}${detail ? `: ${detail}` : ''}`);
}

function hasDocker() {
  return run('docker', ['info'], { timeout: 20_000 }).status === 0;
}

/** Instructions of the Dockerfile, continued lines joined. */
function dockerfile() {
  const lines = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replace(/\\\n\s*/g, ' ')
    .split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => ({ name: line.split(' ', 1)[0], rest: line.slice(line.indexOf(' ') + 1).trim() }));
}

/** ENTRYPOINT and CMD of the last stage. */
function startCommand() {
  const last = (name) => JSON.parse(dockerfile().findLast((one) => one.name === name)?.rest ?? '[]');
  return [...last('ENTRYPOINT'), ...last('CMD')];
}

function dockerfileHolds() {
  const all = dockerfile();
  const from = all.map(({ name }, n) => (name === 'FROM' ? n : -1)).filter((n) => n >= 0);
  expect(from.length >= 2, 'has one stage only');
  const last = all.slice(from.at(-1));
  const user = last.findLast(({ name }) => name === 'USER')?.rest ?? 'root';
  expect(/^[1-9]\d*(:[1-9]\d*)?$/.test(user), `runs as ${user}: a number other than 0 is wanted`);
  expect(
    last.some(({ name }) => name === 'HEALTHCHECK'),
    'has no HEALTHCHECK',
  );
  for (const { name, rest } of all.filter((one) => one.name === 'COPY' && !one.rest.startsWith('--from'))) {
    for (const source of rest.split(/\s+/).slice(0, -1))
      expect(existsSync(join(ROOT, source)), `${name} ${source}: not in the repository`);
  }
  expect(
    last.some(({ name, rest }) => name === 'COPY' && rest === 'config ./config'),
    'lacks config/: init and demo read starter sets and rules there',
  );
  expect(startCommand().length >= 3, 'has no start command');
  expect(startCommand()[1] === '--disable-proto=throw', 'leaves __proto__ in place');
  return `user ${user}, starts with ${startCommand().join(' ')}`;
}

function composeHolds() {
  const { services } = parse(readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8'), { merge: true });
  for (const role of ['web', 'worker', 'scheduler', 'console']) {
    const service = services[role];
    expect(service, `has no service ${role}`);
    expect(
      JSON.stringify(service.command) === JSON.stringify(['start', '--role', role]),
      `service ${role} does not start that role`,
    );
    expect(role === 'web' || service.healthcheck, `service ${role} has no health check`);
    for (const mount of service.volumes)
      expect(existsSync(join(DEPLOY, mount.split(':')[0])), `service ${role} mounts ${mount}, which is not there`);
    for (const need of Object.keys(service.depends_on))
      expect(services[need]?.healthcheck, `${need} has no health check`);
  }
  expect(
    Object.keys(services)
      .filter((name) => services[name].ports?.some((port) => !port.startsWith('127.0.0.1:')))
      .join() === 'web',
    'something besides web is open to the outside',
  );
  return Object.keys(services).join(', ');
}

/** With an environment of exactly the names that the compose file gives to any role; what each role gets is checked by `npm test`. */
function composeConfigHolds() {
  const { services } = parse(readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8'), { merge: true });
  const environment = { ...services.web.environment, ...services.scheduler.environment };
  const named = readFileSync(join(DEPLOY, 'env.example'), 'utf8').match(/^[A-Z_]+(?==)/gm) ?? [];
  const value = randomBytes(32).toString('hex');
  const env = { PATH: process.env.PATH };
  for (const [name, text] of Object.entries(environment)) {
    for (const [, inner] of text.matchAll(/\$\{([A-Z_]+)/g))
      expect(named.includes(inner), `${inner} is not in env.example`);
    // What is asked for, and what is taken where nothing is given.
    env[name] = text.replace(/\$\{[A-Z_]+(:\?)?\}/g, value).replace(/^\$\{[A-Z_]+:-(.*)\}$/, '$1');
  }
  const folder = join(scratch, 'etc');
  mkdirSync(folder);
  cpSync(join(DEPLOY, 'forgehand.yaml'), join(folder, 'forgehand.yaml'));
  cpSync(join(ROOT, 'config/rules'), join(folder, 'rules'), { recursive: true });
  build();
  return must(
    process.execPath,
    [join(ROOT, 'dist/cli/forgehand.js'), 'check', '--config', join(folder, 'forgehand.yaml')],
    { env },
  ).split('\n')[0];
}

function unitHolds() {
  const text = readFileSync(join(DEPLOY, 'forgehand.service'), 'utf8');
  const value = (name) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1];
  const args = (value('ExecStart') ?? '').split(' ').slice(1);
  expect(args[0] === '--disable-proto=throw', 'ExecStart leaves __proto__ in place');
  expect(args[1] === '/opt/forgehand/dist/cli/forgehand.js' && args[2] === 'start', 'ExecStart does not start the bot');
  for (const setting of ['NoNewPrivileges', 'PrivateTmp', 'ProtectHome', 'RestrictNamespaces'])
    expect(value(setting) === 'yes', `${setting} is not yes`);
  expect(value('User') && value('User') !== 'root', 'runs as root');
  const bad = text.split('\n').filter((line) => !/^(#.*|\[\w+\]|[A-Za-z]+=.*|)$/.test(line));
  expect(bad.length === 0, `cannot be read: ${bad.join(' | ')}`);
  if (run('systemd-analyze', ['--version'], { timeout: 20_000 }).status !== 0)
    throw new Skipped('read and found good; systemd-analyze is not there to verify it');
  const file = join(scratch, 'forgehand.service');
  // The verifier looks whether the program is there; where Node lies is the machine's affair.
  writeFileSync(file, text.replace('/usr/bin/node', process.execPath));
  const { status, text: said } = run('systemd-analyze', ['verify', '--man=no', file], { timeout: 60_000 });
  // Units of the machine itself are not ours to judge.
  const ours = said.split('\n').filter((line) => line.includes('forgehand'));
  expect(status === 0 || ours.length === 0, ours.join('; '));
  return ours.length > 0 ? `verified; ${ours.join('; ')}` : 'verified by systemd-analyze';
}

function build() {
  if (!existsSync(join(ROOT, 'dist/cli/forgehand.js'))) must('npm', ['run', '--silent', 'build']);
}

/** What the image holds, put together the same way on this machine. */
async function productionStarts() {
  build();
  const app = join(scratch, 'app');
  mkdirSync(app);
  for (const name of ['package.json', 'package-lock.json', 'dist', 'config', 'LICENSE', 'README.md'])
    cpSync(join(ROOT, name), join(app, name), { recursive: true });
  const install = run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: app,
  });
  if (install.status !== 0)
    throw new Skipped(`npm ci --omit=dev did not come through: ${install.text.split('\n').at(-1)}`);
  removeDeclarations(join(app, 'node_modules'));
  const mb = Math.round(sizeOf(app) / 2 ** 20);
  const [, flag, entry, ...args] = startCommand();
  const config = join(scratch, 'forgehand.yaml');
  mkdirSync(join(scratch, 'rules'), { recursive: true });
  writeFileSync(join(scratch, 'rules/rules.yaml'), 'version: 1\norg: acme\nrules: []\n');
  writeFileSync(
    config,
    JSON.stringify({
      forges: [{ id: 'main', base_url: 'http://127.0.0.1:9/api/v1', auth: { type: 'token', token: { env: 'TOKEN' } } }],
      orgs: [
        { name: 'acme', forge: 'main', hooks: [{ id: 'acme', secret: { env: 'TOKEN' } }], rules: { path: 'rules' } },
      ],
      store: { url: `embedded:${join(scratch, 'data')}` },
      server: { host: '127.0.0.1', port: 0 },
    }),
  );
  const env = { PATH: process.env.PATH, HOME: scratch, NODE_ENV: 'production', FORGEHAND_CONFIG: config, TOKEN: 'x' };
  const bot = spawn(process.execPath, [flag, entry.replace('/app', app), ...args], {
    cwd: app,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const url = await started(bot);
    const answer = await fetch(`${url}/readyz`);
    expect(answer.status === 200, `/readyz answered ${answer.status}: ${await answer.text()}`);
    const ended = new Promise((resolve) => bot.once('close', (code, signal) => resolve(signal ?? code)));
    bot.kill('SIGTERM');
    const how = await ended;
    expect(how === 0, `SIGTERM ended it with ${how}`);
  } finally {
    bot.kill('SIGKILL');
  }
  const size = `${mb} MB of packages and code (aim ${MOST_MB})`;
  expect(mb <= MOST_MB, size);
  return `ready, stopped with 0; ${size}`;
}

function started(bot) {
  return new Promise((resolve, reject) => {
    let text = '';
    const take = (part) => {
      text += part;
      const line = text.split('\n').find((one) => one.includes('"forgehand.started"'));
      if (line) resolve(JSON.parse(line).webhooks);
    };
    bot.stdout.setEncoding('utf8').on('data', take);
    bot.stderr.setEncoding('utf8').on('data', take);
    bot.once('close', (code) => reject(new Error(`it ended with ${code}: ${text.slice(-2_000)}`)));
  });
}

function removeDeclarations(folder) {
  for (const entry of readdirSync(folder, { recursive: true }))
    if (/\.(d\.[mc]?ts|map|md)$/.test(entry)) rmSync(join(folder, entry), { recursive: true, force: true });
}

function sizeOf(folder) {
  return readdirSync(folder, { recursive: true }).reduce((sum, entry) => {
    const stats = lstatSync(join(folder, entry));
    return sum + (stats.isFile() ? stats.size : 0);
  }, 0);
}

function imageRuns() {
  must('docker', ['build', '-q', '-f', 'deploy/Dockerfile', '-t', 'forgehand:check', '.']);
  const bytes = Number(must('docker', ['image', 'inspect', '-f', '{{.Size}}', 'forgehand:check']));
  const version = must('docker', ['run', '--rm', '--read-only', '--cap-drop', 'ALL', 'forgehand:check', 'version']);
  const user = must('docker', ['run', '--rm', '--entrypoint', 'id', 'forgehand:check', '-u']);
  const mb = Math.round(bytes / 1e6);
  expect(user.trim() !== '0', 'runs as root');
  return `${mb} MB, user ${user.trim()}, ${version.split('\n')[0]}`;
}

function composeReads() {
  const env = { ...process.env };
  for (const name of readFileSync(join(DEPLOY, 'env.example'), 'utf8').match(/^[A-Z_]+(?==)/gm) ?? []) env[name] = 'x';
  must('docker', ['compose', '-f', 'deploy/compose.yaml', 'config', '-q'], { env });
}
