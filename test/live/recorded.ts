import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../src/core/errors.js';
import type { EventKind } from '../../src/core/event-kinds.js';
import { ForgeRefused } from '../../src/cli/real-forge/forge-api.js';
import { isJsonObject } from '../../src/core/json.js';
import type { LiveBot } from './live-bot.js';
import type { Rows } from './rows.js';
import { see } from './see.js';
import type { People, Stage, StageOrg } from './stage.js';

const PART = 'recorded';
const LOOK_MS = 300;
const WITHIN_MS = 40_000;

/** Kinds that are kept and start no rule: the test button of a hook, and what this version does not know. */
export async function playRecorded(stage: Stage, people: People, bot: LiveBot, rows: Rows): Promise<void> {
  await testHook(stage, people, bot, rows);
  const kind = 'unrecognized';
  await bot.settled();
  const all = await bot.arrivals(people.org);
  const unknown = all.filter(({ eventKinds }) => eventKinds.includes(kind));
  if (unknown.length === 0)
    return rows.add(PART, kind, 'not playable here', `each of ${all.length} deliveries and rows was recognized`);
  await startsNothing(bot, people, rows, kind, unknown.map(({ eventType }) => eventType).join(', '));
}

/** The button is in the pages of an organization's hook alone; the API has it for the hook of a repository, which may deliver to the same place. */
async function testHook(stage: Stage, people: People, bot: LiveBot, rows: Rows): Promise<void> {
  const kind = 'hook.tested';
  const { api } = stage.olga;
  const hooks = people.at(await people.repository(people.fresh('tested')), '/hooks');
  let path = hooks;
  try {
    const { hook, secret } = stage.kinds;
    const made = await api.ask('POST', hooks, {
      type: stage.forge.family,
      config: { url: `${bot.url}/webhooks/${hook}`, content_type: 'json', secret },
      events: ['push'],
      active: true,
    });
    path = `${hooks}/${String(made.id)}`;
    await api.ask('POST', `${path}/tests`);
  } catch (error) {
    const isMissing = error instanceof ForgeRefused && error.status === 404;
    return rows.add(PART, kind, isMissing ? 'not playable here' : 'fails', `the act was refused: ${messageOf(error)}`);
  }
  const end = Date.now() + WITHIN_MS;
  const told = async (): Promise<string[]> =>
    (await bot.arrivals(people.org)).flatMap(({ eventKinds, source, eventType }) =>
      eventKinds.includes(kind) ? [`${source} ${eventType}`] : [],
    );
  while ((await told()).length === 0 && Date.now() < end) await wait(LOOK_MS);
  const seen = await told();
  if (seen.length === 1) await startsNothing(bot, people, rows, kind, seen.join(', '));
  else rows.add(PART, kind, 'fails', `recorded ${seen.length} times: ${seen.join(', ')}`);
  await api.ask('DELETE', path);
}

async function startsNothing(bot: LiveBot, people: People, rows: Rows, kind: EventKind, told: string): Promise<void> {
  await bot.quiet();
  const all = await bot.arrivals(people.org);
  const ids = new Set(all.flatMap(({ eventKinds, eventIds }) => eventIds.filter((_, n) => eventKinds[n] === kind)));
  const { rows: runs } = await bot.reach.call('runs', { org: people.org, limit: 1000 });
  const own = runs.filter(({ run: { cause } }) => cause.kind === 'event' && ids.has(cause.eventId));
  const wrong = own.length === 0 ? null : `started ${own.map(({ run }) => run.rule).join(', ')}`;
  rows.check(PART, kind, wrong, `recorded, and starts nothing: ${told}`);
}

const PATH = '/user/actions/jobs';
export const JOBS = 'jobs.mine';
export const ASKS_FOR_JOBS = 'Which jobs are mine?';

/** Why the jobs of the account cannot be seen; null = they can. */
export async function lacksJobs({ bot }: StageOrg): Promise<string | null> {
  const { status } = await bot.api.call('GET', PATH);
  return status === 200 ? null : `GET ${PATH} was answered with ${status}`;
}

/** Jobs of the bot's own repository, as a rule reads them. */
export async function playJobs(stage: Stage, people: People, bot: LiveBot, rows: Rows): Promise<void> {
  const lacking = await lacksJobs(stage.kinds);
  if (lacking !== null) return rows.add('jobs', JOBS, 'not playable here', lacking);
  const { api, login } = stage.kinds.bot;
  await api.ask('POST', '/user/repos', { name: 'own', auto_init: true, default_branch: 'main', private: false });
  await api.ask('POST', `/repos/${login}/own/contents/${encodeURIComponent('.gitea')}/workflows/own.yml`, {
    content: Buffer.from('on: [push]\njobs:\n  mine: {runs-on: ubuntu-latest, steps: [{run: "true"}]}\n').toString(
      'base64',
    ),
    message: 'ci',
    branch: 'main',
  });
  const jobs = async (): Promise<string[]> => {
    const { body } = await api.call('GET', PATH);
    const list = isJsonObject(body) && Array.isArray(body.jobs) ? body.jobs.filter(isJsonObject) : [];
    return list.map(({ name, status, conclusion }) => `${String(name)} ${String(status)} ${String(conclusion)}`);
  };
  const isOver = (list: string[]): boolean => list.some((job) => !stage.hasRunner || job === 'mine completed success');
  await see(rows, 'jobs', `a job of the bot's own (op 11)`, async () => {
    const list = await jobs();
    return { isThere: isOver(list), seen: list.join(', ') || 'no job' };
  });
  await people.issue('app', stage.wes, { title: ASKS_FOR_JOBS });
  const want = `mine ${stage.hasRunner ? 'completed' : 'queued'}`;
  await see(rows, 'jobs', `${JOBS} in a rule`, async () => {
    const labels = await stage.olga.api.list(people.at('app', '/labels'));
    const marks = labels
      .filter(({ name }) => String(name).startsWith(`${JOBS} `))
      .map(({ description }) => description);
    return { isThere: marks.length === 1 && marks[0] === want, seen: marks.map(String).join(', ') || 'no mark' };
  });
}
