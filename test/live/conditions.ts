import type { EventKind } from '../../src/core/event-kinds.js';
import { isJsonObject } from '../../src/core/json.js';
import { type Expected, marksOf, untilMarked, whatBecame, wrongIn } from './kinds.js';
import type { LiveBot } from './live-bot.js';
import type { Rows } from './rows.js';
import { see } from './see.js';
import type { People, Stage, StageOrg } from './stage.js';

const BURST = 60;
const AT_ONCE = 6;
const BEFORE_A_KILL = 8;

/** The hook of an organization delivers, or does not. What an edit leaves out is cleared, so all of it is said again. */
async function switchHook(stage: Stage, { name }: StageOrg, active: boolean): Promise<void> {
  const [hook] = await stage.olga.api.list(`/orgs/${name}/hooks`);
  if (!hook) throw new Error(`${name} has no hook`);
  const { url, content_type } = isJsonObject(hook.config) ? hook.config : {};
  await stage.olga.api.ask('PATCH', `/orgs/${name}/hooks/${String(hook.id)}`, {
    config: { url: url ?? '', content_type: content_type ?? 'json' },
    events: hook.events ?? [],
    branch_filter: '*',
    active,
  });
}

async function rowsOf(
  stage: Stage,
  people: People,
  bot: LiveBot,
  rows: Rows,
  part: string,
  expected: Expected[],
): Promise<void> {
  await untilMarked(stage, bot, people.org, expected);
  await bot.settled();
  const wrong = wrongIn(await marksOf(stage, people.org), expected);
  for (const one of expected) {
    const why = wrong.get(one);
    const detail = why === undefined ? null : `${why} (${one.subject}); ${await whatBecame(bot, people.org, one.kind)}`;
    rows.check(part, one.kind, detail, `once: ${one.subject}`);
  }
}

/** The bot is stopped and its hook switched off while people go on; polling finds what happened. */
export async function playOutage(stage: Stage, people: People, bot: LiveBot, rows: Rows): Promise<void> {
  const part = 'outage';
  const { wes, olga } = stage;
  const changed = await people.issue('app');
  const closing = await people.issue('app');
  const reopening = await people.issue('app');
  await people.edit('app', reopening, { state: 'closed' });
  const pull = await people.pull('app');
  const label = await people.label('app');
  const milestone = await people.milestone('app');
  const going = await people.branch('app', people.fresh('going'));
  await bot.settled();
  // The lists are read once more, so that the bot knows what these issues were like.
  await bot.listsRead();
  const since = Date.now();
  await bot.stop();
  await switchHook(stage, stage.kinds, false);
  const expected: Expected[] = [];
  const told = async (kind: EventKind, subject: Promise<string>): Promise<void> =>
    void expected.push({ kind, subject: await subject });
  await told('repository.created', people.repository(people.fresh('unseen')));
  await told(
    'push',
    people.push('app', people.fresh('file'), 'text\n').then((sha) => `refs/heads/main ${sha}`),
  );
  await told('branch.created', people.branch('app', people.fresh('unseen')));
  await told('tag.created', people.tag('app', people.fresh('unseen')));
  const opened = people.issue('app');
  await told('issue.opened', opened);
  await told('comment.created', people.comment('app', await opened, 'While nobody listens.'));
  await told('issue.closed', people.edit('app', closing, { state: 'closed' }));
  await told('issue.reopened', people.edit('app', reopening, { state: 'open' }));
  await told('issue.labeled', people.putLabel('app', changed, label));
  await told('issue.assigned', people.edit('app', changed, { assignees: [wes.login] }));
  await told('issue.milestoned', people.edit('app', changed, { milestone }));
  await told('issue.edited', people.edit('app', changed, { title: people.fresh('Unseen') }));
  // Rows of one person about one pull request in one second are one review: the approval is about another one.
  const commented = await people.pull('app');
  await told(
    'review.commented',
    people.review('app', commented, 'COMMENT').then(() => commented),
  );
  await told(
    'review.approved',
    people.review('app', pull, 'APPROVED').then(() => pull),
  );
  await told('pull_request.merged', people.merge('app', pull));
  await told('pull_request.opened', people.pull('app'));
  await told(
    'release.published',
    people.release('app').then(({ tag }) => tag),
  );
  await olga.api.ask('DELETE', people.at('app', `/branches/${going}`));
  await told('branch.deleted', Promise.resolve(going));
  await bot.start();
  await bot.listsRead();
  await rowsOf(stage, people, bot, rows, part, expected);
  await see(rows, part, 'its cause', async () => {
    const { rows: gaps } = await bot.reach.call('gaps', { org: people.org });
    const found = gaps.filter(({ foundAt }) => new Date(foundAt).getTime() >= since).map((gap) => gap.class);
    const causes = [...new Set(found)];
    return {
      isThere: causes.length > 0 && causes.every((one) => one === 'down' || one === 'hook-inactive'),
      seen: causes.join(', ') || 'nothing',
    };
  });
  await switchHook(stage, stage.kinds, true);
  // The first delivery ends the alert that none came.
  await rowsOf(stage, people, bot, rows, part, [{ kind: 'issue.opened', subject: await people.issue('app') }]);
}

