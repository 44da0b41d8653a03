import { withoutMark } from '../../src/actions/support/compare.js';
import type { EventKind } from '../../src/core/event-kinds.js';
import { messageOf } from '../../src/core/errors.js';
import { EVENT_TYPES } from '../../src/core/event-types.js';
import { showsAuthor } from '../../src/core/act-fields.js';
import type { JsonObject } from '../../src/core/json.js';
import type { FeedDoc } from './feed-doc.js';
import type { LiveBot } from './live-bot.js';
import { type Play, playsOf } from './plays.js';
import { ASKS_FOR_JOBS, JOBS } from './recorded.js';
import type { Rows } from './rows.js';
import type { People, Stage } from './stage.js';

const PART = 'kinds';
/** The end of the number of an event: names of labels are short. */
const NO = '${{ event.id.substring(24) }}';
const MARK_COLOR = '#336699';
/** A server sends from a queue, and the feed and the lists are read every few seconds. */
const MARK_WITHIN_MS = 240_000;
/** So many readings of the feed brought nothing: a delivery comes sooner, and so does the next reading of the lists. */
const IDLE_LOOKS = 8;

/** One rule for each kind: its event leaves one mark, named by the kind and the number of the event; what it was stands in the text of the mark. */
export function kindRules(stage: Stage, plays: readonly Play[], hasJobs: boolean): string {
  const { olga, wes, rita, kinds } = stage;
  const rules = plays.map(({ kind, subject, marksOrg, asksNobody, by }) => ({
    id: kind,
    on: by?.on ?? kind,
    // Who acts is asked wherever the forge can confirm it: a mark then says that it did.
    ...(showsAuthor(kind) && asksNobody !== true
      ? { where: { actor: [olga, wes, rita].map(({ login }) => login) } }
      : {}),
    ...(by ? { if: by.if } : {}),
    do: marksOrg
      ? { 'org_variable.set': { name: `MARK_${NO}`, value: `${kind} \${{ ${subject} }}` } }
      : { 'label.ensure': { name: `${kind} ${NO}`, color: MARK_COLOR, description: `\${{ ${subject} }}` } },
  }));
  return JSON.stringify({ version: 1, org: kinds.name, rules: hasJobs ? [...rules, OF_JOBS] : rules }, null, 2);
}

const OF_JOBS = {
  id: JOBS,
  on: 'issue.opened',
  lookup: { mine: { use: JOBS, with: { sort: 'id', order: 'desc', limit: 50 } } },
  if: `event.issue.title == '${ASKS_FOR_JOBS}' && size(lookups.mine.jobs) > 0`,
  do: {
    'label.ensure': {
      name: `${JOBS} ${NO}`,
      color: MARK_COLOR,
      description: "${{ lookups.mine.jobs[0].name + ' ' + lookups.mine.jobs[0].status }}",
    },
  },
};

/** The marks on the server: of each kind the subjects, each as often as it is marked. */
export async function marksOf(stage: Stage, org: string): Promise<Map<string, string[]>> {
  const marks = new Map<string, string[]>();
  const add = (kind: string, subject: string): void => void marks.set(kind, [...(marks.get(kind) ?? []), subject]);
  const { api } = stage.olga;
  for (const repo of await api.list(`/orgs/${org}/repos`))
    for (const label of await api.list(`/repos/${String(repo.full_name)}/labels`)) {
      const mark = markIn(label);
      if (mark) add(mark.kind, mark.subject);
    }
  for (const { name, data, value } of await api.list(`/orgs/${org}/actions/variables`)) {
    if (!String(name).startsWith('MARK_')) continue;
    const [kind = '', ...subject] = String(data ?? value).split(' ');
    add(kind, subject.join(' '));
  }
  return marks;
}

/** What a label marks; null = it is no mark. One that was made again after a lost answer bears the bot's own sign behind the subject. */
export function markIn({ name, description }: JsonObject): { kind: string; subject: string } | null {
  const [, kind] = /^([a-z_.]+) [0-9a-f]{12}$/.exec(String(name)) ?? [];
  return kind === undefined ? null : { kind, subject: withoutMark(String(description)) };
}

export interface Expected {
  readonly kind: EventKind;
  readonly subject: string;
}

/** Wait for marks, until all are there or nothing is left that could bring them. @returns what is wrong of each that is not there exactly once */
export async function untilMarked(
  stage: Stage,
  bot: LiveBot,
  org: string,
  expected: readonly Expected[],
): Promise<Map<Expected, string>> {
  const end = Date.now() + MARK_WITHIN_MS;
  for (let idle = 0; ;) {
    const wrong = wrongIn(await marksOf(stage, org), expected);
    if (wrong.size === 0 || idle === IDLE_LOOKS || Date.now() > end) return wrong;
    idle = (await bot.quiet(0)) === null ? idle + 1 : 0;
    await bot.polled(1);
  }
}

