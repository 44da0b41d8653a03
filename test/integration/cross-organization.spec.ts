import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lookups } from '../../src/actions/lookups/index.js';
import { ForgeLookupReader } from '../../src/actions/lookups/forge-lookup-reader.js';
import type { Json, JsonObject } from '../../src/core/json.js';
import { makeOrganization } from '../../src/sandbox/resources/organization.js';
import { makeRepository } from '../../src/sandbox/resources/repository.js';
import { TrackerRig } from './support/tracker-rig.js';
import { sentenceOf } from '../builders/reasons.js';

/** Stands in everything that the other organization has. */
const CANARY = 'canary-of-butler';
const THEIRS = { owner: 'butler', repo: 'vault' } as const;

/** Texts by which a rule of acme could try to get at something of butler. */
const CROSSED: readonly string[] = [
  'butler',
  'Butler',
  'butler/vault',
  '/butler/vault',
  '../../butler/vault',
  '../../../repos/butler/vault',
  '..%2f..%2fbutler%2fvault',
  '%2e%2e/%2e%2e/butler/vault',
  '..\\..\\butler\\vault',
  'butler/vault#1',
  'butler/vault@main',
  'butler/vault:main',
  'butler:main',
  'main?owner=butler&repo=vault',
  'main#/../../butler/vault',
  'main\r\nHost: butler',
  'http://127.0.0.1/api/v1/repos/butler/vault',
  '//butler/vault',
  CANARY,
  `refs/heads/${CANARY}`,
  'v-canary-of-butler',
  'x&org=butler',
  'x;owner=butler',
  'x/../../../orgs/butler',
  '*',
];

describe('integration/cross-organization', () => {
  let rig: TrackerRig;
  let reader: ForgeLookupReader;
  /** Numbers of what the other organization has, and of what it may have. */
  let numbers: number[];
  let vaultId: string;

  beforeAll(async () => {
    rig = await TrackerRig.start('gitea');
    const { world, admin } = rig.sandbox.parts;
    const butler = makeOrganization(world, { name: 'butler', owner: admin });
    const vault = makeRepository(world, admin, {
      owner: butler,
      name: 'vault',
      files: { [CANARY]: CANARY, 'README.md': CANARY },
    });
    vaultId = String(vault.id);
    const { stage } = rig;
    await stage.createBranch({ ...THEIRS, body: { new_branch_name: CANARY } });
    const issue = await stage.createIssue({ ...THEIRS, body: { title: CANARY, body: CANARY } });
    await stage.createComment({ ...THEIRS, index: Number(issue.number), body: { body: CANARY } });
    await stage.createLabel({ ...THEIRS, body: { name: CANARY, color: '#00aa00' } });
    await stage.createMilestone({ ...THEIRS, body: { title: CANARY } });
    const release = await stage.createRelease({
      ...THEIRS,
      body: { tag_name: `v-${CANARY}`, name: CANARY, body: CANARY },
    });
    await stage.createOrgVariable({
      org: 'butler',
      variablename: 'CANARY',
      body: { value: CANARY, description: CANARY },
    });
    numbers = [1, 2, Number(vaultId), Number(issue.number), Number(issue.id), Number(release.id)];
    reader = new ForgeLookupReader({ get: () => rig.access });
  });

  afterAll(() => rig.close());

  function valueOf(type: string, text: string, n: number): Json {
    if (type === 'string') return text;
    if (type === 'strings') return [text];
    if (type === 'boolean') return true;
    return type === 'integer'
      ? (numbers[n % numbers.length] ?? 1)
      : n % 2 === 0
        ? text
        : (numbers[n % numbers.length] ?? 1);
  }

  it('gives a rule of one organization nothing of another, whatever names and numbers it asks for', async () => {
    // The account may read all: only we stand between. What is about the account itself belongs to no organization.
    const asked = [...lookups.values()].filter(({ target }) => target !== 'account');
    const before = rig.sandbox.parts.ledger.entries.length;
    const told: string[] = [];
    let count = 0;
    for (const lookup of asked) {
      for (const [n, text] of CROSSED.entries()) {
        const params = Object.fromEntries(
          Object.entries(lookup.params).map(([name, { type }]) => [name, valueOf(type, text, n)]),
        ) as JsonObject;
        const request = { as: 'x', use: lookup.name, params, onMissing: 'none' as const };
        const answer = await reader
          .read(request, { forge: 'main', org: 'acme', repo: rig.repo })
          .catch((error: unknown) => ({ failed: String(error) }));
        count += 1;
        // An answer may repeat what it was asked for.
        const said = 'value' in answer ? JSON.stringify(answer.value) : '';
        if ((text.includes(CANARY) ? said.replaceAll(text, '') : said).includes(CANARY))
          told.push(`${lookup.name} ${JSON.stringify(params)}`);
      }
    }

    const paths = rig.sandbox.parts.ledger.entries.slice(before).map(({ path }) => new URL(path, 'http://x').pathname);
    // The first team is that of the owners of acme.
    const own =
      /^\/api\/v1\/(?:repos\/acme\/app(?:\/|$)|orgs\/acme(?:\/|$)|packages\/acme\/|repositories\/|users?(?:\/|$)|teams\/1\/)/;
    expect(count).toBeGreaterThanOrEqual(500);
    expect(told).toEqual([]);
    expect(paths.length).toBeGreaterThan(100);
    expect(paths.filter((path) => !own.test(path))).toEqual([]);
  });

  it('finds the canary where it is asked for in its own organization', async () => {
    const repo = { ...rig.repo, id: vaultId, owner: 'butler', name: 'vault', full_name: 'butler/vault' };
    const finds = ['labels.list', 'milestones.list', 'releases.list', 'issues.list'];

    for (const use of finds) {
      const answer = await reader.read(
        { as: 'x', use, params: {}, onMissing: 'none' },
        { forge: 'main', org: 'butler', repo },
      );
      expect(JSON.stringify(answer)).toContain(CANARY);
    }
  });

  it('writes nothing to a repository of another organization, by whatever name it is known here', async () => {
    const repo = { ...rig.repo, id: vaultId, name: 'vault', full_name: 'acme/vault' };

    const intent = await rig.rig.want('label.ensure', { name: 'bug', color: '#00aa00' }, { repo });

    expect(intent).toMatchObject({ state: 'refused', result: { code: 'repository_elsewhere' } });
    // Who sends a number must not learn whose it is.
    expect(sentenceOf(intent.reason)).not.toContain('butler');
    expect(rig.written).toEqual([]);
  });
});
