import type { JsonObject } from '../../core/json.js';
import { planAcme, repoOf, type RepoRole } from '../../sandbox/seed/acme-plan.js';
import { seededRandom, type SeededRandom } from '../../core/seeded-random.js';
import type { ForgedAct } from './player.js';

/** Something that a person does in the demo. */
export interface SandboxAct {
  readonly kind: 'act';
  readonly as: string;
  readonly act: string;
  readonly params: JsonObject;
  /** What becomes of its deliveries on the way: `drop` = none arrives, `twice` = each arrives twice. */
  readonly fault?: 'drop' | 'twice';
  readonly says: string;
}
type DemoAct = SandboxAct | ForgedAct;

/** Acts that belong together, in their order. */
type Scene = readonly DemoAct[];

/**
 * About thirty acts of people in the organization of the seed. The same seed gives the same people, names and order; another one
 * varies them.
 */
export function writeScript(seed: number): DemoAct[] {
  const random = seededRandom(seed + 1);
  const writer = new SceneWriter(seed, random);
  const scenes = writer.scenes();
  return (seed === 1 ? scenes : random.shuffle(scenes)).flat();
}

class SceneWriter {
  private readonly plan;

  constructor(
    seed: number,
    private readonly random: SeededRandom,
  ) {
    this.plan = planAcme(seed);
  }

  scenes(): Scene[] {
    return [
      this.product(),
      this.newcomers(),
      this.line(),
      this.patch(),
      this.request(),
      this.releaseTwice(),
      this.conversation(),
      this.review(),
      this.neverArrives(),
      this.failingJob(),
      this.forged(),
      this.bystanders(),
    ];
  }

  /** A new line of the product: drafted in secret, then published, which makes the tag. */
  private product(): Scene {
    const repo = this.name('product');
    const owner = this.owner();
    const notes = '# Changelog\n\n## v1.4.0\n\n- Log in with a key\n- Quiet mode\n\n## v1.3.0\n\n- Smaller output\n';
    return [
      this.push(repo, 'docs: what 1.4 brings', { 'CHANGELOG.md': notes }, `pushes the changelog of 1.4 to ${repo}`),
      this.act(
        owner,
        'release.draft',
        { repo, tag: 'v1.4.0', name: '1.4.0', body: '* feat: key\n* chore: bump to v1.4.0\n' },
        `drafts release v1.4.0 of ${repo}`,
      ),
      this.act(owner, 'release.publish', { repo, tag: 'v1.4.0' }, `publishes the draft v1.4.0 of ${repo}`),
    ];
  }

  private newcomers(): Scene {
    const [open, closed] = [
      `acme/${this.random.pick(['lantern', 'harbor', 'meadow', 'ember'])}`,
      `acme/${this.random.pick(['cellar', 'nest', 'burrow', 'grove'])}`,
    ];
    return [
      this.act(this.owner(), 'repository.create', { repo: open, description: 'something new' }, `creates ${open}`),
      this.push(open, 'feat: first light', { 'src/main.ts': 'export {};\n' }, `pushes to ${open}`),
      this.act(
        this.owner(),
        'repository.create',
        { repo: closed, description: 'not for everybody', private: true },
        `creates ${closed}, private`,
      ),
    ];
  }

  /** A tag alone starts a line too. */
  private line(): Scene {
    const repo = this.name('library');
    return [this.act(this.writer(), 'tag.create', { repo, tag: 'v0.6.0', message: 'v0.6.0\n' }, `tags ${repo} v0.6.0`)];
  }

  /** Who needs a repository asks for it by a file. */
  private request(): Scene {
    const repo = 'acme/requests';
    const person = this.writer();
    const name = this.random.pick(['playground', 'try-out', 'study']);
    return [
      this.act(
        this.owner(),
        'repository.create',
        { repo, description: 'ask for a repository here' },
        `creates ${repo}`,
      ),
      this.push(
        repo,
        `feat: ask for ${name}`,
        { [`repos/${name}.yml`]: `owner: ${person}\nname: ${name}\n` },
        `asks for a repository ${name}`,
        { as: person },
      ),
    ];
  }

  /** A patch starts no new line. */
  private patch(): Scene {
    const repo = this.name('service');
    const notes = '# Changelog\n\n## 1.0.1\n\n- No more timeouts under load\n\n## v1.0.0\n\n- First of its line\n';
    return [
      this.push(
        repo,
        'fix: timeouts',
        { 'CHANGELOG.md': notes, 'src/load.ts': 'export const limit = 10;\n' },
        `pushes a fix to ${repo}`,
      ),
      this.act(this.writer(), 'tag.create', { repo, tag: 'v1.0.1' }, `tags ${repo} v1.0.1`),
      this.act(
        this.owner(),
        'release.publish',
        { repo, tag: 'v1.0.1', name: '1.0.1', body: '* fix: timeouts\n' },
        `publishes v1.0.1 of ${repo}`,
      ),
    ];
  }