export function wrongIn(marks: Map<string, string[]>, expected: readonly Expected[]): Map<Expected, string> {
  return new Map(
    expected.flatMap((one): Array<[Expected, string]> => {
      const count = (marks.get(one.kind) ?? []).filter((subject) => subject === one.subject).length;
      return count === 1 ? [] : [[one, count === 0 ? 'no mark on the server' : `${count} marks on the server`]];
    }),
  );
}

interface Played extends Expected {
  readonly play: Play;
}

/** Every kind of event is caused once. */
export async function playKinds(
  stage: Stage,
  people: People,
  bot: LiveBot,
  doc: FeedDoc,
  rows: Rows,
  leftOut: ReadonlySet<string>,
  only: ReadonlySet<string>,
): Promise<void> {
  const plays = playsOf(stage, people);
  const isPlayed = ({ kind }: Play): boolean => only.size === 0 || only.has(PART) || only.has(kind);
  const isSure = ({ kind, needsRunner }: Play): boolean =>
    doc.of(kind) !== null && (needsRunner !== true || stage.hasRunner);
  const expected: Played[] = [];
  const unsure: Played[] = [];
  for (const play of plays.filter(isPlayed)) {
    const { kind } = play;
    if (leftOut.has(kind)) {
      rows.add(PART, kind, 'left out', 'by --without');
      continue;
    }
    try {
      const subject = await play.act(async () => void (play.undoes === true && (await bot.settled())));
      (isSure(play) || play.by ? expected : unsure).push({ play, kind, subject });
    } catch (error) {
      const said = `the act was refused: ${messageOf(error)}`;
      if (isSure(play)) rows.add(PART, kind, 'fails', said);
      else rows.add(PART, kind, 'not playable here', `docs/feed.md has no row of ${doc.server}; ${said}`);
    }
  }
  const wrong = await untilMarked(stage, bot, people.org, expected);
  await bot.settled();
  const marks = await marksOf(stage, people.org);
  const late = wrongIn(marks, expected);
  for (const one of expected) {
    const why = late.get(one) ?? wrong.get(one) ?? null;
    const detail =
      why === null
        ? null
        : `${why} (${one.subject}; there are ${marks.get(one.kind)?.join(', ') ?? 'none'}); ${await whatBecame(bot, people.org, one.kind)}`;
    rows.check(PART, one.kind, detail, `once: ${one.subject}`);
  }
  for (const one of unsure) await addUnsure(stage, people, bot, doc, rows, one, wrongIn(marks, [one]).get(one));
}

/** What docs/feed.md does not list for this server: either it has its effect all the same, or what the server reported shows that it cannot. */
async function addUnsure(
  stage: Stage,
  people: People,
  bot: LiveBot,
  doc: FeedDoc,
  rows: Rows,
  { kind, subject, play }: Played,
  wrong: string | undefined,
): Promise<void> {
  if (wrong === undefined)
    return rows.add(PART, kind, 'holds', `once: ${subject} (docs/feed.md has no row of ${doc.server})`);
  const all = await bot.arrivals(people.org);
  if (all.some(({ eventKinds }) => eventKinds.includes(kind)))
    return rows.add(PART, kind, 'fails', `reported, and ${wrong}: ${await whatBecame(bot, people.org, kind)}`);
  if (play.needsRunner === true && !stage.hasRunner)
    return rows.add(PART, kind, 'not playable here', 'it needs a runner, and none is registered');
  const { webhook = [], feed = [] } = EVENT_TYPES.get(kind) ?? {};
  const delivered = all.filter(({ source, eventType }) => source === 'webhook' && webhook.includes(eventType));
  const read = await feedRows(stage, people.org);
  const told = [
    ...webhook.map((type) => `${delivered.filter(({ eventType }) => eventType === type).length} deliveries ${type}`),
    ...feed.map((op) => `${read.filter((one) => one === op).length} rows ${op}`),
  ];
  const meant = [...new Set(delivered.flatMap(({ eventKinds }) => eventKinds))].sort();
  rows.add(
    PART,
    kind,
    'not playable here',
    `docs/feed.md has no row of ${doc.server}; of its sources came ${told.join(', ')} (of ${read.length} rows)${meant.length > 0 ? `, which reported ${meant.join(', ')}` : ''}`,
  );
}

async function feedRows(stage: Stage, org: string): Promise<string[]> {
  return (await stage.olga.api.list(`/orgs/${org}/activities/feeds`)).map(({ op_type }) => String(op_type));
}

/** What the bot says about the newest events of a kind, for whoever looks for the fault. */
export async function whatBecame(bot: LiveBot, org: string, kind: EventKind): Promise<string> {
  const told = (await bot.arrivals(org)).filter(({ eventKinds }) => eventKinds.includes(kind));
  const { rows: runs } = await bot.reach.call('runs', { org, rule: kind, limit: 3 });
  const said = runs.map(({ run, intents }) => {
    const of = intents.map(({ state, result }) => `${state} ${JSON.stringify(result ?? null)}`);
    return `${run.state} ${run.reason} ${of.join('; ')}`;
  });
  return `arrivals: ${told.map(({ source, eventType, state }) => `${source} ${eventType} ${state}`).join(', ') || 'none'}; runs: ${said.join(' | ') || 'none'}`;
}
