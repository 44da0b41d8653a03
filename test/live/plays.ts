import type { EventKind } from '../../src/core/event-kinds.js';
import type { JsonObject } from '../../src/core/json.js';
import type { People, Stage } from './stage.js';

/** How one kind of event is caused on a server, and how its mark names it. */
export interface Play {
  readonly kind: EventKind;
  /** CEL: tells one event of the kind from the others. */
  readonly subject: string;
  /** Where no repository is left to mark: a variable of the organization. */
  readonly marksOrg?: true;
  /** Of a kind that nothing tells under its own name: the kind and the condition by which a rule knows it. */
  readonly by?: { readonly on: readonly EventKind[]; readonly if: string };
  readonly needsRunner?: true;
  /** The rule asks nothing about who did it: the lists, which find it after an outage, do not show that. */
  readonly asksNobody?: true;
  /** What it undoes must have been acted upon before: nobody can confirm an act whose object is gone, and no effect follows what holds no more. */
  readonly undoes?: true;
  /**
   * Cause one event.
   * @param ready called when all is prepared, right before the act itself
   * @returns the subject
   */
  act(ready: () => Promise<void>): Promise<string>;
}

/** Recorded, and no rule may start by them (`recorded.ts`). */
export const STARTS_NOTHING: ReadonlySet<EventKind> = new Set(['hook.tested', 'unrecognized']);

const UNDOES: ReadonlySet<string> = new Set(['unassigned', 'demilestoned', 'reopened']);

const LISTED: ReadonlySet<string> = new Set(['edited', 'labeled', 'assigned', 'milestoned']);

const WORKFLOW = '.gitea/workflows/ci.yml';
/** The second job waits for the first, which takes so long that a server without deliveries about it shows it running. */
const workflow = (command: string): string =>
  [
    'name: ci',
    'on: [push]',
    'jobs:',
    '  build: {runs-on: ubuntu-latest, steps: [{run: "' + command + '"}]}',
    '  after: {runs-on: ubuntu-latest, needs: build, steps: [{run: "true"}]}',
    '',
  ].join('\n');

