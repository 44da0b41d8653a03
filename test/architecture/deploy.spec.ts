import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/read-config.js';
import type { Role } from '../../src/config/app-config.js';

const ROLES = ['web', 'worker', 'scheduler', 'console'] as const satisfies readonly Role[];
const CONFIG = readFileSync('deploy/forgehand.yaml', 'utf8');

/** Long enough for any of them, and an address where one is wanted. */
const valueOf = (name: string): string => (name === 'DATABASE_URL' ? 'postgres://bot@db/forgehand' : 's'.repeat(64));

/** Names of the environment that the compose file gives to a role. */
function composeNames(role: Role): string[] {
  const { services } = parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true }) as {
    services: Record<string, { environment: object }>;
  };
  return Object.keys(services[role]?.environment ?? {});
}

/** Names that the environment file of a role under systemd has room for. */
function unitNames(role: Role): string[] {
  return readFileSync(`deploy/env.${role}`, 'utf8').match(/^[A-Z_]+(?==)/gm) ?? [];
}

/** Names that a role asks for, and those that stop its start when they are not there. */
function readBy(role: Role, names: readonly string[]): { asked: string[]; trouble: string[] } {
  const asked = new Set<string>();
  const env = new Proxy(Object.fromEntries(names.map((name) => [name, valueOf(name)])) as NodeJS.ProcessEnv, {
    get: (all, name) => {
      asked.add(String(name));
      return all[String(name)];
    },
  });
  try {
    parseConfig('/etc/forgehand/forgehand.yaml', CONFIG, { env, reader: role });
    return { asked: [...asked], trouble: [] };
  } catch (error) {
    return { asked: [...asked], trouble: [(error as Error).message] };
  }
}

describe('architecture/deploy: secrets by role', () => {
  it.each(ROLES)('the compose file gives %s what it needs and nothing that it does not ask for', (role) => {
    const names = composeNames(role);

    const { asked, trouble } = readBy(role, names);

    expect(trouble).toEqual([]);
    expect(names.filter((name) => !asked.includes(name))).toEqual([]);
  });

  it.each(ROLES)('the unit gives %s the same names as the compose file', (role) => {
    expect(unitNames(role).sort()).toEqual(composeNames(role).sort());
  });

  it('web gets its hook secret and the address of the store, and nothing that acts at the forge', () => {
    expect(composeNames('web').sort()).toEqual(['ACME_HOOK_SECRET', 'DATABASE_URL']);
  });

  it('a role that lacks one of its secrets is refused', () => {
    const names = composeNames('worker').filter((name) => name !== 'FORGE_TOKEN');

    expect(readBy('worker', names).trouble.join()).toContain('the environment has no FORGE_TOKEN');
  });
});

describe('architecture/deploy: what is installed', () => {
  it('image and package have the starter sets of init and the rules of the demo', () => {
    const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] };

    expect(files).toContain('config');
    expect(readFileSync('deploy/Dockerfile', 'utf8')).toMatch(/^COPY config \.\/config$/m);
    expect(readFileSync('.dockerignore', 'utf8')).toMatch(/^!config$/m);
  });
});

describe('architecture/deploy: how Node is started', () => {
  it.each([
    ['deploy/Dockerfile', /^ENTRYPOINT \["node", "--disable-proto=throw", /m],
    ['deploy/forgehand.service', /^ExecStart=\S+node --disable-proto=throw \S+ start /m],
    ['deploy/forgehand@.service', /^ExecStart=\S+node --disable-proto=throw \S+ start --role %i /m],
  ])('%s takes __proto__ away', (file, wanted) => {
    expect(readFileSync(file, 'utf8')).toMatch(wanted);
  });

  it.each(['deploy/forgehand.service', 'deploy/forgehand@.service'])(
    '%s lets nobody else read what it writes',
    (file) => {
      const unit = readFileSync(file, 'utf8');

      expect(unit).toMatch(/^UMask=0077$/m);
      expect(unit).toMatch(/^StateDirectoryMode=0700$/m);
    },
  );

  it.each(['deploy/forgehand.service', 'deploy/forgehand@.service'])(
    '%s starts nothing again after a wrong config or a failed flush',
    (file) => {
      expect(readFileSync(file, 'utf8')).toMatch(/^RestartPreventExitStatus=2 74$/m);
    },
  );

  it('the units of one process and of roles are hardened alike', () => {
    const hardening = (file: string): string => readFileSync(file, 'utf8').split('StateDirectory=')[1] ?? '';

    expect(existsSync('deploy/forgehand@.service')).toBe(true);
    expect(hardening('deploy/forgehand@.service')).toBe(hardening('deploy/forgehand.service'));
  });
});
