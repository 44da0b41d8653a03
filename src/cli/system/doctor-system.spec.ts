import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { portsOf } from './doctor-system.js';
import { examineSystem, type SystemCheck } from './examine-system.js';
import { lookAtSystem, type SystemView } from './system-view.js';

const UNIT = `[Service]
User=forgehand
ExecStart=/usr/bin/node --disable-proto=throw /opt/forgehand/dist/cli/forgehand.js start --config /etc/forgehand/forgehand.yaml
LimitNOFILE=8192
`;
const { uid, gid } = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
/** Who runs the tests may be root, whom no unit should name: files belong to another user where that can be arranged. */
const OWNER = uid === 0 ? 12_345 : uid;

const findings = (checks: readonly SystemCheck[]): string[] =>
  checks.filter(({ state }) => state !== 'ok').map(({ check, said, fix }) => `${check}: ${said} => ${fix[0]}`);

describe('cli/system', () => {
  let root: string;
  const write = (path: string, text: string, mode = 0o644): void => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, mode);
    if (uid === 0) chownSync(file, OWNER, gid);
  };
  const look = async (): Promise<string[]> => {
    // A disk of the machine that runs the tests says nothing about what is tested.
    const view = await lookAtSystem(root, []);
    return findings(examineSystem({ ...view, disk: null }));
  };
  const install = (): void => {
    write('etc/systemd/system/forgehand.service', UNIT);
    write(
      'etc/passwd',
      `root:x:0:0::/root:/bin/bash\nforgehand:x:${OWNER}:${gid}::/var/lib/forgehand:/usr/sbin/nologin\n`,
    );
    write('usr/bin/node', '');
    write('opt/forgehand/dist/cli/forgehand.js', '');
    write('etc/forgehand/forgehand.yaml', '');
    write('etc/forgehand/forgehand.env', '', 0o600);
    write('var/lib/forgehand/data.key', '', 0o600);
    chmodSync(join(root, 'var/lib/forgehand'), 0o700);
    if (uid === 0) chownSync(join(root, 'var/lib/forgehand'), OWNER, gid);
    write('run/systemd/timesync/synchronized', '');
  };

  beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'fh-system-'))));
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('an empty root => what to install first', async () => {
    expect(await look()).toEqual([
      expect.stringMatching(
        /^system\.unit: no unit .* => type: cp deploy\/forgehand\.service \/etc\/systemd\/system\//,
      ),
      expect.stringMatching(/^system\.config: .* is not there => type: forgehand init --config \/etc\/forgehand\//),
      expect.stringMatching(/^system\.clock: nothing .* => type: apt install systemd-timesyncd/),
    ]);
  });

  it('an installation as deploy/README.md has it => nothing', async () => {
    install();

    expect(await look()).toEqual([]);
  });

  it.each<[string, (at: (path: string) => string) => void, string]>([
    ['no user', () => write('etc/passwd', ''), 'system.user: .* who does not exist => type: useradd --system'],
    [
      'a user who can log in',
      () => write('etc/passwd', `forgehand:x:${OWNER}:${gid}::/:/bin/sh\n`),
      'system.user: forgehand can log in, with /bin/sh => type: usermod --shell',
    ],
    [
      'root',
      () => write('etc/systemd/system/forgehand.service', UNIT.replace('User=forgehand', 'User=root')),
      'system.user: .* runs the bot as root',
    ],
    [
      'no program',
      () => rmSync(join(root, 'opt'), { recursive: true }),
      'system.unit: .* not there: /opt/forgehand/dist/cli/forgehand.js',
    ],
    [
      'few open files',
      () => write('etc/systemd/system/forgehand.service', UNIT.replace('8192', '1024')),
      'system.limits: .* allows 1024 open files',
    ],
    [
      'open secrets',
      (at) => chmodSync(at('etc/forgehand/forgehand.env'), 0o644),
      'system.modes: .*forgehand.env has mode 644: .* => type: chmod 600 /etc/forgehand/forgehand.env',
    ],
    [
      'an open folder',
      (at) => chmodSync(at('var/lib/forgehand'), 0o755),
      'system.modes: /var/lib/forgehand has mode 755: .* => type: chmod 700 /var/lib/forgehand',
    ],
    [
      'an open key',
      (at) => chmodSync(at('var/lib/forgehand/data.key'), 0o640),
      'system.modes: .*data.key has mode 640',
    ],
    [
      'a config that others change',
      (at) => chmodSync(at('etc/forgehand/forgehand.yaml'), 0o666),
      'system.config: .* can be changed by others => type: chmod go-w',
    ],
    [
      'a config that the user cannot read',
      (at) => chmodSync(at('etc/forgehand/forgehand.yaml'), 0o044),
      'system.config: forgehand may not read /etc/forgehand/forgehand.yaml',
    ],
    ['no clock', () => rmSync(join(root, 'run'), { recursive: true }), 'system.clock: nothing was found'],
  ])('%s => one finding, with its fix', async (_what, spoil, finding) => {
    install();
    spoil((path) => join(root, path));

    expect(await look()).toEqual([expect.stringMatching(new RegExp(`^${finding}`))]);
  });

  it('a full disk, and few files left => what to look at', () => {
    const disk = { path: '/var/lib/forgehand', freeBytes: 1e9, freePart: 0.5, freeFiles: 0.5 };
    const of = (some: Partial<SystemView['disk'] & object>): string[] =>
      findings(examineSystem({ ...EMPTY, clock: 'chrony', disk: { ...disk, ...some } })).filter((text) =>
        text.startsWith('system.disk'),
      );

    expect(of({})).toEqual([
      'system.disk: /var/lib/forgehand has 0.9 GB (50 %) left => type: df -h /var/lib/forgehand',
    ]);
    expect(of({ freeBytes: 1e11, freePart: 0.04 })).toHaveLength(1);
    expect(of({ freeBytes: 1e11, freeFiles: 0.01 })).toEqual([expect.stringContaining('df -i')]);
    expect(of({ freeBytes: 1e11 })).toEqual([]);
  });

  it('looks at the addresses of every role', () => {
    const file = join(root, 'forgehand.yaml');
    writeFileSync(
      file,
      `forges: [{ id: main, base_url: "http://127.0.0.1:4000/api/v1", auth: { type: token, token: { env: FORGE } } }]
orgs: [{ name: acme, forge: main, hooks: [{ id: a, secret: { env: HOOK } }], rules: { path: rules } }]
store: { url: "embedded:./data" }
metrics: { listen: { web: 9191, worker: 9192 } }
control: { listen: { worker: 9190, scheduler: 9189 }, token: { env: CONTROL } }
console: { enabled: false }
`,
    );

    expect(portsOf(file).map(({ key, port }) => `${key} ${port}`)).toEqual([
      'server.port 8080',
      'control.listen.worker 9190',
      'control.listen.scheduler 9189',
      'metrics.listen.worker 9192',
      'metrics.listen.web 9191',
    ]);
  });

  it('tells a port of Forgehand from one that another program has', async () => {
    const servers: Server[] = [];
    const serve = (body: string): Promise<number> =>
      new Promise((resolve) => {
        const server = createServer((_, response) => void response.end(body));
        servers.push(server);
        server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
      });
    const ours = await serve('{"status":"ok"}');
    const other = await serve('hello');
    const gone = await serve('');
    await new Promise((resolve) => void servers.pop()?.close(resolve));

    const { ports } = await lookAtSystem(
      '/',
      [ours, other, gone].map((port) => ({ key: 'server.port', host: '0.0.0.0', port })),
    );
    for (const server of servers) server.close();

    expect(ports.map(({ holder }) => holder)).toEqual(['forgehand', 'another', 'nobody']);
    expect(findings(examineSystem({ ...EMPTY, clock: 'chrony', ports })).at(-1)).toBe(
      `system.ports: server.port: another program listens on 0.0.0.0:${other} => type: ss -ltnp 'sport = :${other}'`,
    );
    expect(
      findings(
        examineSystem({ ...EMPTY, ports: [{ key: 'server.port', host: '0.0.0.0', port: 80, holder: 'nobody' }] }),
      ).at(-1),
    ).toMatch(/only root may listen on 0\.0\.0\.0:80/);
  });
});

const EMPTY: SystemView = {
  unit: null,
  account: null,
  config: null,
  secrets: [],
  state: null,
  dataKey: null,
  clock: null,
  disk: null,
  ports: [],
};
