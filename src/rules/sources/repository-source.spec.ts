import { describe, expect, it } from '@jest/globals';
import { aLoadEnvironment } from '../../../test/builders/rule-environment.js';
import { InMemoryRevisionStore } from '../../../test/fakes/in-memory-revision-store.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { BotError } from '../../core/errors.js';
import { silentLogger } from '../../core/logger.js';
import { loadRules } from '../language/load/load-rules.js';
import { RepositorySource, type RepositorySourceOptions } from './repository-source.js';
import { RevisionKeeper } from '../revisions/revision-keeper.js';
import { describeOrigin } from '../../cli/describe-origin.js';
import type {
  ProtectionWeakness,
  RuleRepository,
  RuleRepositoryFile,
  RuleRepositoryState,
  RuleReview,
  RuleVerdict,
} from './rule-repository.port.js';

type Tree = Readonly<Record<string, string | Partial<RuleRepositoryFile>>>;

const INDEX = '.forgehand/index.yaml';
const index = (...paths: string[]): string => `version: 1\nfiles: ${JSON.stringify(paths)}\n`;
const rules = (id: string): string =>
  `version: 1\norg: acme\nrules: [{id: ${id}, on: push, do: {milestone.ensure: {title: a}}}]\n`;
const commitOf = (digit: string): string => digit.repeat(40);

/** A forge's side, in memory: what is told of the repository, and one tree for each commit. */
class FakeRepository implements RuleRepository {
  told: RuleRepositoryState;
  trees = new Map<string, Tree>();
  failure: Error | null = null;
  /** Runs between the reading of files and whatever comes after it. */
  meanwhile: () => void = () => {};

  constructor(tree: Tree) {
    this.told = {
      id: '12',
      fullName: 'acme/automation',
      isMirror: false,
      branch: 'main',
      commit: commitOf('a'),
      isProtected: true,
      author: 'ann',
      signature: { isVerified: true, signer: 'ann' },
      protection: { approvals: 1, weakness: [] },
    };
    this.trees.set(this.told.commit, tree);
  }

  push(digit: string, tree: Tree): void {
    this.told = { ...this.told, commit: commitOf(digit) };
    this.trees.set(this.told.commit, tree);
  }

  state(): Promise<RuleRepositoryState> {
    return this.failure ? Promise.reject(this.failure) : Promise.resolve(this.told);
  }

  reviewed: RuleReview | 'none' | 'unknown' = { pull: 4, author: 'ann', mergedBy: 'ben', approvedBy: ['ben'] };

  review(): Promise<RuleReview | 'none' | 'unknown'> {
    return Promise.resolve(this.reviewed);
  }

  files(commit: string, paths: readonly string[]): Promise<Array<RuleRepositoryFile | null>> {
    const tree = this.trees.get(commit) ?? {};
    const answer = paths.map((path) => {
      const entry = tree[path];
      if (entry === undefined) return null;
      const bytes = Buffer.from(typeof entry === 'string' ? entry : '');
      return { path, type: 'file', size: bytes.length, bytes, ...(typeof entry === 'string' ? {} : entry) };
    });
    if (!paths.includes(INDEX)) this.meanwhile();
    return Promise.resolve(answer);
  }
}

async function keep(repository: FakeRepository, options: Partial<RepositorySourceOptions> = {}) {
  const verdicts: RuleVerdict[] = [];
  let pin: { repository: string; id: string } | null = null;
  let look: () => void = () => {};
  const source = new RepositorySource(
    {
      repository: 'acme/automation',
      branch: null,
      id: null,
      everyS: 3600,
      extendsFrom: [],
      builtInSets: true,
      ...options,
    },
    {
      repository: () => repository,
      pin: { read: () => Promise.resolve(pin), write: (given) => Promise.resolve(void (pin = given)) },
      concluded: (verdict) => void verdicts.push(verdict),
    },
  );
  const store = new InMemoryRevisionStore();
  const activated: string[] = [];
  const keeper = new RevisionKeeper(
    {
      all: [
        {
          name: 'acme',
          source: {
            read: () => source.read(),
            confirm: () => source.confirm(),
            commitOf: (hash) => source.commitOf(hash),
            originOf: (hash) => source.originOf(hash),
            concluded: (outcome) => source.concluded(outcome),
            nudge: (id) => source.nudge(id),
            watch: (changed) => void (look = changed),
            close: () => source.close(),
          },
        },
      ],
    },
    { load: async (_org, files) => loadRules(files, aLoadEnvironment()) },
    { list: async () => [] },
    store,
    new ManualClock(),
    silentLogger,
    { raise: () => {}, resolve: () => {} },
  );
  keeper.onActivated((_org, { revision }) => void activated.push(revision.rules.map(({ id }) => id).join()));
  await keeper.start();
  return {
    keeper,
    store,
    activated,
    verdicts,
    pin: () => pin,
    /** Look again, as after a push. */
    look: async () => {
      look();
      await keeper.stop();
    },
  };
}

