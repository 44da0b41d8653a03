import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../src/core/json.js';
import type { LiveBot } from './live-bot.js';
import type { Rows } from './rows.js';
import { untestedMerges } from '../integration/support/untested-merges.js';
import { includes, isSame, see } from './see.js';
import { KEPT_FRESH } from './shipped-rules.js';
import { People, type Stage, type StageOrg } from './stage.js';

/** The same schedule is fired once in a second, and what was touched in this second is not older than now. */
const FIRED_EVERY_MS = 1_000;
const LABELS = 13;
const STARTER_LABELS = 6;

type Names = ReadonlyArray<{ readonly name?: unknown; readonly login?: unknown }> | null | undefined;
const names = (list: unknown): unknown[] => ((list as Names) ?? []).map(({ name, login }) => name ?? login);

/** One organization that lives with the shipped rules. */
export class House {
  readonly people: People;

  constructor(
    private readonly stage: Stage,
    readonly place: StageOrg,
    private readonly bot: LiveBot,
    private readonly rows: Rows,
    private readonly part: string,
  ) {
    this.people = new People(stage, place);
  }

  get(path: string): Promise<JsonObject> {
    return this.stage.olga.api.ask('GET', path);
  }

  list(path: string): Promise<JsonObject[]> {
    return this.stage.olga.api.list(path);
  }

  issue(number: string): Promise<JsonObject> {
    return this.get(this.people.at('app', `/issues/${number}`));
  }

  async labelsOf(number: string): Promise<unknown[]> {
    return names((await this.issue(number)).labels);
  }

  async labelsOfPull(repo: string, number: string): Promise<unknown[]> {
    return names((await this.get(this.people.at(repo, `/issues/${number}`))).labels);
  }

  async fire(schedule: string): Promise<void> {
    await this.bot.settled();
    await wait(FIRED_EVERY_MS);
    await this.bot.reach.call('runSchedule', { org: this.place.name, schedule });
    await this.bot.quiet();
  }

  see(what: string, look: Parameters<typeof see>[3], withinMs?: number): Promise<void> {
    return see(this.rows, this.part, what, look, withinMs);
  }

  /** Every issue is old enough: warned, labelled, freed by a word, and closed where nobody speaks. */
  async stale(): Promise<void> {
    const { people } = this;
    const spoken = await people.issue('app');
    const silent = await people.issue('app');
    await this.fire('stale-warn');
    for (const number of [spoken, silent]) {
      await this.see(`stale-warn: comment on #${number}`, async () =>
        isSame(
          (await this.list(people.at('app', `/issues/${number}/comments`))).map(
            ({ user }) => (user as JsonObject).login,
          ),
          [this.place.bot.login],
        ),
      );
      await this.see(`stale-warn: label of #${number}`, async () => includes(await this.labelsOf(number), ['stale']));
    }
    await people.comment('app', spoken, 'It still matters.');
    await this.see('stale-not', async () => isSame(await this.labelsOf(spoken), []));
    await this.fire('stale-close');
    await this.see('stale-close', async () => isSame([(await this.issue(silent)).state], ['closed']));
    await this.see('stale-close leaves the other open', async () =>
      isSame([(await this.issue(spoken)).state], ['open']),
    );
  }
}

