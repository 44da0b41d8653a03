import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { FolderSource } from '../../src/rules/sources/folder-source.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import { makeTrial } from '../../src/insight/trial.js';

const EXAMPLES = new FolderSource('config/rules/examples');
const ACME = new FolderSource('config/rules/acme');
const ORGANIZATION = new FolderSource('config/rules/organization');
const STARTERS = new FolderSource('config/rules/starters');
const POWERS = new Set([
  'backport',
  'branch.delete',
  'protection.ensure',
  'repo.create_for_user',
  'repository_settings.ensure',
  'review.approve',
  'topics.ensure',
  'user_settings.update',
]);

/** What a forge that offers nothing else must still do for us, by the names of the table of operations. */
const OPERATIONS_20 = [
  'createBranch',
  'getBranch',
  'listOrgHooks',
  'adminCreateRepo',
  'getFiles',
  'updateUserSettings',
  'createPushMirror',
  'listOrgFeed',
  'getPackage',
  'getBranchProtection',
  'listMyJobs',
  'listJobsOfAttempt',
  'updateRelease',
  'listActionTasks',
  'createLabel',
  'listTokens',
  'updateOrgVariable',
  'createMilestone',
  'listPushMirrors',
  'createUserVariable',
];

async function load(...sources: readonly FolderSource[]): Promise<ReturnType<typeof loadRules>> {
  const files = (await Promise.all(sources.map((source) => source.read()))).flat();
  const environment = {
    org: 'acme',
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers: POWERS,
    secrets: new Set(['mirror_token', 'dev_chat']),
  };
  return loadRules(files, { ...environment, engine: new CelEngine(), checkTypes: true });
}

describe('config/rules/examples', () => {
  it('use all 20 operations of the interface', async () => {
    const result = await load(EXAMPLES);
    const used = new Set(
      result.ok ? [...result.revision.rules, ...result.revision.policies].flatMap(({ operations }) => operations) : [],
    );

    expect(OPERATIONS_20.filter((name) => !used.has(name))).toEqual([]);
  });

  it.each([
    ['alone', [EXAMPLES]],
    ['beside the rules of the demo', [EXAMPLES, ACME]],
    ['of a whole organization', [ORGANIZATION]],
    ['of a whole organization, beside the examples', [ORGANIZATION, EXAMPLES]],
  ])('raise no alarm, of loops or of anything else, %s', async (_how, sources) => {
    const result = await load(...sources);

    expect(result.ok ? [] : result.problems).toEqual([]);
  });

  it.each([
    ['examples', EXAMPLES],
    ['acme', ACME],
    ['organization', ORGANIZATION],
    ['starters', STARTERS],
  ])('%s give no warning', async (_folder, source) => {
    const { ok, warnings } = await load(source);

    expect({ ok, warnings }).toEqual({ ok: true, warnings: [] });
  });

  it.each([
    ['examples', EXAMPLES],
    ['acme', ACME],
    ['organization', ORGANIZATION],
  ])('%s make of their fixtures what these say', async (_name, source) => {
    const { problems, results } = makeTrial().fixtures(await source.read(), await source.readTests());

    expect(problems).toEqual([]);
    expect(results.filter(({ failures }) => failures.length > 0)).toEqual([]);
    expect(results.length).toBeGreaterThan(10);
  });
});
