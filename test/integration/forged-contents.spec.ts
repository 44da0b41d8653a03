import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../src/api/operations/answers.js';
import type { JsonObject } from '../../src/core/json.js';
import { HOOK_EVENTS } from '../../src/sandbox/deliveries/hook-events.js';
import { makeHook } from '../../src/sandbox/resources/hook.js';
import { makeLabel } from '../../src/sandbox/resources/label.js';
import { makeMilestone } from '../../src/sandbox/resources/milestone.js';
import { until } from '../services/until.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';
import { acmeConfig } from './support/acme-config.js';
import { deliverSigned } from './support/deliver-signed.js';
import { feedIsRead } from './support/feed-is-read.js';

const SECRET = 'the secret of the hook, which a thief has as well';
const OTHER_SHA = 'f'.repeat(40);

/** A real act of olga, what a thief writes into its delivery, and the rule that would act on it. */
interface Case {
  readonly on: string;
  /** Beside `actor: [olga]`. */
  readonly where?: string;
  readonly if?: string;
  /** Does the act; `isAsked`: so that it is what the rule asks for. Gives the event type of its delivery. */
  readonly act: (world: World, isAsked: boolean) => Promise<string>;
  /** Into the body of an act that is not. */
  readonly forge: (body: Body) => void;
}

/** Deliveries are changed as a thief would change them: by hand. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

interface World {
  olga(act: string, params?: JsonObject): Promise<JsonObject>;
  /** A new branch with one commit. */
  branch(): Promise<string>;
  pull(params?: JsonObject): Promise<number>;
  issue(params?: JsonObject): Promise<number>;
  /** Delivers the newest act of this type as it was, and waits until it is decided. */
  tell(type: string): Promise<void>;
}

const label = (name: string): JsonObject => ({ id: 99, name, color: '00aabb', description: '', url: '' });