/** The rules of config/rules/organization, each with its effect. */
export async function playHouse(
  stage: Stage,
  bot: LiveBot,
  rows: Rows,
  leftOut: ReadonlyMap<string, string>,
): Promise<void> {
  const part = 'house';
  const house = new House(stage, stage.house, bot, rows, part);
  const { people } = house;
  const { olga, wes } = stage;
  const at = (rest: string): string => people.at('app', rest);
  await people.repository('app');
  await olga.api.ask('PUT', at('/topics'), { topics: ['product'] });
  await people.push('app', 'a.txt', 'a\n', 'main', olga);
  await people.branch('app', 'release/1.3');
  await people.release('app', 'v1.3.0');
  await people.milestone('app', '1.3');
  await house.see('house-labels', async () => {
    const labels = await house.list(at('/labels'));
    return { isThere: labels.length === LABELS, seen: `${labels.length} labels` };
  });
  await house.see('house-settings', async () =>
    includes(((await house.get(at('/topics'))).topics as unknown[]) ?? [], ['product', 'house-rules']),
  );
  if (leftOut.has('mirrors.yaml'))
    rows.add(part, 'house-mirrors', 'not playable here', leftOut.get('mirrors.yaml') ?? '');
  else
    await house.see('house-mirrors', async () => {
      const mirrors = await house.list(at('/push_mirrors'));
      return { isThere: mirrors.length === 1, seen: `${mirrors.length} mirrors` };
    });
  await protect(house, bot, rows, part);

  const green = async (number: string): Promise<void> => {
    const { sha } = await people.headOf('app', number);
    await wes.api.ask('POST', at(`/statuses/${sha}`), { context: 'ci', state: 'success' });
  };
  const mergedBy = (number: string) => async () => {
    const { merged, merged_by } = await house.get(at(`/pulls/${number}`));
    return isSame([merged, (merged_by as JsonObject | null)?.login], [true, stage.house.bot.login]);
  };
  const first = await people.pull('app', { title: 'Words of docs' }, ['docs/a.md']);
  await house.see('path-labels, size-labels', async () => isSame(await house.labelsOf(first), ['area/docs', 'size/S']));
  // A reviewer is asked for before the merge: afterwards the bot refuses it, since the pull request is closed.
  const seeReviewerAsked = (number: string): Promise<void> =>
    house.see(`reviewer-by-turns: #${number}`, async () =>
      isSame(names((await house.get(at(`/pulls/${number}`))).requested_reviewers), [olga.login]),
    );
  await seeReviewerAsked(first);
  const ready = (await house.list(at('/labels'))).find(({ name }) => name === 'merge/ready');
  await green(first);
  await people.review('app', first, 'APPROVED');
  await people.putLabel('app', first, ready?.id ?? null);
  await house.see('merge-when-ready', mergedBy(first));
  await house.see('notes-of-the-next', async () => {
    const draft = (await house.list(at('/releases'))).find((one) => one.draft === true);
    return {
      isThere: draft?.tag_name === 'v1.4.0' && String(draft.body).includes('Words of docs'),
      seen: String(draft?.tag_name),
    };
  });
  await people.release('app', 'v1.3.1');
  await house.see('notes-of-a-release', async () => {
    const release = await house.get(at('/releases/tags/v1.3.1'));
    return { isThere: String(release.body).includes('Words of docs'), seen: JSON.stringify(release.body) };
  });

  const line = await people.pull('app', {}, ['fix.txt'], 'release/1.3');
  await seeReviewerAsked(line);
  await green(line);
  await people.review('app', line, 'APPROVED');
  await people.comment('app', line, '/label merge/ready');
  await house.see('merge-when-ready, by a command', mergedBy(line));
  await house.see('milestone-on-merge', async () =>
    isSame([((await house.issue(line)).milestone as JsonObject | null)?.title], ['1.3']),
  );

  const asked = await people.issue('app');
  await people.comment('app', asked, '/label kind/bug no-notes');
  await house.see('command-label', async () => isSame(await house.labelsOf(asked), ['kind/bug', 'no-notes']));
  await people.comment('app', asked, '/unlabel no-notes');
  await house.see('command-unlabel', async () => isSame(await house.labelsOf(asked), ['kind/bug']));
  await people.comment('app', asked, '/milestone 1.3');
  await house.see('command-milestone', async () =>
    isSame([((await house.issue(asked)).milestone as JsonObject | null)?.title], ['1.3']),
  );
  await people.comment('app', asked, `/assign @${olga.login}`);
  await house.see('command-assign', async () => isSame(names((await house.issue(asked)).assignees), [olga.login]));
  const merge = await people.pull('app');
  await seeReviewerAsked(merge);
  await green(merge);
  await people.review('app', merge, 'APPROVED');
  await people.comment('app', merge, '/merge');
  await house.see('command-merge', mergedBy(merge));
  await queue(house, stage);
  await mergeQueue(house, stage);
  await retest(house, stage, rows, part);
  await tidyBranches(house, stage);
  await listWhatWaits(house);
  await backports(house, stage);
  await people.edit('app', asked, { state: 'closed' });
  await house.stale();
}