const GOOD: Tree = { [INDEX]: index('rules/a.yaml'), 'rules/a.yaml': rules('good') };
const EVIL: Tree = { [INDEX]: index('rules/a.yaml'), 'rules/a.yaml': rules('evil') };
const link = { type: 'symlink', bytes: Buffer.from(rules('evil')) };
const many = Array.from({ length: 51 }, (_, n) => `r${n}.yaml`);

const weak = ({ told }: FakeRepository, ...weakness: ProtectionWeakness[]): RuleRepositoryState => ({
  ...told,
  protection: { approvals: 1, weakness },
});

/** Everything that somebody without the operator's trust may do about the repository: nothing of it may become active. */
const HOSTILE: ReadonlyArray<readonly [string, (forge: FakeRepository) => void]> = [
  ['the branch loses its protection', (f) => void (f.push('b', EVIL), (f.told = { ...f.told, isProtected: false }))],
  [
    'the branch loses its protection and then changes twice',
    (f) => void (f.push('b', EVIL), f.push('c', EVIL), (f.told = { ...f.told, isProtected: false })),
  ],
  [
    'everybody may force-push, by the protection’s own rule',
    (f) => void (f.push('b', EVIL), (f.told = { ...f.told, protection: { approvals: 0, weakness: ['force-push'] } })),
  ],
  [
    'everybody may push and force-push',
    (f) =>
      void (
        f.push('b', EVIL),
        (f.told = { ...f.told, protection: { approvals: 0, weakness: ['open-push', 'force-push'] } })
      ),
  ],
  ['every writer may push without a review', (f) => void (f.push('b', EVIL), (f.told = weak(f, 'open-push')))],
  [
    'every writer may push files of some patterns',
    (f) => void (f.push('b', EVIL), (f.told = weak(f, 'unprotected-files'))),
  ],
  [
    'pushes are opened to every writer while the files are read',
    (f) => void (f.push('b', EVIL), (f.meanwhile = () => void (f.told = weak(f, 'open-push')))),
  ],
  [
    'nobody tells what the protection lets through',
    (f) => void (f.push('b', EVIL), (f.told = { ...f.told, protection: null })),
  ],
  [
    'history is rewritten while the protection is away',
    (f) => void (f.push('0', EVIL), (f.told = { ...f.told, isProtected: false })),
  ],
  [
    'the default branch is set to an unprotected one',
    (f) => void (f.push('b', EVIL), (f.told = { ...f.told, branch: 'wip', isProtected: false })),
  ],
  ['another branch holds other rules', (f) => void f.trees.set(commitOf('b'), EVIL)],
  ['a fork holds other rules', (f) => void f.trees.set(commitOf('f'), EVIL)],
  ['another repository takes the name', (f) => void (f.push('b', EVIL), (f.told = { ...f.told, id: '77' }))],
  ['a fork takes the name', (f) => void (f.push('b', EVIL), (f.told = { ...f.told, id: '78' }))],
  [
    'the repository is renamed',
    (f) => void (f.push('b', EVIL), (f.told = { ...f.told, fullName: 'acme/old-automation' })),
  ],
  [
    'the repository is given to another owner',
    (f) => void (f.push('b', EVIL), (f.told = { ...f.told, fullName: 'mallory/automation' })),
  ],
  [
    'the forge answers with a repository of another owner',
    (f) => void (f.push('b', EVIL), (f.told = { ...f.told, id: '79', fullName: 'mallory/automation' })),
  ],
  [
    'the forge does not tell the number any more, and the pin cannot be compared',
    (f) => void (f.push('b', EVIL), (f.told = { ...f.told, id: null })),
  ],
  ['the repository becomes a mirror', (f) => void (f.push('b', EVIL), (f.told = { ...f.told, isMirror: true }))],
  [
    'the commit is no hash',
    (f) => void (f.push('b', EVIL), f.trees.set('main', EVIL), (f.told = { ...f.told, commit: 'main' })),
  ],
  ['the commit is empty', (f) => void (f.trees.set('', EVIL), (f.told = { ...f.told, commit: '' }))],
  [
    'the commit is a short hash',
    (f) => void (f.trees.set('bbbbbbb', EVIL), (f.told = { ...f.told, commit: 'bbbbbbb' })),
  ],
  ['the index is gone', (f) => f.push('b', { 'rules/a.yaml': rules('evil') })],
  [
    'the index is a link',
    (f) => f.push('b', { ...EVIL, [INDEX]: { type: 'symlink', bytes: Buffer.from(index('rules/a.yaml')) } }),
  ],
  ['the index is a folder', (f) => f.push('b', { ...EVIL, [INDEX]: { type: 'dir', bytes: null } })],
  ['the index is a submodule', (f) => f.push('b', { ...EVIL, [INDEX]: { type: 'submodule', bytes: null } })],
  [
    'the index is too large',
    (f) => f.push('b', { ...EVIL, [INDEX]: `${index('rules/a.yaml')}#${'x'.repeat(256 * 1024)}` }),
  ],
  ['the index is broken', (f) => f.push('b', { ...EVIL, [INDEX]: 'files: [' })],
  [
    'the index grants a power',
    (f) => f.push('b', { ...EVIL, [INDEX]: `${index('rules/a.yaml')}powers: [repo.create_for_user]\n` }),
  ],
  [
    'the index allows a mirror host',
    (f) => f.push('b', { ...EVIL, [INDEX]: `${index('rules/a.yaml')}mirror_hosts: [evil.example]\n` }),
  ],
  [
    'the index defines a secret',
    (f) => f.push('b', { ...EVIL, [INDEX]: `${index('rules/a.yaml')}secrets: {A: {env: PATH}}\n` }),
  ],
  ['a rule file is a link', (f) => f.push('b', { [INDEX]: index('rules/a.yaml'), 'rules/a.yaml': link })],
  [
    'a rule file is a submodule',
    (f) => f.push('b', { [INDEX]: index('rules/a.yaml'), 'rules/a.yaml': { ...link, type: 'submodule' } }),
  ],
  [
    'a rule file is a folder',
    (f) => f.push('b', { [INDEX]: index('rules/a.yaml'), 'rules/a.yaml': { ...link, type: 'dir' } }),
  ],
  [
    'a rule file is of no kind that is known',
    (f) => f.push('b', { [INDEX]: index('rules/a.yaml'), 'rules/a.yaml': { ...link, type: 'gitlink' } }),
  ],
  [
    'the forge answers another file than was asked for',
    (f) =>
      f.push('b', { [INDEX]: index('rules/a.yaml'), 'rules/a.yaml': { ...link, type: 'file', path: 'evil.yaml' } }),
  ],
  [
    'a rule file lies outside, by ".."',
    (f) => f.push('b', { [INDEX]: index('../evil.yaml'), '../evil.yaml': rules('evil') }),
  ],
  [
    'a rule file lies outside, by ".." in the middle',
    (f) => f.push('b', { [INDEX]: index('rules/../../evil.yaml'), 'rules/../../evil.yaml': rules('evil') }),
  ],
  [
    'a rule file is named by an absolute path',
    (f) => f.push('b', { [INDEX]: index('/etc/evil.yaml'), '/etc/evil.yaml': rules('evil') }),
  ],
  [
    'a rule file is named with backslashes',
    (f) => f.push('b', { [INDEX]: index('rules\\evil.yaml'), 'rules\\evil.yaml': rules('evil') }),
  ],
  [
    'a rule file is missing beside a good one',
    (f) => f.push('b', { ...EVIL, [INDEX]: index('rules/a.yaml', 'rules/b.yaml') }),
  ],
  [
    '51 files are named',
    (f) =>
      f.push('b', {
        [INDEX]: index(...many),
        ...Object.fromEntries(many.map((path, n) => [path, rules(`evil-${n}`)])),
      }),
  ],
  [
    'a rule file is larger than 256 KB',
    (f) => f.push('b', { ...EVIL, 'rules/a.yaml': `${rules('evil')}#${'x'.repeat(256 * 1024)}` }),
  ],
  [
    'a rule file is said to be small and is not',
    (f) =>
      f.push('b', {
        ...EVIL,
        'rules/a.yaml': { size: 10, bytes: Buffer.from(`${rules('evil')}#${'x'.repeat(256 * 1024)}`) },
      }),
  ],
  ['the forge holds back the content', (f) => f.push('b', { ...EVIL, 'rules/a.yaml': { size: 10, bytes: null } })],
  [
    'a rule file is not UTF-8',
    (f) =>
      f.push('b', {
        ...EVIL,
        'rules/a.yaml': { size: 9, bytes: Buffer.concat([Buffer.from(rules('evil')), Buffer.from([0xff])]) },
      }),
  ],
  [
    'a rule file is for another organization',
    (f) => f.push('b', { ...EVIL, 'rules/a.yaml': rules('evil').replace('org: acme', 'org: other') }),
  ],
  [
    'a rule file grants itself powers',
    (f) => f.push('b', { ...EVIL, 'rules/a.yaml': `${rules('evil')}powers: [repo.create_for_user]\n` }),
  ],
  [
    'a rule file uses a secret that the operator did not define',
    (f) => f.push('b', { ...EVIL, 'rules/a.yaml': `${rules('evil')}secrets: [FORGE_TOKEN]\n` }),
  ],
  [
    'a rule file extends a path of the machine',
    (f) => f.push('b', { ...EVIL, 'rules/a.yaml': `${rules('evil')}extends: [../../evil.yaml]\n` }),
  ],
  [
    'the protection goes while the files are read',
    (f) => void (f.push('b', EVIL), (f.meanwhile = () => void (f.told = { ...f.told, isProtected: false }))),
  ],
  [
    'the branch moves while the files are read',
    (f) => void (f.push('b', EVIL), (f.meanwhile = () => void (f.told = { ...f.told, commit: commitOf('c') }))),
  ],
  [
    'the repository is replaced while the files are read',
    (f) => void (f.push('b', EVIL), (f.meanwhile = () => void (f.told = { ...f.told, id: '80' }))),
  ],
  [
    'the forge does not answer',
    (f) => void (f.push('b', EVIL), (f.failure = new BotError('FORGE_UNKNOWN', 'no answer', 'transient'))),
  ],
];