const CASES: Readonly<Record<string, Case>> = {
  title: {
    on: 'issue.opened',
    if: 'event.issue.title == "deploy now"',
    act: async (world, isAsked) => (await world.issue({ title: isAsked ? 'deploy now' : 'hello' }), 'issues'),
    forge: (body) => (body.issue.title = 'deploy now'),
  },
  body: {
    on: 'issue.opened',
    if: 'event.issue.body.contains("deploy now")',
    act: async (world, isAsked) => (await world.issue({ body: isAsked ? 'please deploy now' : 'hello' }), 'issues'),
    forge: (body) => (body.issue.body = 'please deploy now'),
  },
  label: {
    on: 'issue.labeled',
    if: '"approved" in event.labels',
    act: async (world, isAsked) => {
      const number = await world.issue();
      await world.olga('issue.label', { number, labels: [isAsked ? 'approved' : 'bug'] });
      return 'issue_label';
    },
    forge: (body) => (body.issue.labels = [label('approved')]),
  },
  'label put on': {
    on: 'issue.labeled',
    if: 'has(event.derived.labels_added) && "approved" in event.derived.labels_added',
    act: async (world, isAsked) => {
      const number = await world.issue();
      // What the labels were before is known by the delivery of the opening.
      await world.tell('issues');
      await world.olga('issue.label', { number, labels: [isAsked ? 'approved' : 'bug'] });
      return 'issue_label';
    },
    forge: (body) => (body.issue.labels = [label('approved')]),
  },
  assignee: {
    on: 'issue.assigned',
    if: 'event.issue.assignees.exists(one, one.login == "otto")',
    act: async (world, isAsked) => {
      const number = await world.issue();
      await world.olga('issue.assign', { number, assignees: [isAsked ? 'otto' : 'olga'] });
      return 'issue_assign';
    },
    forge: (body) => (body.issue.assignees = [{ ...body.issue.user, id: 77, login: 'otto' }]),
  },
  milestone: {
    on: 'issue.milestoned',
    if: 'event.issue.milestone.title == "2.0"',
    act: async (world, isAsked) => {
      const number = await world.issue();
      await world.olga('issue.milestone', { number, milestone: isAsked ? '2.0' : '1.0' });
      return 'issue_milestone';
    },
    forge: (body) => (body.issue.milestone.title = '2.0'),
  },
  base: {
    on: 'pull_request.opened',
    where: 'branch: [stable]',
    act: async (world, isAsked) => (await world.pull(isAsked ? { base: 'stable' } : {}), 'pull_request'),
    forge: (body) => (body.pull_request.base.ref = 'stable'),
  },
  'labels of a merge': {
    on: 'pull_request.merged',
    if: 'event.labels.exists(name, name == "backport")',
    act: async (world, isAsked) => {
      const number = await world.pull();
      if (isAsked) await world.olga('issue.label', { number, labels: ['backport'] });
      await world.olga('pull.merge', { number });
      return 'pull_request';
    },
    forge: (body) => (body.pull_request.labels = [label('backport')]),
  },
  head: {
    on: 'pull_request.opened',
    if: 'event.pull_request.head.ref.startsWith("hotfix")',
    act: async (world, isAsked) => {
      const head = isAsked ? 'hotfix' : await world.branch();
      if (isAsked) await world.olga('push', { branch: head });
      await world.olga('pull.open', { head, title: 'a pull request' });
      return 'pull_request';
    },
    forge: (body) => (body.pull_request.head.ref = 'hotfix'),
  },
  'head commit': {
    on: 'pull_request.synchronized',
    if: `event.sha == "${OTHER_SHA}"`,
    act: async (world) => {
      const number = await world.pull();
      await world.olga('pull.sync', { number });
      return 'pull_request_sync';
    },
    forge: (body) => (body.pull_request.head.sha = OTHER_SHA),
  },
  'commit message': {
    on: 'push.branch',
    if: 'event.commits.exists(one, one.message.startsWith("deploy now"))',
    act: async (world, isAsked) => {
      await world.olga('push', { commits: [{ message: isAsked ? 'deploy now' : 'a note', files: { 'n.md': '1' } }] });
      return 'push';
    },
    forge: (body) => {
      body.commits[0].message = 'deploy now';
      body.head_commit.message = 'deploy now';
    },
  },
  'files of a push': {
    on: 'push.branch',
    if: '"deploy.yaml" in event.files.added',
    act: async (world, isAsked) => {
      await world.olga('push', {
        branch: `files-${isAsked}`,
        commits: [{ message: 'a note', files: { [isAsked ? 'deploy.yaml' : 'note.md']: '1' } }],
      });
      return 'push';
    },
    forge: (body) => (body.commits[0].added = ['deploy.yaml']),
  },
  'files of a long push': {
    on: 'push.branch',
    if: '"deploy-long.yaml" in event.files.added',
    act: async (world, isAsked) => {
      // Feed and delivery show the newest commits alone.
      const names = [isAsked ? 'deploy-long.yaml' : 'long.md', ...Array.from({ length: 7 }, (_, n) => `long-${n}.md`)];
      await world.olga('push', {
        branch: `long-${isAsked}`,
        commits: names.map((name) => ({ message: name, files: { [name]: '1' } })),
      });
      return 'push';
    },
    forge: (body) => {
      body.commits[0].added = ['deploy-long.yaml'];
      // As if these were all.
      body.total_commits = body.commits.length;
    },
  },
  'text of a status': {
    on: 'status.set',
    if: 'event.status.description == "deploy now"',
    act: async (world, isAsked) => {
      await world.olga('status.set', { state: 'success', description: isAsked ? 'deploy now' : 'fine' });
      return 'status';
    },
    forge: (body) => (body.description = 'deploy now'),
  },
  'address of a status': {
    on: 'status.set',
    if: 'event.status.target_url.startsWith("https://deploy")',
    act: async (world, isAsked) => {
      await world.olga('status.set', { state: 'success', target_url: isAsked ? 'https://deploy.test/' : '' });
      return 'status';
    },
    forge: (body) => (body.target_url = 'https://deploy.test/'),
  },
  release: {
    on: 'release.published',
    if: 'event.release.body.contains("deploy now")',
    act: async (world, isAsked) => {
      const text = { tag: isAsked ? 'v2.0.0' : 'v1.0.0', name: 'a release', body: isAsked ? 'deploy now' : 'fixes' };
      await world.olga('release.publish', text);
      return 'release';
    },
    forge: (body) => (body.release.body = 'deploy now'),
  },
  'title of a reviewed pull request': {
    on: 'review.commented',
    if: 'event.pull_request.title == "deploy now"',
    act: async (world, isAsked) => {
      const number = await world.pull({ title: isAsked ? 'deploy now' : 'a feature' });
      await world.olga('pull.review', { number, verdict: 'comment', body: 'well' });
      return 'pull_request_review_comment';
    },
    forge: (body) => (body.pull_request.title = 'deploy now'),
  },
  reviewer: {
    on: 'pull_request.review_requested',
    if: 'event.requested_reviewer.login == "otto"',
    act: async (world, isAsked) => {
      const number = await world.pull();
      await world.olga('pull.request_review', { number, reviewers: [isAsked ? 'otto' : 'mia'] });
      return 'pull_request_review_request';
    },
    forge: (body) => (body.requested_reviewer.login = 'otto'),
  },
  'issue of a command': {
    on: 'comment.created',
    where: 'command: close',
    if: 'event.issue.title == "deploy now"',
    act: async (world, isAsked) => {
      const number = await world.issue({ title: isAsked ? 'deploy now' : 'hello' });
      await world.olga('comment.create', { number, body: '/close' });
      return 'issue_comment';
    },
    forge: (body) => (body.issue.title = 'deploy now'),
  },
  'old title': {
    on: 'issue.edited',
    if: 'event.changes.title.from == "deploy now"',
    act: async (world, isAsked) => {
      const number = await world.issue({ title: isAsked ? 'deploy now' : 'hello' });
      await world.olga('issue.edit', { number, title: 'changed' });
      return 'issues';
    },
    forge: (body) => (body.changes.title.from = 'deploy now'),
  },
  'topics of the repository': {
    on: 'issue.opened',
    where: 'topics: [deployable]',
    act: async (world) => (await world.issue(), 'issues'),
    forge: (body) => (body.repository.topics = ['deployable']),
  },
  'default branch': {
    on: 'issue.opened',
    if: 'event.repo.default_branch == "stable"',
    act: async (world) => (await world.issue(), 'issues'),
    forge: (body) => (body.repository.default_branch = 'stable'),
  },
};
/** What nobody can do for real in this world. */
const NEVER_ASKED: ReadonlySet<string> = new Set(['head commit', 'topics of the repository', 'default branch']);