/** A person approves the plan, as the rule file wants it. */
async function protect(house: House, bot: LiveBot, rows: Rows, part: string): Promise<void> {
  const org = ['--org', house.place.name];
  const planned = await bot.run('plan', '--policy', 'product-protections', ...org, '--json');
  const hash = planned.code === 4 ? (JSON.parse(planned.stdout) as { hash: string }).hash : null;
  if (hash === null)
    return rows.add(
      part,
      'product-protections',
      'fails',
      `plan ended with ${String(planned.code)}: ${planned.stdout}${planned.stderr}`,
    );
  for (const command of ['approve', 'apply']) {
    const { code, stdout, stderr } = await bot.run(command, hash);
    if (code !== 0) return rows.add(part, 'product-protections', 'fails', `${command}: ${stdout}${stderr}`);
  }
  await house.see('product-protections', async () => {
    const protections = await house.list(house.people.at('app', '/branch_protections'));
    return isSame(
      protections.map((one) => one.rule_name ?? one.branch_name),
      ['main', 'release/*'],
    );
  });
}

/** The forge itself merges what a comment queued, once the check that its base requires succeeds; another comment takes that back. */
async function queue(house: House, stage: Stage): Promise<void> {
  const { people, place } = house;
  const repo = 'queued';
  const at = (rest: string): string => people.at(repo, rest);
  await people.repository(repo);
  const checks = { rule_name: 'main', enable_status_check: true, status_check_contexts: ['ci'] };
  await stage.olga.api.ask('POST', at('/branch_protections'), checks);
  const number = await people.pull(repo);
  const { sha } = await people.headOf(repo, number);
  await people.review(repo, number, 'APPROVED');
  const plans = async (): Promise<string[]> =>
    (await house.list(at(`/issues/${number}/timeline`))).flatMap(({ type, user }) =>
      String(type).endsWith('scheduled_merge') ? [`${String((user as JsonObject).login)} ${String(type)}`] : [],
    );
  const [made, takenBack] = ['pull_scheduled_merge', 'pull_cancel_scheduled_merge'].map(
    (type) => `${place.bot.login} ${type}`,
  );
  const say = async (command: string, expected: readonly unknown[]): Promise<void> => {
    await people.comment(repo, number, command);
    await house.see(`${command}: ${expected.length} of the timeline`, async () => isSame(await plans(), [...expected]));
  };
  await say('/queue', [made]);
  await say('/dequeue', [made, takenBack]);
  await say('/queue', [made, takenBack, made]);
  await stage.wes.api.ask('POST', at(`/statuses/${sha}`), { context: 'ci', state: 'success' });
  await house.see('command-queue: merged by the forge', async () => {
    const { merged, merged_by } = await house.get(at(`/pulls/${number}`));
    return isSame([merged, (merged_by as JsonObject | null)?.login], [true, place.bot.login]);
  });
}

/** Where the forge tells of no status, each of ten pull requests waits for a look of the clock or two. */
const QUEUE_WITHIN_MS = 1_200_000;

