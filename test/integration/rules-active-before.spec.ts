import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../src/api/operations/answers.js';
import { checkAlone } from '../../src/cli/check-rules.js';
import { hashOf } from '../../src/core/ids.js';
import { hashOfFiles } from '../../src/rules/language/load/load-rules.js';
import { openStores } from '../../src/store/open-stores.js';
import { until } from '../services/until.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { acmeConfig } from './support/acme-config.js';
import { aForge, type TestForge } from './support/a-forge.js';

/** The version before took this filter, which can never match; this one refuses it. */
const TEXT = `version: 1
org: acme
rules:
  - { id: never, on: push, where: { branch: refs/heads/main }, do: { milestone.ensure: { title: x } } }
  - { id: hello, on: repository.created, do: { label.ensure: { name: hello, color: "#00ff00" } } }
`;

describe('integration/rules that were active before a check of theirs was new', () => {
  const store = mkdtempSync(join(tmpdir(), 'fh-active-before-'));
  let forge: TestForge;
  let bot: TestBot | null = null;

  const start = async (text: string): Promise<TestBot> =>
    (bot = await aBot({
      config: { ...acmeConfig(forge), store: { url: `embedded:${store}` } },
      files: { 'rules/r.yaml': text },
      env: { FORGE_TOKEN: forge.botToken, HOOK: 'the secret of the hook' },
    }));
  const stop = async (): Promise<void> => {
    await bot?.close();
    bot = null;
  };
  const orgOf = async (): Promise<StatusReport['rows'][number] | undefined> =>
    (await bot?.reach.get<StatusReport>('/v1/status'))?.rows[0];

  beforeAll(async () => {
    forge = await aForge({ org: 'acme' });
    const files = [{ path: 'r.yaml', name: 'r.yaml', text: TEXT }];
    const hash = hashOfFiles(files);
    const stores = await openStores({ kind: 'embedded', dir: store });
    await stores.migrate();
    const loadedAt = new Date('2026-11-01T00:00:00Z');
    const id = hashOf('acme', hash).slice(0, 32);
    await stores.revisions.save({ id, org: 'acme', hash, files, state: 'active', problems: [], loadedAt });
    await stores.close();
  });

  afterEach(stop);

  afterAll(async () => {
    await forge?.close();
    rmSync(store, { recursive: true, force: true });
  });

  it.each(['with the new version', 'after a restart'])('stay active %s, and the mistake is a warning', async () => {
    const { log } = await start(TEXT);

    expect(await orgOf()).toMatchObject({ revision: { rules: 2 }, heldBack: [] });
    const lines = log()
      .split('\n')
      .filter((line) => line.includes('rules.warnings'));
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { warnings: 1, first: expect.stringMatching(/r\.yaml:4:\d+: .*refs\/heads/) },
    ]);
  });

  it('are refused once their text changes, and the revision of before stays active, over a restart too', async () => {
    const changed = `# an edit\n${TEXT}`;
    const { write } = await start(TEXT);
    write('rules/r.yaml', changed);
    await until(async () => ((await orgOf())?.heldBack.length ?? 0) > 0);
    expect(await orgOf()).toMatchObject({
      revision: { rules: 2 },
      heldBack: [expect.stringMatching(/r\.yaml:5:\d+: .*refs\/heads/)],
    });
    await stop();

    const { dir } = await start(changed);
    expect(await orgOf()).toMatchObject({
      revision: { rules: 2 },
      heldBack: [expect.stringContaining('refs/heads')],
    });
    expect(await checkAlone(join(dir, 'rules'))).toMatchObject([
      { problems: [{ message: expect.stringContaining('refs/heads') }] },
    ]);
  });
});
