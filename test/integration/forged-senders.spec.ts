import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../src/api/operations/answers.js';
import type { JsonObject } from '../../src/core/json.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { feedIsRead } from './support/feed-is-read.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';
import { deliverSigned } from './support/deliver-signed.js';

const SECRET = 'the secret of the hook, which somebody else has as well';
const PER_STRANGER = 3;
const STRANGER_ISSUES = 6;

const RULES = `version: 1
org: acme
rules:
  - id: close-by-command
    on: comment.created
    where: {command: close}
    do: {issue.state: {number: "\${{ event.number }}", state: closed}}
  - id: close-for-olga
    on: comment.created
    where: {actor: [olga]}
    if: event.comment.body.contains("please close")
    do: {issue.state: {number: "\${{ event.number }}", state: closed}}
  - id: close-for-the-author
    on: comment.created
    if: event.comment.user.login == "olga" && event.comment.body.contains("close it")
    do: {issue.state: {number: "\${{ event.number }}", state: closed}}
  - id: label-each
    on: issue.opened
    do: {label.ensure: {name: "seen-\${{ event.number }}", color: "#00aabb"}}
  - id: label-told
    on: comment.created
    if: event.comment.body == "told often"
    do: {label.ensure: {name: "told-\${{ event.id }}", color: "#00aabb"}}
`;

interface Person {
  readonly id: number;
  readonly login: string;
}

interface Comment {
  readonly id: number;
  readonly user: Person;
  readonly body: string;
  readonly created_at: string;
  readonly updated_at: string;
}

interface Issue {
  readonly number: number;
  readonly state: string;
  readonly user: Person;
}

interface Run {
  readonly id: string;
  readonly rule: string;
  readonly state: string;
  readonly reason: string;
  readonly trace: JsonObject | null;
}