/** Ten pull requests of which two are red on top of the others: eight are merged in order, each tested on top of those before it, and two leave with a comment. */
async function mergeQueue(house: House, stage: Stage): Promise<void> {
  const { people, place } = house;
  const repo = 'line';
  const at = (rest: string): string => people.at(repo, rest);
  await people.repository(repo);
  const { id: label } = await stage.olga.api.ask('POST', at('/labels'), { name: 'merge/queue', color: '#00aa00' });
  const numbers: string[] = [];
  while (numbers.length < 10) numbers.push(await people.pull(repo));
  const red = new Set([numbers[2], numbers[7]]);
  const from = await people.push(repo, 'later.txt', 'later\n', 'main', stage.olga);
  const pinned = new Set<string>();
  const tested = new Set<string>();
  for (const number of numbers) {
    pinned.add((await people.headOf(repo, number)).sha);
    await people.review(repo, number, 'APPROVED');
    await people.putLabel(repo, number, label ?? null);
  }
  const runChecks = async (): Promise<void> => {
    for (const { number } of await house.list(at('/pulls?state=open'))) {
      const { sha } = await people.headOf(repo, String(number));
      if (tested.has(sha)) continue;
      const state = red.has(String(number)) && !pinned.has(sha) ? 'failure' : 'success';
      await stage.wes.api.ask('POST', at(`/statuses/${sha}`), { context: 'ci', state });
      tested.add(sha);
    }
  };
  const mergedOnes = async (): Promise<string[]> =>
    (await house.list(at('/pulls?state=closed')))
      .filter(({ merged }) => merged === true)
      .map(({ number }) => String(number));
  await house.see(
    'merge-queue: eight of ten are merged',
    async () => {
      await runChecks();
      return isSame(
        await mergedOnes(),
        numbers.filter((number) => !red.has(number)),
      );
    },
    QUEUE_WITHIN_MS,
  );
  for (const number of red)
    await house.see(`merge-queue: #${String(number)} left with one comment`, async () =>
      isSame(
        (await house.list(at(`/issues/${String(number)}/comments`)))
          .filter(({ body }) => String(body).startsWith('Taken out of the merge queue of main: '))
          .map(({ user }) => String((user as JsonObject).login)),
        [place.bot.login],
      ),
    );
  await house.see('merge-queue: nothing was merged untested', async () => {
    const list = await house.list(at('/commits?sha=main&stat=false&files=false&verification=false'));
    const commits = list.map(({ sha, parents, commit }): [string, { parents: string[]; at: number }] => [
      String(sha),
      {
        parents: (parents as JsonObject[]).map((parent) => String(parent.sha)),
        at: Date.parse(String(((commit as JsonObject).committer as JsonObject).date)),
      },
    ]);
    const statuses = [];
    for (const sha of tested)
      for (const { context, status, created_at } of await house.list(at(`/commits/${sha}/statuses`)))
        statuses.push({ sha, context: String(context), state: String(status), at: Date.parse(String(created_at)) });
    const [tip] = list;
    const found = untestedMerges({ commits: new Map(commits), statuses }, { tip: String(tip?.sha), from });
    return isSame(
      found.map(({ merge, why }) => `${merge.slice(0, 10)}: ${why}`),
      [],
    );
  });
}

/** The branch of a pull request follows its base, and goes away once it is merged. In a repository that no policy protects. */
async function tidyBranches(house: House, stage: Stage): Promise<void> {
  const { people } = house;
  const repo = 'tidy';
  const at = (rest: string): string => people.at(repo, rest);
  await people.repository(repo);
  const freshLabel = async (): Promise<JsonObject | undefined> =>
    (await house.list(at('/labels'))).find(({ name }) => name === KEPT_FRESH);
  await house.see('house-labels before branches are tidied', async () => {
    const label = await freshLabel();
    return { isThere: label !== undefined, seen: String(label?.name) };
  });
  const number = await people.pull(repo);
  await people.putLabel(repo, number, (await freshLabel())?.id ?? null);
  const before = await people.headOf(repo, number);
  await people.push(repo, 'later.txt', 'later\n', 'main', stage.olga);
  await house.see('keep-up-to-date: pull_request.update_branch', async () => {
    const { sha } = await people.headOf(repo, number);
    const { total_commits: behind } = await house.get(at(`/compare/${sha}...main`));
    return {
      isThere: sha !== before.sha && Number(behind) === 0,
      seen: `${sha.slice(0, 10)}, ${String(behind)} behind`,
    };
  });
  await people.merge(repo, number);
  await house.see('delete-merged-branch: branch.delete', async () =>
    isSame(
      (await house.list(at('/branches'))).map(({ name }) => name),
      ['main'],
    ),
  );
}

