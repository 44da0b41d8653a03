import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeForge } from '../../../test/fakes/fake-forge.js';
import { ForgeError } from '../../core/errors.js';
import type { OperationName } from '../../forge/operations.js';
import { ForgeRuleFiles } from './forge-rule-files.js';

const COMMIT = 'c'.repeat(40);
const HEAD = 'd'.repeat(40);
const WHERE = { branch: 'main', commit: COMMIT };
const ANN = { login: 'ann' };
const BEN = { login: 'ben' };

type Fields = Readonly<Record<string, unknown>>;

/** A pull request of ann's that was merged as the newest commit. */
const PULL = {
  number: '4',
  merged: true,
  merge_commit_sha: COMMIT,
  base: { ref: 'main' },
  head: { sha: HEAD },
  user: ANN,
  merged_by: BEN,
};
const APPROVAL = {
  id: '1',
  user: BEN,
  state: 'APPROVED',
  official: true,
  stale: false,
  dismissed: false,
  commit_id: HEAD,
};

describe('rules/sources/forge-rule-files', () => {
  let forge: FakeForge;
  let files: ForgeRuleFiles;

  beforeEach(() => {
    forge = new FakeForge();
    forge.addRepository('automation');
    branch({});
    files = new ForgeRuleFiles(forge, 'acme/automation');
  });

  const refused = (operation: OperationName, status: number): ForgeError =>
    new ForgeError('refused', `${operation}: status ${status}`, { operation, status });

  function branch(over: Fields, commit: Fields = {}): void {
    const told = {
      name: 'main',
      protected: true,
      effective_branch_protection_name: 'main',
      commit: { id: COMMIT, ...commit },
      ...over,
    };
    forge.answer('getBranch', async () => told);
    forge.answer('getBranchProtection', async () => ({ required_approvals: 1 }));
  }

  /** Pages of two, in the order in which the forge lists them. */
  function reviewed(reviews: readonly Fields[], pulls: readonly Fields[] = [PULL]): void {
    forge.answer('listPulls', async () => pulls);
    forge.answer('listReviews', async ({ page = 1 }) => reviews.slice((Number(page) - 1) * 2, Number(page) * 2));
  }

  describe('the state of the repository', () => {
    it('names the newest commit of the default branch, its author and the rule that protects it', async () => {
      branch(
        {},
        { author: { username: 'ann', name: 'Ann' }, verification: { verified: true, signer: { username: 'ann' } } },
      );

      expect(await files.state(null)).toEqual({
        id: '7',
        fullName: 'acme/automation',
        isMirror: false,
        branch: 'main',
        commit: COMMIT,
        author: 'ann',
        signature: { isVerified: true, signer: 'ann' },
        isProtected: true,
        protection: { approvals: 1, weakness: [] },
      });
    });

    it.each<[string, Fields, { isVerified: boolean; signer: string | null } | null]>([
      [
        'a verified signature by an account',
        { verified: true, signer: { username: 'ann', name: 'Ann' } },
        { isVerified: true, signer: 'ann' },
      ],
      [
        'a verified signature by an address',
        { verified: true, signer: { email: 'ann@acme.test' } },
        { isVerified: true, signer: 'ann@acme.test' },
      ],
      ['a verified signature by nobody that is told', { verified: true }, { isVerified: true, signer: null }],
      [
        'a signature that is not verified, in the name of somebody',
        { verified: false, signer: { username: 'root' } },
        { isVerified: false, signer: null },
      ],
      ['a signature of which the forge tells nothing', {}, null],
    ])('tells %s', async (_what, verification, expected) => {
      branch({}, { verification });

      expect((await files.state(null)).signature).toEqual(expected);
    });

    it.each<[string, Fields, string[]]>([
      ['closed to every push', { enable_push: false }, []],
      ['open to every writer', { enable_push: true }, ['open-push']],
      ['open to a list', { enable_push: true, enable_push_whitelist: true }, ['push-list']],
      ['with a list, and pushes disabled', { enable_push: false, enable_push_whitelist: true }, []],
      ['open to force-pushes', { enable_force_push: true }, ['force-push']],
      ['open to force-pushes of a list', { enable_force_push: true, enable_force_push_allowlist: true }, []],
      ['with unprotected files', { unprotected_file_patterns: ' *.md ' }, ['unprotected-files']],
      ['with blanks for a pattern', { unprotected_file_patterns: '  ' }, []],
      ['with accounts that pass over it', { enable_bypass_allowlist: true }, ['bypass-list']],
    ])('of a protection %s, tells what it lets through', async (_what, rule, weakness) => {
      forge.answer('getBranchProtection', async () => ({ required_approvals: 2, ...rule }));

      expect((await files.state(null)).protection).toEqual({ approvals: 2, weakness });
    });

    it.each<[string, () => void]>([
      [
        'the token may not read it',
        () => forge.answer('getBranchProtection', async () => Promise.reject(refused('getBranchProtection', 403))),
      ],
      ['the forge does not name it', () => branch({ effective_branch_protection_name: '' })],
    ])('knows no protection where %s', async (_what, change) => {
      change();

      expect(await files.state(null)).toMatchObject({ isProtected: true, protection: null });
    });

    it('passes on that the forge does not answer, in place of a protection that is not known', async () => {
      forge.failNext('getBranchProtection', 'unknown');

      await expect(files.state(null)).rejects.toMatchObject({ kind: 'unknown' });
    });

    it('takes the operator’s branch where the forge does not tell the default one, and no other branch where it does', async () => {
      const core = new FakeForge('core');
      core.addRepository('automation');
      core.answer('getBranch', async ({ branch: name }) => ({ name, protected: true, commit: { id: COMMIT } }));
      const bare = new ForgeRuleFiles(core, 'acme/automation');

      expect(await bare.state('main')).toMatchObject({ id: null, fullName: null, branch: 'main', protection: null });
      await expect(bare.state(null)).rejects.toMatchObject({
        code: 'RULES_NO_BRANCH',
        message: expect.stringContaining('orgs[].rules.branch'),
      });
      await expect(files.state('wip')).rejects.toMatchObject({
        code: 'RULES_NO_BRANCH',
        message: expect.stringContaining('rules must come from main'),
      });
    });
  });

  describe('the review of a commit', () => {
    it.each<[string, Fields]>([
      ['the list', PULL],
      ['the pull request alone', { ...PULL, merged_by: null }],
    ])(
      'names the pull request, its author, who approved its last commit, and who merged it, of which %s tells',
      async (_what, listed) => {
        reviewed([APPROVAL], [listed]);
        forge.answer('getPull', async () => PULL);

        expect(await files.review(WHERE)).toEqual({ pull: 4, author: 'ann', mergedBy: 'ben', approvedBy: ['ben'] });
      },
    );

    it.each<[string, readonly Fields[]]>([
      ['its author’s own', [{ ...APPROVAL, user: ANN }]],
      ['its author’s own, in other letters', [{ ...APPROVAL, user: { login: 'Ann' } }]],
      ['nobody’s', [{ ...APPROVAL, user: null }]],
      ['not official', [{ ...APPROVAL, official: false }]],
      ['of which the forge does not tell whether it is official', [{ ...APPROVAL, official: undefined }]],
      ['stale', [{ ...APPROVAL, stale: true }]],
      ['dismissed', [{ ...APPROVAL, dismissed: true }]],
      ['of an earlier commit', [{ ...APPROVAL, commit_id: 'e'.repeat(40) }]],
      ['of no commit', [{ ...APPROVAL, commit_id: '' }]],
      ['a comment', [{ ...APPROVAL, state: 'COMMENT' }]],
      ['taken back', [APPROVAL, { ...APPROVAL, id: '2', state: 'REQUEST_CHANGES' }]],
      [
        'taken back, and listed first',
        [
          { ...APPROVAL, id: '10', state: 'REQUEST_CHANGES' },
          { ...APPROVAL, id: '9' },
        ],
      ],
      [
        'taken back beyond the first page of reviews',
        [
          APPROVAL,
          ...['2', '3', '4'].map((id) => ({ ...APPROVAL, id, state: 'COMMENT' })),
          { ...APPROVAL, id: '5', state: 'REQUEST_CHANGES' },
        ],
      ],
    ])('counts no approval that is %s', async (_what, reviews) => {
      reviewed(reviews);

      expect(await files.review(WHERE)).toMatchObject({ pull: 4, approvedBy: [] });
    });

    it('counts no approval where the forge tells neither the head nor the commit of the review', async () => {
      reviewed([{ ...APPROVAL, commit_id: '' }], [{ ...PULL, head: null }]);

      expect(await files.review(WHERE)).toMatchObject({ pull: 4, approvedBy: [] });
    });

    it('counts an approval that follows a request for changes, and each person once', async () => {
      const cleo = { ...APPROVAL, id: '4', user: { login: 'cleo' } };
      reviewed([
        { ...APPROVAL, state: 'REQUEST_CHANGES' },
        { ...APPROVAL, id: '2' },
        { ...APPROVAL, id: '3', user: { login: 'Ben' } },
        cleo,
      ]);

      expect(await files.review(WHERE)).toMatchObject({ approvedBy: ['Ben', 'cleo'] });
    });

    it.each<[string, Fields]>([
      ['was not merged', { merged: false }],
      ['brought another commit', { merge_commit_sha: HEAD }],
      ['went into another branch', { base: { ref: 'wip' } }],
    ])('finds none where the only pull request %s', async (_what, over) => {
      reviewed([APPROVAL], [{ ...PULL, ...over }]);

      expect(await files.review(WHERE)).toBe('none');
    });

    it.each<[OperationName, number]>([
      ['listPulls', 403],
      ['listPulls', 404],
      ['listReviews', 403],
    ])('is not known where %s is refused with %i', async (operation, status) => {
      reviewed([APPROVAL]);
      forge.answer(operation, async () => Promise.reject(refused(operation, status)));

      expect(await files.review(WHERE)).toBe('unknown');
    });

    it('is not known on a forge without reviews, and passes on that the forge does not answer', async () => {
      reviewed([APPROVAL]);
      forge.failNext('listReviews', 'unknown');

      await expect(files.review(WHERE)).rejects.toMatchObject({ kind: 'unknown' });
      expect(
        await new ForgeRuleFiles(
          { client: forge.client, offers: (name) => name !== 'listReviews' },
          'acme/automation',
        ).review(WHERE),
      ).toBe('unknown');
    });
  });
});