/** The organization gets another name; the operator corrects it, and nothing else. */
export async function playRename(
  stage: Stage,
  people: People,
  bot: LiveBot,
  rows: Rows,
  filesOf: () => Readonly<Record<string, string>>,
): Promise<void> {
  const part = 'rename';
  const before = people.org;
  const after = `${before}-new`;
  const { status, body } = await stage.olga.api.call('POST', `/orgs/${before}/rename`, { new_name: after });
  if (status >= 300)
    return rows.add(
      part,
      'an organization',
      'not playable here',
      `POST /orgs/{org}/rename answered ${status} ${JSON.stringify(body)}`,
    );
  await see(rows, part, 'doctor names the new name', async () => {
    const { stdout } = await bot.run('doctor', '--org', before);
    return {
      isThere: stdout.includes(after),
      seen: stdout.includes(after) ? `it says ${after}` : stdout.slice(0, 1500),
    };
  });
  stage.kinds.name = after;
  await bot.stop();
  bot.rewrite(filesOf());
  await bot.start();
  const opened = await people.issue('app');
  await rowsOf(stage, people, bot, rows, part, [{ kind: 'issue.opened', subject: opened }]);
}

/** A repository leaves the organization: the bot leaves it alone. */
export async function playTransfer(stage: Stage, people: People, bot: LiveBot, rows: Rows): Promise<void> {
  const part = 'transfer';
  const name = await people.repository(people.fresh('leaving'));
  await untilMarked(stage, bot, people.org, [{ kind: 'repository.created', subject: name }]);
  const labels = async (owner: string): Promise<number> =>
    (await stage.forge.admin.list(`/repos/${owner}/${name}/labels`)).length;
  const count = await labels(people.org);
  // A site administrator need not wait for the new owner to agree.
  await stage.forge.admin.ask('POST', people.at(name, '/transfer'), { new_owner: stage.rita.login });
  await stage.rita.api.ask('POST', `/repos/${stage.rita.login}/${name}/issues`, { title: 'Mine now' });
  await bot.settled();
  const now = await labels(stage.rita.login);
  rows.check(
    part,
    'a repository that left',
    now === count ? null : `${now - count} more marks in it`,
    'nothing was done in it',
  );
}

export async function playBurst(stage: Stage, people: People, bot: LiveBot, rows: Rows): Promise<void> {
  const part = 'burst';
  const expected = (await many(people, BURST)).map((subject): Expected => ({ kind: 'issue.opened', subject }));
  await countRow(stage, people, bot, rows, part, `${BURST} issues at once`, expected);
}

/** Killed twice while it works; what the server sent meanwhile is lost to it. */
export async function playKills(stage: Stage, people: People, bot: LiveBot, rows: Rows): Promise<void> {
  const part = 'kills';
  const opening = many(people, BURST / 2);
  for (let kill = 1; kill <= 2; kill += 1) {
    const before = (await marksOf(stage, people.org)).get('issue.opened')?.length ?? 0;
    const end = Date.now() + 15_000;
    while (
      ((await marksOf(stage, people.org)).get('issue.opened')?.length ?? 0) < before + BEFORE_A_KILL &&
      Date.now() < end
    );
    await bot.kill();
    await bot.start();
  }
  const expected = (await opening).map((subject): Expected => ({ kind: 'issue.opened', subject }));
  await countRow(stage, people, bot, rows, part, `${BURST / 2} issues, killed twice`, expected);
  // The first delivery ends the alert that none came.
  await rowsOf(stage, people, bot, rows, part, [{ kind: 'issue.opened', subject: await people.issue('app') }]);
}

async function many(people: People, count: number): Promise<string[]> {
  const opened: string[] = [];
  let left = count;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      opened.push(await people.issue('app'));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return opened;
}

async function countRow(
  stage: Stage,
  people: People,
  bot: LiveBot,
  rows: Rows,
  part: string,
  what: string,
  expected: Expected[],
): Promise<void> {
  await untilMarked(stage, bot, people.org, expected);
  await bot.settled();
  const marks = await marksOf(stage, people.org);
  const wrong = wrongIn(marks, expected);
  const all = marks.get('issue.opened') ?? [];
  const twice = all.filter((subject, n) => all.indexOf(subject) !== n);
  const said = [...wrong]
    .map(([{ subject }, why]) => `#${subject}: ${why}`)
    .concat(`${all.length} marks, twice: ${twice.join(', ') || 'none'}`)
    .join('; ');
  rows.check(part, what, wrong.size === 0 ? null : said, `${expected.length} marks, each once`);
}