/** One issue lists the pull requests that wait: opened, closed when none does, opened again; and being listed is no news in them. */
async function listWhatWaits(house: House): Promise<void> {
  const { people, place } = house;
  const repo = 'digest';
  await people.repository(repo);
  const digests = async (): Promise<JsonObject[]> =>
    (await house.list(people.at(repo, '/issues?state=all&type=issues'))).filter(
      ({ title, user }) =>
        title === 'Pull requests that wait' && (user as JsonObject | null)?.login === place.bot.login,
    );
  const seeDigest = (what: string, state: string, pull: string): Promise<void> =>
    house.see(`weekly-digest: issue.ensure, ${what}`, async () => {
      const all = await digests();
      const isListed = String(all[0]?.body).includes(`//pulls/${pull})`);
      return {
        isThere: all.length === 1 && all[0]?.state === state && isListed,
        seen: `${all.length}, ${String(all[0]?.state)}: ${String(all[0]?.body)}`,
      };
    });
  const first = await people.pull(repo);
  await house.fire('weekly-digest');
  await seeDigest('opened', 'open', first);
  await house.see('weekly-digest: no reference in what it lists', async () => {
    const entries = await house.list(people.at(repo, `/issues/${first}/timeline`));
    const references = entries.filter(({ type }) => String(type).endsWith('_ref') && type !== 'commit_ref');
    return { isThere: references.length === 0, seen: `${references.length} references` };
  });
  await people.merge(repo, first);
  await house.fire('weekly-digest');
  await seeDigest('closed', 'closed', first);
  const next = await people.pull(repo);
  await house.fire('weekly-digest');
  await seeDigest('opened again', 'open', next);
}

/** What is merged comes to a release branch, however it was merged: by a label of before and one of after the merge, and by a comment; where it conflicts, a comment says so, once. */
async function backports(house: House, stage: Stage): Promise<void> {
  const { people, place } = house;
  const repo = 'ported';
  const to = 'release/1.4';
  const at = (rest: string): string => people.at(repo, rest);
  await people.repository(repo);
  await people.push(repo, 'text.txt', 'a\nb\nc\n', 'main', stage.olga);
  await people.branch(repo, to);
  const asks = await people.label(repo, `backport/${to}`);
  await people.label(repo, 'backport/failed');
  const contentOf = async (file: string, ref: string): Promise<unknown> =>
    (await house.get(at(`/contents/${file}?ref=${encodeURIComponent(ref)}`))).content;
  const portOf = (number: string): Promise<JsonObject> =>
    house.get(at(`/pulls/${encodeURIComponent(to)}/backport/${number}-to-${to}`));
  const ported = (what: string, number: string, file: string): Promise<void> =>
    house.see(`backport: ${what}`, async () => {
      const { state, user, head } = await portOf(number);
      const { ref } = head as JsonObject;
      const isEqual = (await contentOf(file, String(ref))) === (await contentOf(file, 'main'));
      return isSame([state, (user as JsonObject).login, isEqual], ['open', place.bot.login, true]);
    });

  for (const how of ['merge', 'squash', 'rebase']) {
    const file = `${how}.txt`;
    const number = await people.pull(repo, {}, [file]);
    await people.putLabel(repo, number, asks);
    await people.merge(repo, number, how);
    await ported(`a label before the ${how}`, number, file);
  }
  const later = await people.pull(repo, {}, ['later.txt']);
  await people.merge(repo, later);
  await people.putLabel(repo, later, asks);
  await ported('a label after the merge', later, 'later.txt');
  const command = await people.pull(repo, {}, ['command.txt']);
  await people.merge(repo, command);
  await people.comment(repo, command, `/backport ${to}`);
  await ported('a comment', command, 'command.txt');

  await people.push(repo, 'text.txt', 'a\nX\nc\n', to, stage.olga);
  const conflicting = await people.pull(repo, {}, ['text.txt']);
  await people.merge(repo, conflicting);
  await people.comment(repo, conflicting, `/backport ${to} release/none`);
  await house.see('backport: a conflict, and a branch that is not there, are told', async () => {
    const comments = await house.list(at(`/issues/${conflicting}/comments`));
    const own = comments.filter(({ user }) => (user as JsonObject).login === place.bot.login);
    const words = own.map(({ body }) => (/git cherry-pick -x/.test(String(body)) ? 'commands' : 'none')).sort();
    return isSame(words, ['commands', 'none']);
  });
  await house.see('backport: its label', async () =>
    includes(await house.labelsOfPull(repo, conflicting), ['backport/failed']),
  );
  await house.see('backport: nothing was done twice', async () => {
    const pulls = (await house.list(at('/pulls?state=open'))).map(({ head }) => (head as JsonObject).ref);
    return { isThere: pulls.length === 5 && new Set(pulls).size === 5, seen: pulls.map(String).join(', ') };
  });
}

const FAILING = 'name: ci\non: [push]\njobs:\n  build: {runs-on: ubuntu-latest, steps: [{run: "exit 1"}]}\n';

