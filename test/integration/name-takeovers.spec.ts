import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { actions } from '../../src/actions/index.js';
import type { JsonObject } from '../../src/core/json.js';
import { makeOrganization } from '../../src/sandbox/resources/organization.js';
import { renameRepository, transferRepository } from '../../src/sandbox/resources/repository-edit.js';
import { makeRepository, deleteRepository } from '../../src/sandbox/resources/repository.js';
import { makeUser, renameOwner } from '../../src/sandbox/resources/user.js';
import type { Repository } from '../../src/sandbox/world.js';
import { TrackerRig } from './support/tracker-rig.js';

/**
 * Every action that acts on a repository, against every way in which the name of the one that was meant comes to belong to another one: the number that
 * the decision pinned counts, never the name. Each is wanted as its example says, or as here, where the example names what is not on
 * the stage.
 */
const WISHES: Readonly<Record<string, (sha: string) => JsonObject>> = {
  'branch.create': () => ({ new_branch_name: 'taken' }),
  'issue.assign': () => ({ number: '1', add: ['ann'] }),
  'issue.comment': () => ({ number: '1', key: 'k', body: 'Hello.' }),
  'issue.label': () => ({ number: '1', add: ['bug'] }),
  'issue.milestone': () => ({ number: '1', title: 'm1' }),
  'issue.react': () => ({ number: '1', reaction: 'heart' }),
  'issue.state': () => ({ number: '1', state: 'closed' }),
  'label.remove': () => ({ name: 'bug' }),
  'milestone.remove': () => ({ title: 'm1' }),
  'pull_request.merge': (sha) => ({ number: '2', sha, approvals: 0, checks: false }),
  'pull_request.unqueue': () => ({ number: '2' }),
  'pull_request.request_review': () => ({ number: '2', reviewers: ['ben'] }),
  'release.update': () => ({ tag: 'v1.0.0', prerelease: true }),
  'release_notes.ensure': () => ({ tag: 'v1.0.0' }),
  'run.rerun_failed': () => ({ run: '1' }),
  'status.set': (sha) => ({ sha, context: 'ci', state: 'success' }),
  'workflow.dispatch': () => ({ workflow: 'ci.yml', ref: 'main' }),
};

interface Stage {
  readonly rig: TrackerRig;
  /** What the rules decided about. */
  readonly meant: Repository;
  /** As whoever takes the name over. */
  readonly usurp: (owner: string, name: string) => void;
}

const WAYS: ReadonlyArray<readonly [string, (stage: Stage) => void]> = [
  [
    'renamed, and its name taken',
    ({ rig, meant, usurp }) => {
      renameRepository(rig.sandbox.parts.world, rig.sandbox.parts.admin, meant, 'moved');
      usurp('acme', 'app');
    },
  ],
  [
    'deleted, and its name taken',
    ({ rig, meant, usurp }) => {
      deleteRepository(rig.sandbox.parts.world, rig.sandbox.parts.admin, meant);
      usurp('acme', 'app');
    },
  ],
  [
    'deleted, and its name taken in other letters',
    ({ rig, meant, usurp }) => {
      deleteRepository(rig.sandbox.parts.world, rig.sandbox.parts.admin, meant);
      usurp('acme', 'App');
    },
  ],
  [
    'given to somebody else, and its name taken',
    ({ rig, meant, usurp }) => {
      const { world, admin } = rig.sandbox.parts;
      transferRepository(world, admin, meant, makeUser(world, { login: 'eve', password: 'eve:pass' }));
      usurp('acme', 'app');
    },
  ],
  [
    'in an organization that was renamed, and whose name was taken',
    ({ rig, usurp }) => {
      const { world, admin } = rig.sandbox.parts;
      const org = world.ownerByName('acme');
      if (!org) throw new Error('no acme');
      renameOwner(world, org, 'acme-old');
      makeOrganization(world, { name: 'acme', owner: admin });
      usurp('acme', 'app');
    },
  ],
];

const SHA = new Map<TrackerRig, string>();