const idOf = (name: string): string => name.replaceAll(' ', '-');

const RULES = [
  'version: 1',
  'org: acme',
  'rules:',
  ...Object.entries(CASES).flatMap(([name, { on, where, if: condition }]) => [
    `  - id: ${idOf(name)}`,
    `    on: ${on}`,
    `    where: {actor: [olga]${where === undefined ? '' : `, ${where}`}}`,
    ...(condition === undefined ? [] : [`    if: '${condition}'`]),
    `    do: {label.ensure: {name: "did-${idOf(name)}", color: "#00aabb"}}`,
  ]),
  '  - id: as-named',
  '    on: issue.reopened',
  '    where: {actor: [olga]}',
  '    do: {label.ensure: {name: "named-${{ event.issue.title }}", color: "#00aabb"}}',
  '  - id: text-of-olga',
  '    on: issue.edited',
  '    where: {actor: [olga]}',
  `    if: 'event.issue.body.contains("deploy now")'`,
  '    do: {label.ensure: {name: did-text, color: "#00aabb"}}',
  '  - id: accounts',
  '    on: push.branch',
  '    where: {actor: [olga], branch: [accounts]}',
  `    if: 'event.total_commits == 8 && event.commits.all(one, one.author.username == "olga")'`,
  '    do: {label.ensure: {name: did-accounts, color: "#00aabb"}}',
  '  - id: merge',
  '    on: pull_request.labeled',
  `    if: '"merge-me" in event.labels'`,
  '    do: {pull_request.merge: {number: "${{ event.number }}", sha: "${{ event.sha }}", checks: false}}',
].join('\n');