  /** The tag is made by the release; all deliveries of it arrive twice. */
  private releaseTwice(): Scene {
    const repo = this.name('frontend');
    const notes = '# Changelog\n\n## v2.1.0\n\n- A dark theme\n';
    return [
      this.push(repo, 'docs: what 2.1 brings', { 'CHANGELOG.md': notes }, `pushes the changelog of 2.1 to ${repo}`),
      this.act(
        this.owner(),
        'release.publish',
        { repo, tag: 'v2.1.0', name: '2.1.0', body: '* feat: dark theme\n' },
        `publishes v2.1.0 of ${repo}`,
        'twice',
      ),
    ];
  }

  private conversation(): Scene {
    const repo = this.name('library');
    const [asker, helper] = [this.writer(), this.owner()];
    return [
      this.act(
        asker,
        'issue.open',
        { repo, title: 'Docs are thin', body: 'Where do I begin?' },
        `opens an issue in ${repo}`,
      ),
      this.act(helper, 'comment.create', { repo, number: 2, body: 'With the guide.' }, `comments on ${repo}#2`),
      this.act(helper, 'issue.label', { repo, number: 2, labels: ['question'] }, `labels ${repo}#2 question`),
      this.act(helper, 'issue.close', { repo, number: 2 }, `closes ${repo}#2`),
    ];
  }

  private review(): Scene {
    const repo = this.name('docs');
    const [author, reviewer] = [this.writer(), this.owner()];
    const branch = this.random.pick(['feature/tour', 'fix/spelling', 'topic/a#b']);
    return [
      this.act(author, 'branch.create', { repo, branch }, `creates the branch ${branch} in ${repo}`),
      this.push(repo, 'docs: a tour', { 'tour.md': '# Tour\n' }, `pushes to ${branch}`, { as: author, branch }),
      this.act(
        author,
        'pull.open',
        { repo, head: branch, title: 'docs: a tour', body: 'Around the house.' },
        `opens a pull request in ${repo}`,
      ),
      this.act(
        reviewer,
        'pull.review',
        { repo, number: 1, verdict: 'approve', body: 'Well told.' },
        `approves ${repo}#1`,
      ),
      this.act(reviewer, 'pull.merge', { repo, number: 1 }, `merges ${repo}#1`),
      this.act(author, 'branch.delete', { repo, branch }, `deletes the branch ${branch}`),
    ];
  }

  /** The forge sends each delivery once; these are lost on the way. */
  private neverArrives(): Scene {
    const repo = this.name('tool');
    return [
      this.act(this.writer(), 'tag.create', { repo, tag: 'v0.2.0' }, `tags ${repo} v0.2.0; deliveries lost`, 'drop'),
    ];
  }

  private failingJob(): Scene {
    const repo = this.name('service');
    return [
      this.push(repo, 'feat: a cache', { 'src/cache.ts': 'export {};\n' }, `pushes try/cache to ${repo}`, {
        branch: 'try/cache',
      }),
      this.act(this.writer(), 'job.claim', { repo }, `lets a runner take a job of ${repo}`),
      this.act(this.writer(), 'job.finish', { repo, result: 'failure' }, `sees the job of ${repo} fail`),
    ];
  }

  private forged(): Scene {
    return [
      {
        kind: 'forged',
        repo: this.name('product'),
        tag: 'v66.0.0',
        as: 'a stranger',
        says: 'forges a delivery: release v66.0.0',
      },
    ];
  }

  /** What concerns no rule. */
  private bystanders(): Scene {
    const product = this.name('product');
    return [
      this.act(
        this.owner(),
        'package.upload',
        { owner: 'acme', type: 'container', name: repoOf(this.plan, 'product').name, version: '1.4.0-rc1' },
        `uploads the package ${repoOf(this.plan, 'product').name} 1.4.0-rc1`,
      ),
      this.act(this.reader(), 'repository.star', { repo: product }, `stars ${product}`),
      this.act(
        this.writer(),
        'wiki.create',
        { repo: this.name('docs'), page: 'Home', message: 'start' },
        `writes a wiki page in ${this.name('docs')}`,
      ),
    ];
  }

  private act(as: string, act: string, params: JsonObject, says: string, fault?: 'drop' | 'twice'): SandboxAct {
    return { kind: 'act', as, act, params, says, ...(fault ? { fault } : {}) };
  }

  /** One commit. */
  private push(
    repo: string,
    message: string,
    files: JsonObject,
    says: string,
    { as = this.writer(), branch }: { readonly as?: string; readonly branch?: string } = {},
  ): SandboxAct {
    const commits = [{ message, files }];
    return this.act(as, 'push', { repo, ...(branch === undefined ? {} : { branch }), commits }, says);
  }

  private name(role: RepoRole): string {
    return `${this.plan.org}/${repoOf(this.plan, role).name}`;
  }

  private owner(): string {
    return this.random.pick(this.plan.owners).login;
  }

  private writer(): string {
    return this.random.pick(this.plan.writers).login;
  }

  private reader(): string {
    return this.random.pick(this.plan.readers).login;
  }
}
