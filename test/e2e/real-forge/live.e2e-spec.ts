import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Row } from '../../live/rows.js';
import { ROOT } from '../../services/with-services.mjs';
import { aSandboxProcess, type SandboxProcess } from '../support/a-sandbox-process.js';
import { requireBuild } from '../support/built.js';
import { Child } from '../support/child.js';

/** One kind of each read that confirms who acted, and the parts that no other spec plays by the API alone. All of it: `npm run live`. */
const KINDS = [
  'repository.created',
  'push',
  'branch.created',
  'tag.created',
  'issue.opened',
  'issue.labeled',
  'issue.closed',
  'comment.created',
  'pull_request.opened',
  'review.rejected',
  'status.set',
  'review.approved',
  'pull_request.merged',
  'release.published',
  'comment.edited',
  'tag.deleted',
  'branch.deleted',
];
const PARTS = ['transfer', 'rename'];

describe('live on a forge known by address and credentials', () => {
  let forge: SandboxProcess;
  beforeAll(async () => {
    requireBuild();
    forge = await aSandboxProcess('--profile', 'gitea');
  });
  afterAll(() => forge.end());

  it('sees events have their effect once, leaves alone what was transferred, follows a rename, and leaves nothing', async () => {
    const before = await forge.owners();
    const program = ['--import', join(ROOT, 'test/register-swc.mjs'), join(ROOT, 'test/live/main.ts')];
    const only = [...KINDS, ...PARTS].join(',');
    const child = new Child([...program, '--url', forge.url, '--json', '--only', only], forge.env, ROOT);
    const { code } = await child.ended;
    const { rows, left } = JSON.parse(child.stdout || '{"rows":[],"left":[]}') as { rows: Row[]; left: string[] };

    expect({ failing: rows.filter(({ verdict }) => verdict === 'fails'), left, code }).toEqual({
      failing: [],
      left: [],
      code: 0,
    });
    const holding = rows.filter(({ verdict }) => verdict === 'holds');
    expect(holding.map(({ what }) => what)).toEqual(expect.arrayContaining(KINDS));
    expect(holding.map(({ part }) => part)).toEqual(expect.arrayContaining(PARTS));
    expect(await forge.owners()).toEqual(before);
  });
});