describe('rules/sources/repository-source', () => {
  it('holds more than 40 hostile cases', () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(40);
  });

  it.each(HOSTILE)('activates nothing when %s', async (_what, act) => {
    const forge = new FakeRepository(GOOD);
    const { keeper, activated, look } = await keep(forge);
    act(forge);

    await look();

    expect(activated.join()).not.toContain('evil');
    expect((await keeper.active('acme'))?.revision.rules.map(({ id }) => id)).toEqual(['good']);
  });

  it.each(HOSTILE)('activates nothing on the first look either when %s', async (_what, act) => {
    const forge = new FakeRepository(GOOD);
    act(forge);

    const { activated } = await keep(forge, { id: '12' });

    expect(activated.join()).not.toContain('evil');
  });

  it('takes a push to the protected default branch, and tells the commit in each place', async () => {
    const forge = new FakeRepository(GOOD);
    const { keeper, activated, verdicts, look } = await keep(forge);
    forge.push('b', {
      [INDEX]: index('rules/a.yaml', 'b.yml'),
      'rules/a.yaml': rules('good'),
      'b.yml': rules('better'),
    });

    await look();

    expect(activated).toEqual(['good', 'good,better']);
    expect((await keeper.active('acme'))?.revision.rules[1]?.position.file).toBe('acme/automation@bbbbbbbbbbbb:b.yml');
    expect(verdicts).toMatchObject([
      { state: 'active', commit: commitOf('a'), problems: [] },
      { state: 'active', commit: commitOf('b'), branch: 'main', problems: [] },
    ]);
  });

  it('takes the rules again once the branch is protected again', async () => {
    const forge = new FakeRepository(GOOD);
    const { keeper, activated, look } = await keep(forge);
    forge.push('b', { ...GOOD, 'rules/a.yaml': rules('next') });
    forge.told = { ...forge.told, isProtected: false };
    await look();
    expect(keeper.heldBack('acme')).toEqual([
      expect.stringContaining('branch main of acme/automation is not protected'),
    ]);
    expect(await keeper.commit('acme')).toBe(commitOf('a'));
    forge.told = { ...forge.told, isProtected: true };

    await look();

    expect([activated, keeper.heldBack('acme')]).toEqual([['good', 'next'], []]);
    expect(await keeper.commit('acme')).toBe(commitOf('b'));
    expect(await keeper.commit('other')).toBeNull();
  });

  it('keeps the number of the first repository it saw, and never says anything about another', async () => {
    const forge = new FakeRepository(GOOD);
    const { verdicts, pin, look } = await keep(forge);
    forge.told = { ...forge.told, id: '99' };
    await look();

    expect(pin()).toEqual({ repository: 'acme/automation', id: '12' });
    expect(verdicts[1]).toMatchObject({
      state: 'refused',
      commit: null,
      problems: [expect.stringContaining('repository_id: "99"')],
    });
  });

  it('takes a branch to which every writer may push when the operator says so, and tells it', async () => {
    const forge = new FakeRepository(GOOD);
    forge.told = weak(forge, 'open-push');

    const refused = await keep(forge);
    const taken = await keep(forge, { acceptsOpenBranch: true });

    expect([refused.activated, refused.verdicts[0]]).toMatchObject([
      [],
      { state: 'refused', code: 'RULES_OPEN_BRANCH' },
    ]);
    expect(refused.keeper.heldBack('acme')).toEqual([
      expect.stringMatching(/may push to main without a review: disable pushes .* accept: open-branch/),
    ]);
    expect([taken.activated, taken.verdicts[0]?.notes]).toEqual([
      ['good'],
      ['everybody who may write to acme/automation may push to main without a review (accept: open-branch)'],
    ]);
  });

  const REQUIRED: ReadonlyArray<
    readonly [string, { reviews: number; signed: boolean }, (forge: FakeRepository) => void, string | null]
  > = [
    ['an approved pull request', { reviews: 1, signed: false }, () => undefined, null],
    ['a verified signature', { reviews: 0, signed: true }, () => undefined, null],
    [
      'a commit that no pull request brought',
      { reviews: 1, signed: false },
      (f) => void (f.reviewed = 'none'),
      'RULES_NOT_REVIEWED',
    ],
    [
      'fewer approvals than asked for',
      { reviews: 2, signed: false },
      (f) => void (f.told = { ...f.told, protection: { approvals: 2, weakness: [] } }),
      'RULES_NOT_REVIEWED',
    ],
    [
      'a protection that asks for fewer approvals',
      { reviews: 2, signed: false },
      () => undefined,
      'RULES_REVIEWS_BYPASSED',
    ],
    [
      'a list of accounts that may push',
      { reviews: 1, signed: false },
      (f) => void (f.told = weak(f, 'push-list')),
      'RULES_REVIEWS_BYPASSED',
    ],
    [
      'a list of accounts that may pass over the rule',
      { reviews: 1, signed: false },
      (f) => void (f.told = weak(f, 'bypass-list')),
      'RULES_REVIEWS_BYPASSED',
    ],
    [
      'a forge that does not tell who approved',
      { reviews: 1, signed: false },
      (f) => void (f.reviewed = 'unknown'),
      'RULES_REVIEWS_UNKNOWN',
    ],
    [
      'no signature',
      { reviews: 0, signed: true },
      (f) => void (f.told = { ...f.told, signature: { isVerified: false, signer: null } }),
      'RULES_NOT_SIGNED',
    ],
    [
      'a forge that does not tell of signatures',
      { reviews: 0, signed: true },
      (f) => void (f.told = { ...f.told, signature: null }),
      'RULES_SIGNATURE_UNKNOWN',
    ],
  ];

  it.each(REQUIRED)('with requirements, %s => refused with its code or taken', async (_what, require, change, code) => {
    const forge = new FakeRepository(GOOD);
    change(forge);

    const { activated, verdicts } = await keep(forge, { require });

    expect(activated).toEqual(code === null ? ['good'] : []);
    expect(verdicts[0]).toMatchObject({ state: code === null ? 'active' : 'refused', code });
  });

  it('keeps the last good revision when a commit without the required review comes', async () => {
    const forge = new FakeRepository(GOOD);
    const { keeper, activated, look } = await keep(forge, { require: { reviews: 1, signed: true } });
    forge.push('b', EVIL);
    forge.reviewed = 'none';

    await look();

    expect(activated).toEqual(['good']);
    expect((await keeper.active('acme'))?.revision.rules.map(({ id }) => id)).toEqual(['good']);
  });

  it('keeps with each revision its commit, the author and who approved it', async () => {
    const forge = new FakeRepository(GOOD);
    const { store, verdicts } = await keep(forge);

    const origin = {
      repository: 'acme/automation',
      branch: 'main',
      commit: commitOf('a'),
      author: 'ann',
      signer: 'ann',
      review: { pull: 4, author: 'ann', mergedBy: 'ben', approvedBy: ['ben'] },
    };
    expect((await store.active('acme'))?.origin).toEqual(origin);
    expect(verdicts[0]?.origin).toEqual(origin);
    expect(describeOrigin(origin)).toBe(
      'acme/automation@aaaaaaaaaaaa (main), author ann, signed by ann, by #4, approved by ben',
    );
  });
});