/** In an order that a person could keep: what goes, goes last. */
export function playsOf(stage: Stage, people: People): Play[] {
  const { olga, wes, rita } = stage;
  const app = 'app';
  const number = 'string(event.number)';
  const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
    let made: Promise<T> | undefined;
    return () => (made ??= make());
  };
  const issue = once(() => people.issue(app));
  const pull = once(() => people.pull(app));
  const label = once(() => people.label(app));
  const milestone = once(() => people.milestone(app));
  const branch = once(() => people.branch(app, 'going'));
  const tag = once(() => people.tag(app, 'tag-1'));
  const comment = once(async () => people.comment(app, await issue(), 'A word.', rita));
  const release = once(() => people.release(app));
  const repository = once(() => people.repository('made'));
  const approval = once(async () => people.review(app, await pull(), 'APPROVED'));
  const run = once(async () => people.push(await ci(), WORKFLOW, workflow('sleep 4; exit 1')));
  const ci = once(() => people.repository('ci'));
  const page = once(async () => {
    await wes.api.ask('POST', people.at(app, '/wiki/new'), {
      title: 'Page',
      content_base64: Buffer.from('page').toString('base64'),
      message: 'page',
    });
    return 'Page';
  });
  const packageName = 'parcel';
  const upload = once(async () => {
    await wes.api.ask('PUT', `/api/packages/${people.org}/generic/${packageName}/1.0/file.txt`, { any: 'thing' });
    return `${packageName} 1.0`;
  });

  const simple =
    <T>(make: () => Promise<T>, subject: (made: T) => string = String): Play['act'] =>
    async (ready) => {
      await ready();
      return subject(await make());
    };
  const on =
    <T>(given: () => Promise<T>, change: (made: T) => Promise<unknown>, subject: (made: T) => string = String) =>
    async (ready: () => Promise<void>): Promise<string> => {
      const made = await given();
      await ready();
      await change(made);
      return subject(made);
    };
  const edit = (wish: JsonObject) => (of: string) => people.edit(app, of, wish);
  const tracker = (kind: 'issue' | 'pull_request', given: () => Promise<string>): Play[] => {
    const play = (name: string, act: Play['act']): Play => ({
      kind: `${kind}.${name}` as EventKind,
      subject: number,
      act,
      ...(kind === 'issue' && LISTED.has(name) ? { asksNobody: true as const } : {}),
      ...(UNDOES.has(name) ? { undoes: true as const } : {}),
    });
    return [
      play('edited', on(given, edit({ title: people.fresh('Edited') }))),
      play(
        'labeled',
        on(given, async (of) => people.putLabel(app, of, await label())),
      ),
      play(
        'labels_cleared',
        on(
          async () => {
            const own = kind === 'issue' ? await people.issue(app) : await people.pull(app);
            return people.putLabel(app, own, await label());
          },
          (of) => wes.api.ask('DELETE', people.at(app, `/issues/${of}/labels`)),
        ),
      ),
      play('assigned', on(given, edit({ assignees: [wes.login] }))),
      play('unassigned', on(given, edit({ assignees: [] }))),
      play(
        'milestoned',
        on(given, async (of) => people.edit(app, of, { milestone: await milestone() })),
      ),
      play('demilestoned', on(given, edit({ milestone: 0 }))),
      play('closed', on(given, edit({ state: 'closed' }))),
      play('reopened', on(given, edit({ state: 'open' }))),
    ];
  };
  const at = (kind: EventKind, subject: string, act: Play['act'], more: Partial<Play> = {}): Play => ({
    kind,
    subject,
    act,
    ...more,
  });
  const job = "event.task.name + ' ' + event.sha";
  const source = once(() => people.repository('source'));
  const mirror = once(async () => people.mirror(await source(), 'mirrored'));
  const synced = (
    on: readonly EventKind[],
    subject: string,
    kind: EventKind,
    act: (source: string) => Promise<string>,
  ): Play =>
    at(
      kind,
      subject,
      async (ready) => {
        await mirror();
        await ready();
        const made = await act(await source());
        await people.sync(await mirror(), await source());
        return made;
      },
      { by: { on, if: 'has(event.mirror_sync)' } },
    );

  return [
    at('repository.created', 'repo.name', simple(repository)),
    at(
      'push',
      "event.ref + ' ' + event.after",
      simple(
        () => people.push(app, people.fresh('file'), 'text\n'),
        (sha) => `refs/heads/main ${sha}`,
      ),
    ),
    at('branch.created', 'event.branch', simple(branch)),
    at('tag.created', 'event.tag', simple(tag)),
    at(
      'issue.opened',
      number,
      simple(() => people.issue(app, rita)),
    ),
    ...tracker('issue', issue),
    at('comment.created', 'string(event.comment.id)', async (ready) => {
      await issue();
      await ready();
      return comment();
    }),
    at('pull_request.opened', number, simple(pull)),
    // The push before it was opened may be reported as well.
    at('pull_request.synchronized', "string(event.number) + ' ' + event.sha", async (ready) => {
      const head = await people.headOf(app, await pull());
      await ready();
      return `${await pull()} ${await people.push(app, people.fresh('file'), 'more\n', head.branch)}`;
    }),
    at(
      'pull_request.review_requested',
      number,
      on(pull, (of) =>
        wes.api.ask('POST', people.at(app, `/pulls/${of}/requested_reviewers`), { reviewers: [olga.login] }),
      ),
    ),
    at(
      'pull_request.review_request_removed',
      number,
      on(pull, (of) =>
        wes.api.ask('DELETE', people.at(app, `/pulls/${of}/requested_reviewers`), { reviewers: [olga.login] }),
      ),
    ),
    at(
      'review.commented',
      number,
      on(pull, (of) => people.review(app, of, 'COMMENT')),
    ),
    ...tracker('pull_request', pull),
    at(
      'review.rejected',
      number,
      on(pull, (of) => people.review(app, of, 'REQUEST_CHANGES')),
    ),
    at(
      'pull_request.ready_for_review',
      number,
      on(
        () => people.pull(app, { title: `WIP: ${people.fresh('Draft')}` }),
        (of) => wes.api.ask('PATCH', people.at(app, `/pulls/${of}`), { title: people.fresh('No draft') }),
      ),
    ),
    at('status.set', 'event.status.context', async (ready) => {
      const { sha } = await people.headOf(app, await pull());
      await ready();
      const context = people.fresh('check');
      await wes.api.ask('POST', people.at(app, `/statuses/${sha}`), { context, state: 'success' });
      return context;
    }),
    at('review.approved', number, on(pull, approval), { undoes: true }),
    at(
      'review.dismissed',
      number,
      async (ready) => {
        const of = await people.pull(app);
        const review = await people.review(app, of, 'APPROVED');
        await ready();
        await olga.api.ask('POST', people.at(app, `/pulls/${of}/reviews/${review}/dismissals`), {
          message: 'Looked at again.',
        });
        return of;
      },
      { undoes: true },
    ),
    at(
      'pull_request.merged',
      number,
      on(pull, (of) => people.merge(app, of)),
    ),
    at(
      'pull_request.deleted',
      number,
      on(
        () => people.pull(app),
        (of) => olga.api.ask('DELETE', people.at(app, `/issues/${of}`)),
      ),
      { undoes: true },
    ),
    at(
      'release.published',
      'event.tag',
      simple(release, ({ tag: of }) => of),
    ),
    at(
      'release.updated',
      'event.tag',
      on(
        release,
        ({ id }) => olga.api.ask('PATCH', people.at(app, `/releases/${id}`), { body: 'Other notes.' }),
        ({ tag: of }) => of,
      ),
    ),
    at(
      'release.deleted',
      'event.tag',
      on(
        release,
        ({ id }) => olga.api.ask('DELETE', people.at(app, `/releases/${id}`)),
        ({ tag: of }) => of,
      ),
    ),
    at('wiki.created', 'event.page', simple(page)),
    at(
      'wiki.edited',
      'event.page',
      on(page, (of) =>
        wes.api.ask('PATCH', people.at(app, `/wiki/page/${of}`), {
          title: of,
          content_base64: Buffer.from('other').toString('base64'),
          message: 'other',
        }),
      ),
    ),
    at(
      'wiki.deleted',
      'event.page',
      on(page, (of) => wes.api.ask('DELETE', people.at(app, `/wiki/page/${of}`))),
    ),
    at('package.created', "event.package.name + ' ' + event.package.version", simple(upload), { marksOrg: true }),
    at(
      'package.deleted',
      "event.package.name + ' ' + event.package.version",
      on(upload, () => olga.api.ask('DELETE', `/packages/${people.org}/generic/${packageName}/1.0`)),
      { marksOrg: true },
    ),
    at('workflow.requested', 'event.sha', simple(run)),
    at('workflow.started', 'event.sha', simple(run), { needsRunner: true }),
    at('workflow.finished', 'event.sha', simple(run), { needsRunner: true }),
    at(
      'task.queued',
      job,
      simple(run, (sha) => `build ${sha}`),
      { asksNobody: true },
    ),
    at(
      'task.waiting',
      job,
      simple(run, (sha) => `after ${sha}`),
      { asksNobody: true },
    ),
    at(
      'task.started',
      job,
      simple(run, (sha) => `build ${sha}`),
      { needsRunner: true, asksNobody: true },
    ),
    at(
      'task.finished',
      job,
      simple(run, (sha) => `build ${sha}`),
      { needsRunner: true, asksNobody: true },
    ),
    at(
      'workflow.recovered',
      'event.sha',
      async (ready) => {
        if (!stage.hasRunner) throw new Error('without a runner nothing fails');
        // A run tells the newest commit of its branch, which this push changes.
        await people.ran(await ci(), await run());
        await ready();
        return people.push(await ci(), WORKFLOW, workflow('true'));
      },
      { needsRunner: true },
    ),
    synced(['push'], "event.ref + ' ' + event.after", 'mirror.pushed', async (of) => {
      return `refs/heads/main ${await people.push(of, people.fresh('file'), 'text\n')}`;
    }),
    synced(['branch.created'], 'event.branch', 'mirror.ref_created', (of) => people.branch(of, 'synced')),
    // Forgejo tells a branch that a sync deleted as a tag.
    synced(
      ['branch.deleted', 'tag.deleted'],
      'has(event.branch) ? event.branch : event.tag',
      'mirror.ref_deleted',
      async (of) => {
        await wes.api.ask('DELETE', people.at(of, '/branches/synced'));
        return 'synced';
      },
    ),
    at(
      'comment.edited',
      'string(event.comment.id)',
      on(comment, (id) => rita.api.ask('PATCH', people.at(app, `/issues/comments/${id}`), { body: 'Other words.' })),
    ),
    at('repository.forked', 'event.fork.full_name', async (ready) => {
      await ready();
      const fork = await rita.api.ask('POST', people.at(app, '/forks'), {});
      return String(fork.full_name);
    }),
    at(
      'repository.starred',
      'repo.name',
      on(repository, (of) => rita.api.ask('PUT', `/user/starred/${people.org}/${of}`)),
    ),
    at(
      'repository.watched',
      'repo.name',
      on(repository, (of) => rita.api.ask('PUT', people.at(of, '/subscription'))),
    ),
    at('repository.transferred', 'repo.name', async (ready) => {
      const name = people.fresh('coming');
      await olga.api.ask('POST', '/user/repos', { name, auto_init: true, private: false });
      await ready();
      await olga.api.ask('POST', `/repos/${olga.login}/${name}/transfer`, { new_owner: people.org });
      return name;
    }),
    at('repository.renamed', 'repo.name', async (ready) => {
      const name = await people.repository(people.fresh('old'));
      await ready();
      const renamed = people.fresh('new');
      await olga.api.ask('PATCH', people.at(name), { name: renamed });
      return renamed;
    }),
    at(
      'repository.deleted',
      'repo.name',
      on(
        () => people.repository(people.fresh('gone')),
        (of) => olga.api.ask('DELETE', people.at(of)),
      ),
      { marksOrg: true, undoes: true },
    ),
    at(
      'comment.deleted',
      'string(event.comment.id)',
      on(comment, (id) => rita.api.ask('DELETE', people.at(app, `/issues/comments/${id}`))),
    ),
    at(
      'tag.deleted',
      'event.tag',
      on(tag, (of) => wes.api.ask('DELETE', people.at(app, `/tags/${of}`))),
    ),
    at(
      'branch.deleted',
      'event.branch',
      on(branch, (of) => wes.api.ask('DELETE', people.at(app, `/branches/${of}`))),
    ),
    at(
      'issue.deleted',
      number,
      on(
        () => people.issue(app),
        (of) => olga.api.ask('DELETE', people.at(app, `/issues/${of}`)),
      ),
      { undoes: true },
    ),
  ];
}