async function retest(house: House, stage: Stage, rows: Rows, part: string): Promise<void> {
  const { people } = house;
  const what = 'command-retest';
  if (!stage.hasRunner) return rows.add(part, what, 'not playable here', 'it needs a runner, and none is registered');
  const runsAt = people.at('ci', '/actions/runs');
  await people.repository('ci');
  // Rules put labels on its pull request that a policy has to make first.
  await house.see('house-labels of a new repository', async () => {
    const labels = await house.list(people.at('ci', '/labels'));
    return { isThere: labels.length === LABELS, seen: `${labels.length} labels` };
  });
  const head = await people.branch('ci', 'failing');
  const sha = await people.push('ci', '.gitea/workflows/ci.yml', FAILING, head);
  const pull = await stage.wes.api.ask('POST', people.at('ci', '/pulls'), { head, base: 'main', title: 'Failing' });
  const runs = async (): Promise<JsonObject[]> => {
    const { workflow_runs: list } = await house.get(`${runsAt}?head_sha=${sha}`);
    return (list as JsonObject[] | null) ?? [];
  };
  const isFailed = (run: JsonObject | undefined): boolean => run?.conclusion === 'failure' || run?.status === 'failure';
  let first: JsonObject | undefined;
  await see(rows, part, 'a run that failed', async () => {
    const [run] = await runs();
    first = run;
    return { isThere: isFailed(run), seen: JSON.stringify([run?.status, run?.conclusion]) };
  });
  await people.comment('ci', String(pull.number), '/retest');
  if (stage.forge.family === 'forgejo')
    return rows.add(
      part,
      what,
      'not playable here',
      'Forgejo has no call that runs failed jobs again (docs/forges.md)',
    );
  await house.see(what, async () => {
    const [run] = await runs();
    // Servers before 1.27 count no attempts.
    const isAgain = Number(run?.run_attempt ?? 1) > 1 || run?.started_at !== first?.started_at;
    return { isThere: isAgain, seen: `attempt ${String(run?.run_attempt)}, started ${String(run?.started_at)}` };
  });
}

/** The rules of config/rules/starters. */
export async function playStarters(
  stage: Stage,
  bot: LiveBot,
  rows: Rows,
  leftOut: ReadonlyMap<string, string>,
): Promise<void> {
  const part = 'starters';
  const house = new House(stage, stage.starters, bot, rows, part);
  const { people } = house;
  await people.repository('app');
  await house.see('labels', async () => {
    const labels = await house.list(people.at('app', '/labels'));
    return { isThere: labels.length === STARTER_LABELS, seen: `${labels.length} labels` };
  });
  if (leftOut.has('mirrors.yaml')) rows.add(part, 'mirrors', 'not playable here', leftOut.get('mirrors.yaml') ?? '');
  else
    await house.see('mirrors', async () => {
      const mirrors = await house.list(people.at('app', '/push_mirrors'));
      return { isThere: mirrors.length === 1, seen: `${mirrors.length} mirrors` };
    });
  await people.release('app', 'v1.0.0');
  await house.see('milestone-per-line', async () =>
    includes(
      (await house.list(people.at('app', '/milestones'))).map(({ title }) => title),
      ['1.1'],
    ),
  );
  const pull = await people.pull('app', { title: 'A new thing' });
  await people.merge('app', pull);
  await people.release('app', 'v1.1.0');
  await house.see('release-notes', async () => {
    const { body } = await house.get(people.at('app', '/releases/tags/v1.1.0'));
    return { isThere: String(body).includes('A new thing'), seen: JSON.stringify(body) };
  });
  const patch = await people.pull('app', { title: 'A patch' });
  await people.putLabel('app', patch, await people.label('app', 'patch'));
  await house.see('approve-patches: review.approve', async () => {
    const { sha } = await people.headOf('app', patch);
    const reviews = await house.list(people.at('app', `/pulls/${patch}/reviews`));
    return isSame(
      reviews.map(
        ({ user, state, commit_id }) => `${String((user as JsonObject).login)} ${String(state)} ${String(commit_id)}`,
      ),
      [`${house.place.bot.login} APPROVED ${sha}`],
    );
  });
  await people.merge('app', patch);
  await house.stale();
}