/** Deliveries that somebody signs who holds the secret of the hook; the forge itself delivers nothing here. */
describe('integration/forged-senders', () => {
  let forge: TestForge;
  let bot: TestBot;

  beforeAll(async () => {
    forge = await aForge({ org: 'acme' });
    await forge.control('/_sandbox/given', { user: 'otto' });
    await forge.act('repository.create', { repo: 'acme/app' });
    bot = await aBot({
      config: acmeConfig(forge, {
        org: {
          feed: { every_s: 3600 },
          tasks: { calls_per_poll: 0 },
          lists: { every_s: 0 },
          budgets: { per_stranger: PER_STRANGER },
        },
      }),
      files: { 'rules/r.yaml': RULES },
      env: { FORGE_TOKEN: forge.botToken, HOOK: SECRET },
    });
    await feedIsRead(bot);
    await until(async () => (await bot.reach.get<StatusReport>('/v1/status')).forges[0]?.self === 'bot');
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  const as = async (who: string, act: string, params: JsonObject): Promise<void> =>
    void (await forge.control('/_sandbox/act', { as: who, act, ...params }));
  const issue = (number: number): Promise<Issue> => forge.get<Issue>(`/repos/acme/app/issues/${number}`);
  const user = (login: string): Promise<JsonObject> => forge.get<JsonObject>(`/users/${login}`);
  const runs = async (): Promise<Run[]> =>
    (await bot.reach.rows<{ run: Run }>('/v1/runs', { limit: 200 })).map(({ run }) => run);
  const refusals = async (known: readonly Run[]): Promise<unknown[]> =>
    (await runs())
      .filter(({ id }) => known.every((run) => run.id !== id))
      .flatMap(({ trace }) => (trace?.['refused'] as JsonObject | undefined)?.['code'] ?? []);

  async function openIssue(who: string): Promise<number> {
    await as(who, 'issue.open', { repo: 'acme/app', title: `An issue of ${who}` });
    const [newest] = await forge.get<Issue[]>('/repos/acme/app/issues?state=all&limit=1');
    return newest?.number ?? 0;
  }

  /** A real comment, as the forge holds it. */
  async function comment(who: string, number: number, body: string): Promise<Comment> {
    await as(who, 'comment.create', { repo: 'acme/app', number, body });
    const all = await forge.get<Comment[]>(`/repos/acme/app/issues/${number}/comments`);
    const [newest] = all.slice(-1);
    if (!newest) throw new Error('no comment');
    return newest;
  }

  const deliver = async (type: string, body: JsonObject): Promise<void> =>
    deliverSigned(bot, {
      type,
      body: { ...body, repository: await forge.get<JsonObject>('/repos/acme/app') },
      secret: SECRET,
    });

  const tellComment = async (number: number, told: object, sender: JsonObject, more: JsonObject = {}): Promise<void> =>
    deliver('issue_comment', {
      ...more,
      action: 'created',
      issue: (await issue(number)) as unknown as JsonObject,
      comment: told as JsonObject,
      is_pull: false,
      sender,
    });

  /** Until what was delivered is decided and done. */
  async function settled(known: readonly Run[]): Promise<void> {
    await until(async () => (await runs()).length > known.length);
    await until(async () => {
      const { intents, backlog } = await bot.reach.get<StatusReport>('/v1/status');
      return backlog.arrivals + backlog.events + intents.claimed + intents.sent === 0;
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
  }

  it("obeys an owner's command, and closes what its author asks to close", async () => {
    const [first, second] = [await openIssue('olga'), await openIssue('olga')];
    await tellComment(first, await comment('olga', first, '/close'), await user('olga'));
    await tellComment(second, await comment('olga', second, 'well, please close'), await user('olga'));

    await until(async () => (await issue(first)).state === 'closed' && (await issue(second)).state === 'closed');
  });

  it.each<[string, string, (theirs: Comment, olga: JsonObject) => object, string]>([
    [
      "a stranger's comment, as if an owner had written it",
      '/close',
      (theirs, olga) => ({ ...theirs, user: olga }),
      'act.other_author',
    ],
    [
      "a comment that nobody wrote, as an owner's",
      'hello',
      (theirs, olga) => ({ ...theirs, id: theirs.id + 1_000, body: '/close', user: olga }),
      'act.not_found',
    ],
    [
      'the words that an actor filter waits for',
      'please close',
      (theirs, olga) => ({ ...theirs, user: olga }),
      'act.other_author',
    ],
    [
      'the words that a condition on the author waits for',
      'close it',
      (theirs, olga) => ({ ...theirs, user: olga }),
      'act.other_author',
    ],
  ])('does nothing upon %s', async (_what, said, forged, code) => {
    const [number, known] = [await openIssue('olga'), await runs()];
    await tellComment(number, forged(await comment('otto', number, said), await user('olga')), await user('olga'));

    await settled(known);
    expect((await issue(number)).state).toBe('open');
    expect(await refusals(known)).toContain(code);
  });

  it("does nothing upon an owner's comment with other words than its own", async () => {
    const [number, known] = [await openIssue('olga'), await runs()];
    const theirs = await comment('olga', number, 'thank you');
    await tellComment(number, { ...theirs, body: '/close' }, await user('olga'));

    await settled(known);
    expect((await issue(number)).state).toBe('open');
    expect(await refusals(known)).toContain('act.other_text');
  });

  it("does nothing upon an owner's comment that is told with another time than its own", async () => {
    const [number, known] = [await openIssue('olga'), await runs()];
    const theirs = await comment('olga', number, '/close');
    const later = new Date(Date.parse(theirs.created_at) + 60_000).toISOString();
    await tellComment(number, { ...theirs, created_at: later, updated_at: later }, await user('olga'));

    await settled(known);
    expect((await issue(number)).state).toBe('open');
    expect(await refusals(known)).toContain('act.not_found');
  });

  it("does for a stranger no more than a stranger's budget, whoever is said to have sent the deliveries", async () => {
    const numbers: number[] = [];
    for (let n = 0; n < STRANGER_ISSUES; n += 1) numbers.push(await openIssue('otto'));
    const olga = await user('olga');
    for (const number of numbers)
      await deliver('issues', {
        action: 'opened',
        issue: { ...(await issue(number)), user: olga } as unknown as JsonObject,
        sender: olga,
      });

    await until(async () => (await runs()).filter(({ rule }) => rule === 'label-each').length >= STRANGER_ISSUES);
    await settled([]);
    const labels = await forge.get<Array<{ name: string }>>('/repos/acme/app/labels');
    expect(labels.filter(({ name }) => numbers.some((number) => name === `seen-${number}`))).toHaveLength(PER_STRANGER);
  });

  it('charges one comment of a member once, however often it is told', async () => {
    const number = await openIssue('olga');
    const [said, olga] = [await comment('olga', number, 'told often'), await user('olga')];
    // What nobody confirms has no room any more (see above), so only what is charged to her is done.
    for (let n = 0; n < 6; n += 1) await tellComment(number, said, olga, { n });

    await until(
      async () =>
        (await runs()).filter(({ rule, state }) => rule === 'label-told' && state !== 'not-fired').length === 6,
    );
    await settled([]);
    const labels = await forge.get<Array<{ name: string }>>('/repos/acme/app/labels');
    expect(labels.filter(({ name }) => name.startsWith('told-'))).toHaveLength(1);
  });
});
