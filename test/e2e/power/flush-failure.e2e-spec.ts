import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { ROOT } from '../../services/with-services.mjs';
import { deliveryOf, HOOK_SECRET } from '../../chaos/workload.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot } from '../support/bot.js';
import { FORGEHAND, requireBuild } from '../support/built.js';
import { Child } from '../support/child.js';
import { diskFolder } from '../../tools/fast-folder.mjs';

const REPO = { id: 1, name: 'r', owner: { id: 3, login: 'acme' } };

/** A bot whose forge is away, with a disk that fails on demand. */
function aFailingPlace(): Place {
  const place = aPlace({
    config: {
      forges: [
        { id: 'main', base_url: 'http://127.0.0.1:9/api/v1', auth: { type: 'token', token: { env: 'FORGE_TOKEN' } } },
      ],
      orgs: [
        {
          name: 'acme',
          forge: 'main',
          hooks: [{ id: 'acme', secret: { env: 'HOOK_SECRET' } }],
          rules: { path: 'rules' },
        },
      ],
      store: { url: 'embedded:./data' },
      server: { host: '127.0.0.1', port: 0 },
    },
    files: { 'rules/rules.yaml': 'version: 1\norg: acme\nrules: []\n' },
    within: diskFolder(),
  });
  const env = {
    FORGE_TOKEN: 't'.repeat(40),
    HOOK_SECRET,
    NODE_OPTIONS: `--import ${join(ROOT, 'test/e2e/power/fail-flushes.mjs')}`,
  };
  return { ...place, env: { ...env, FAIL_FLUSHES: join(place.dir, 'fail') } };
}

/** @returns the status, or null when no answer came */
async function deliver(url: string, n: number): Promise<number | null> {
  const { text, signature } = deliveryOf(n, 'nothing', REPO);
  const headers = {
    'content-type': 'application/json',
    'x-gitea-event': 'issues',
    'x-gitea-signature': signature,
    'x-gitea-delivery': `delivery-${n}`,
  };
  return request(`${url}/webhooks/acme`, { method: 'POST', headers, body: text }).then(
    async ({ statusCode, body }) => {
      await body.dump();
      return statusCode;
    },
    () => null,
  );
}

describe('e2e/power: a disk that does not confirm a flush', () => {
  let place: Place;

  beforeAll(() => {
    requireBuild();
    place = aFailingPlace();
  });

  afterAll(() => place.remove());

  it('ends the process with a code of its own and the reason; nothing is acknowledged after it, and no flush is asked for again', async () => {
    const bot = await startBot(place);
    expect(await deliver(bot.url, 0)).toBe(202);

    place.write('fail', '');
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => deliver(bot.url, n + 1)));

    expect(await bot.child.ended).toEqual({ code: 74, signal: null });
    expect(answers).not.toContain(202);
    expect(answers).not.toContain(200);
    expect(bot.child.stderr).toMatch(
      /error the disk did not confirm a write to \S*pg_wal\S* \(EIO\): nothing is acknowledged any more.*\[FLUSH_FAILED\]/,
    );
    expect(existsSync(join(place.dir, 'fail.asked'))).toBe(true);
    expect(readFileSync(join(place.dir, 'fail.asked'), 'utf8')).toBe('flush\n');
  });

  it('ends with the same code when the very first flush of a start fails, and asks for none again', async () => {
    const fresh = aFailingPlace();
    try {
      fresh.write('fail', '');

      const child = new Child([FORGEHAND, 'start', '--config', fresh.configFile], fresh.env, fresh.dir);

      expect(await child.ended).toEqual({ code: 74, signal: null });
      expect(child.stderr).toMatch(/error the disk did not confirm a write to \S+ \(EIO\)/);
      expect(readFileSync(join(fresh.dir, 'fail.asked'), 'utf8')).toBe('flush\n');
    } finally {
      fresh.remove();
    }
  });
});