/** What each wish is about is there, so that nothing is left undone for want of it. */
async function furnish(rig: TrackerRig, owner: string, repo: string): Promise<void> {
  const where = { owner, repo };
  const { stage } = rig;
  for (const collaborator of ['ann', 'ben'])
    await stage.addCollaborator({ ...where, collaborator, body: { permission: 'write' } });
  await stage.createLabel({ ...where, body: { name: 'bug', color: '#000000' } });
  await stage.createMilestone({ ...where, body: { title: 'm1' } });
  await stage.createIssue({ ...where, body: { title: 'It is slow' } });
  await stage.createTag({ ...where, body: { tag_name: 'v1.0.0' } });
  await stage.createRelease({ ...where, body: { tag_name: 'v1.0.0', name: '1.0' } });
  await stage.createBranch({ ...where, body: { new_branch_name: 'topic' } });
  await stage.createFile({
    ...where,
    filepath: 'a.txt',
    body: { branch: 'topic', content: Buffer.from('a').toString('base64'), message: 'a' },
  });
  await stage.createPull({ ...where, body: { base: 'main', head: 'topic', title: 'a' } });
  SHA.set(rig, (await stage.getPull({ ...where, index: 2 })).head?.sha ?? '');
}

/** Requests that changed something in what is called so now. */
function effectsAt(rig: TrackerRig, from: number, owner: string, repo: string): string[] {
  const path = `/repos/${owner}/${repo}/`.toLowerCase();
  return rig.sandbox.parts.ledger.entries
    .slice(from)
    .filter(
      (entry) =>
        entry.applied.length > 0 &&
        `${decodeURIComponent(entry.path).split('?')[0] ?? ''}/`.toLowerCase().includes(path),
    )
    .map(({ method, path: asked }) => `${method} ${asked}`);
}

const NAMES = [...actions.values()].filter(({ target }) => target === 'repository').map(({ name }) => name);

function wishOf(name: string, rig: TrackerRig): JsonObject {
  return WISHES[name]?.(SHA.get(rig) ?? '') ?? actions.get(name)?.example ?? {};
}

describe('integration/name-takeovers', () => {
  it('is a hundred cases and more, and each wish is of an action that acts on a repository', () => {
    expect(Object.keys(WISHES).filter((name) => !NAMES.includes(name))).toEqual([]);
    expect(NAMES.length * WAYS.length).toBeGreaterThanOrEqual(100);
  });

  describe('where the name was not taken', () => {
    let rig: TrackerRig;
    beforeAll(async () => {
      rig = await TrackerRig.start('gitea');
      await furnish(rig, 'acme', 'app');
    });
    afterAll(() => rig.close());

    it('nearly all of the wishes have an effect: a name that was taken is what keeps them from it', async () => {
      const from = rig.sandbox.parts.ledger.entries.length;
      for (const name of NAMES) await rig.want(name, wishOf(name, rig));

      expect(effectsAt(rig, from, 'acme', 'app').length).toBeGreaterThanOrEqual(14);
    });
  });

  describe.each(WAYS)('a repository that was %s', (_way, takeOver) => {
    let rig: TrackerRig;
    let from = 0;
    let usurper = '';
    beforeAll(async () => {
      rig = await TrackerRig.start('gitea');
      await furnish(rig, 'acme', 'app');
      const { world, admin } = rig.sandbox.parts;
      const meant = [...world.repos.values()].find(({ id }) => String(id) === rig.repo.id);
      if (!meant) throw new Error('no app');
      takeOver({
        rig,
        meant,
        usurp: (owner, name) => {
          const by = world.ownerByName(owner);
          if (!by) throw new Error(`no ${owner}`);
          makeRepository(world, admin, { owner: by, name, files: { 'README.md': '# mine\n' } });
          usurper = name;
        },
      });
      await furnish(rig, 'acme', usurper);
      from = rig.sandbox.parts.ledger.entries.length;
    });
    afterAll(() => rig.close());

    it.each(NAMES)('%s leaves the one that has its name now alone', async (name) => {
      const intent = await rig.want(name, wishOf(name, rig));

      expect(intent.state).toMatch(/^(done|unchanged|conflict|refused)$/);
      expect(effectsAt(rig, from, 'acme', usurper)).toEqual([]);
    });
  });
});