interface Run {
  readonly id: string;
  readonly rule: string;
  readonly state: string;
  readonly reason: string;
  readonly trace: JsonObject | null;
}

/** Deliveries of real acts of olga, which a thief of the hook's secret signs with other content; the forge itself delivers nothing here. */
describe('integration/forged-contents', () => {
  let forge: TestForge;
  let bot: TestBot;
  let world: World;

  beforeAll(async () => {
    forge = await aForge({ org: 'acme' });
    const { parts } = forge.sandbox;
    for (const user of ['otto', 'mia']) await forge.control('/_sandbox/given', { user });
    await forge.act('repository.create', { repo: 'acme/app' });
    const org = parts.world.orgByName('acme');
    const app = org && parts.world.repoByName(org.id, 'app');
    if (!app) throw new Error('no acme/app');
    for (const name of ['bug', 'approved', 'backport', 'merge-me'])
      makeLabel(parts.world, parts.admin, { of: app, name, color: 'ee0701' });
    for (const title of ['1.0', '2.0']) makeMilestone(parts.world, app, { title, dueOn: parts.world.now() });
    // It sends nothing: what it says is taken out of its history.
    parts.deliveries.faults.dropPercent(100, 1);
    makeHook(parts.world, parts.profile.telling, {
      orgId: org.id,
      type: 'gitea',
      config: { url: 'http://127.0.0.1:1/acme', content_type: 'json', secret: 's' },
      events: [...new Set(HOOK_EVENTS.map(({ name }) => name))],
      isActive: true,
    });
    let branches = 0;
    world = {
      olga: async (act, params = {}) =>
        (await forge.control('/_sandbox/act', { as: 'olga', act, repo: 'acme/app', ...params })) as JsonObject,
      branch: async () => {
        const branch = `feature-${(branches += 1)}`;
        await world.olga('push', { branch, commits: [{ message: branch, files: { [`${branch}.md`]: '1' } }] });
        return branch;
      },
      pull: async (params = {}) =>
        numberIn(await world.olga('pull.open', { head: await world.branch(), title: 'a feature', ...params })),
      tell: async (type) => {
        await deliver(type, told(type));
        await settled();
      },
      issue: async (params = {}) => numberIn(await world.olga('issue.open', { title: 'hello', ...params })),
    };
    await world.olga('push', { branch: 'stable' });
    bot = await aBot({
      config: acmeConfig(forge, {
        org: {
          feed: { every_s: 3600 },
          tasks: { calls_per_poll: 0 },
          lists: { every_s: 0 },
          limits: { merges: 'allow' },
        },
      }),
      files: { 'rules/r.yaml': RULES },
      env: { FORGE_TOKEN: forge.botToken, HOOK: SECRET },
    });
    await feedIsRead(bot);
    await until(async () => {
      const { forges, rows: orgs } = await bot.reach.get<StatusReport>('/v1/status');
      expect(orgs[0]?.heldBack).toEqual([]);
      return forges[0]?.self === 'bot';
    });
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  const numberIn = (done: JsonObject): number => Number((done['result'] as JsonObject)['number']);
  const labels = async (): Promise<string[]> =>
    (await forge.get<Array<{ name: string }>>('/repos/acme/app/labels?limit=50')).map(({ name }) => name);
  const runsOf = async (rule: string): Promise<Run[]> =>
    (await bot.reach.rows<{ run: Run }>('/v1/runs', { limit: 200, rule })).map(({ run }) => run);

  /** The newest body of this type, as the forge would have sent it. */
  function told(type: string): Body {
    const found = forge.sandbox.parts.deliveries.history().findLast(({ text }) => text.type === type);
    if (!found) throw new Error(`no delivery ${type}`);
    return JSON.parse(found.text.json) as Body;
  }

  /** The same act under another time. */
  function later(body: Body, ms: number): Body {
    return JSON.parse(JSON.stringify(body), (name, value: unknown) =>
      typeof value === 'string' && /(?:_at|^timestamp)$/.test(name) && !Number.isNaN(Date.parse(value))
        ? new Date(Date.parse(value) + ms).toISOString().replace(/\.\d+/, '')
        : value,
    );
  }

  const deliver = (type: string, body: Body): Promise<void> =>
    deliverSigned(bot, {
      type,
      event: type.replace(/^(issues?|pull_request).*$/, '$1').replace(/^issue$/, 'issues'),
      body,
      secret: SECRET,
    });

  const settled = (): Promise<void> =>
    until(async () => {
      const { backlog } = await bot.reach.get<StatusReport>('/v1/status');
      return backlog.arrivals + backlog.events === 0;
    });

  async function decided(rule: string, known: number): Promise<Run> {
    await until(async () => (await runsOf(rule)).length > known);
    const [newest] = await runsOf(rule);
    return newest as Run;
  }

  it.each(Object.keys(CASES))('does nothing upon a real act that a thief tells with another %s', async (name) => {
    const rule = idOf(name);
    const { act, forge: change } = CASES[name] as Case;
    const type = await act(world, false);
    const body = told(type);
    change(body);
    await settled();
    const known = (await runsOf(rule)).length;

    await deliver(type, body);

    const run = await decided(rule, known);
    expect([run.state, (run.trace?.['refused'] as JsonObject | undefined)?.['code']]).toEqual([
      'not-fired',
      'act.newer',
    ]);
    expect(await labels()).not.toContain(`did-${rule}`);
  });

  it.each(Object.keys(CASES).filter((name) => !NEVER_ASKED.has(name)))(
    'acts once upon an honest %s, whatever a thief told of it before and tells again',
    async (name) => {
      const rule = idOf(name);
      const type = await (CASES[name] as Case).act(world, true);
      await settled();
      const known = (await runsOf(rule)).length;

      const body = told(type);
      // As somebody else's, and under another time.
      const forged = { ...body, sender: { ...body.sender, id: 77, login: 'otto' } };
      for (const telling of [forged, later(body, 600_000)]) await deliver(type, telling);
      await settled();

      await deliver(type, body);
      await until(async () => (await labels()).includes(`did-${rule}`));
      for (const telling of [{ ...body, again: 1 }, later(body, 13_000)]) await deliver(type, telling);
      await settled();

      const runs = (await runsOf(rule)).slice(0, -known || undefined);
      expect(runs.filter(({ reason }) => reason.includes('1 effect'))).toHaveLength(1);
      const others = runs.filter(({ reason }) => !reason.includes('1 effect'));
      expect(others.map(({ state }) => state)).toEqual(['not-fired', 'not-fired', 'not-fired']);
      for (const { trace, reason } of others)
        expect([(trace?.['refused'] as JsonObject | undefined)?.['code'], reason]).toEqual(
          name === 'label put on'
            ? // The bot knows that the label was there before.
              [undefined, expect.stringContaining('is false')]
            : // An object that says when it was made contradicts another time.
              [
                expect.stringMatching(/^act\.(?:told_before|not_found)$/),
                expect.stringMatching(/told this act already|another time than the delivery/),
              ],
        );
    },
  );

  it.each<[string, string, (number: number) => JsonObject]>([
    ['label', 'approved', (number) => ({ number, labels: ['bug', 'approved'] })],
    ['labels of a merge', 'backport', (number) => ({ number, labels: ['backport'] })],
  ])('does nothing upon a true act that is told again once somebody else changed the %s', async (name, wanted, set) => {
    const rule = idOf(name);
    const type = await (CASES[name] as Case).act(world, false);
    const body = told(type);
    await settled();
    const known = (await runsOf(rule)).length;
    await deliver(type, body);
    await decided(rule, known);
    const number = Number(body.number);
    await forge.control('/_sandbox/accounts', { login: 'mia', org: 'acme', team: 'Owners' });
    await forge.control('/_sandbox/act', { as: 'mia', act: 'issue.label', repo: 'acme/app', ...set(number) });

    const subject = body.issue ?? body.pull_request;
    const labelled = { ...body, [body.issue ? 'issue' : 'pull_request']: { ...subject, labels: [label(wanted)] } };
    const typeOfHers = body.issue ? 'issue_label' : 'pull_request_label';
    const tellings: Array<[string, Body]> = [
      [type, labelled],
      [type, later(labelled, 5_000)],
      [typeOfHers, { ...told(typeOfHers), sender: body.sender }],
    ];
    for (const telling of tellings) {
      await deliver(...telling);
      await settled();
    }

    const runs = (await runsOf(rule)).slice(0, -known || undefined);
    expect(runs.length).toBeGreaterThan(1);
    expect(runs.map(({ state }) => state)).toEqual(runs.map(() => 'not-fired'));
  });

  it('takes nobody for the author of a text who changed the title', async () => {
    const otto = (act: string, params: JsonObject): Promise<unknown> =>
      forge.control('/_sandbox/act', { as: 'otto', act, repo: 'acme/app', ...params });
    const number = numberIn((await otto('issue.open', { title: 'of otto' })) as JsonObject);
    await world.olga('issue.edit', { number, title: 'another title' });
    await otto('issue.edit', { number, body: 'deploy now' });
    const body = told('issues');
    expect(Object.keys(body.changes as JsonObject)).toEqual(expect.not.arrayContaining(['title']));

    await settled();
    const known = (await runsOf('text-of-olga')).length;

    await deliver('issues', { ...body, sender: { ...body.sender, ...(await forge.get<JsonObject>('/users/olga')) } });

    expect((await decided('text-of-olga', known)).trace).toMatchObject({ refused: { code: 'act.unreadable' } });
  });

  it('tells whose account the commits of a long push are of', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `accounts-${n}.md`);
    await world.olga('push', {
      branch: 'accounts',
      commits: names.map((name) => ({ message: name, files: { [name]: '1' } })),
    });

    await deliver('push', told('push'));

    expect((await decided('accounts', 0)).reason).toContain('1 effect');
  });

  it('merges nothing whose label only the delivery shows', async () => {
    const number = await world.pull();
    await world.olga('issue.label', { number, labels: ['bug'] });
    const body = told('pull_request_label');
    body.pull_request.labels = [label('merge-me')];
    const known = (await runsOf('merge')).length;

    await deliver('pull_request_label', body);

    expect((await decided('merge', known)).trace).toMatchObject({ refused: { code: 'act.newer' } });
    expect(await forge.get<JsonObject>(`/repos/acme/app/pulls/${number}`)).toMatchObject({ merged: false });
  });

  it('fills in what the forge shows, and says that the delivery has other words', async () => {
    const number = await world.issue({ title: 'real' });
    await world.olga('issue.close', { number });
    await world.olga('issue.reopen', { number });
    const body = told('issues');
    body.issue.title = 'forged';

    await deliver('issues', body);

    const run = await decided('as-named', 0);
    expect(run.trace).toMatchObject({ read_anew: { code: 'act.newer', fields: ['issue.title'] } });
    expect(run.reason).toContain('the forge shows another value of event.issue.title than the delivery');
    await until(async () => (await labels()).includes('named-real'));
    expect(await labels()).not.toContain('named-forged');
  });
});
