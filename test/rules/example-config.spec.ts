import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { OrgConfig } from '../../src/config/app-config.js';
import { readConfig } from '../../src/config/read-config.js';
import { FolderSource } from '../../src/rules/sources/folder-source.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';

const EXAMPLE = fileURLToPath(new URL('../../config/forgehand.example.yaml', import.meta.url));
const env = { FORGE_TOKEN: 'x', ACME_HOOK_SECRET: 'x', ACME_MIRROR_TOKEN: 'x' };

async function loadFor(
  org: OrgConfig,
  over: { powers?: OrgConfig['powers']; secrets?: string[] } = {},
): Promise<ReturnType<typeof loadRules>> {
  return loadOf(await new FolderSource(org.rules.path ?? '').read(), org, over);
}

function loadOf(
  files: Parameters<typeof loadRules>[0],
  org: OrgConfig,
  over: { powers?: OrgConfig['powers']; secrets?: string[] },
): ReturnType<typeof loadRules> {
  return loadRules(files, {
    org: org.name,
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers: new Set(over.powers ?? org.powers),
    secrets: new Set(over.secrets ?? Object.keys(org.secrets)),
    engine: new CelEngine(),
  });
}

describe('config/forgehand.example.yaml', () => {
  const [org, ...others] = readConfig(EXAMPLE, { env }).orgs;
  if (!org) throw new Error('the example names no organization');

  it('loads with the rules it points to: their powers and secrets are those it grants', async () => {
    const result = await loadFor(org);

    expect(others).toEqual([]);
    expect(result.ok ? [] : result.problems).toEqual([]);
    expect(result.ok && result.revision.rules.length > 0 && result.revision.policies.length > 0).toBe(true);
  });

  it('starts with what docs/connecting.md exports, and without the mirror once its file is deleted', async () => {
    const page = readFileSync(fileURLToPath(new URL('../../docs/connecting.md', import.meta.url)), 'utf8');
    const beforeStart = page.slice(0, page.indexOf('4. **Start'));
    const exported = Object.fromEntries(
      [...beforeStart.matchAll(/export (\w+)=/g)].map(([, name = '']) => [name, 'x']),
    );

    expect(() => readConfig(EXAMPLE, { env: exported })).not.toThrow();
    expect(beforeStart).toContain('config/rules/acme/mirrors.yaml');
    const files = await new FolderSource(org.rules.path ?? '').read();
    const without = files.filter(({ name }) => name !== 'mirrors.yaml');
    expect(without).toHaveLength(files.length - 1);
    expect(loadOf(without, org, { secrets: [] })).toMatchObject({ ok: true });
  });

  it('grants no more than they use', async () => {
    for (const power of org.powers)
      expect([power, (await loadFor(org, { powers: org.powers.filter((one) => one !== power) })).ok]).toEqual([
        power,
        false,
      ]);
    for (const name of Object.keys(org.secrets)) {
      expect([
        name,
        (await loadFor(org, { secrets: Object.keys(org.secrets).filter((one) => one !== name) })).ok,
      ]).toEqual([name, false]);
    }
  });
});
