import { writeFileSync } from 'node:fs';
import type { RealForge } from '../../src/cli/real-forge/connect.js';
import type { Estate } from '../../src/cli/real-forge/estate.js';
import { messageOf } from '../../src/core/errors.js';
import { isEventKind } from '../../src/core/event-kinds.js';
import { refusesMirrors } from '../../src/cli/real-forge/refuses-mirrors.js';
import { playBurst, playKills, playOutage, playRename, playTransfer } from './conditions.js';
import { feedDocOf } from './feed-doc.js';
import { kindRules, playKinds } from './kinds.js';
import { LiveBot } from './live-bot.js';
import { playsOf } from './plays.js';
import { lacksJobs, playJobs, playRecorded } from './recorded.js';
import type { Rows } from './rows.js';
import { seeSilence } from './see.js';
import { playHouse, playStarters } from './shipped.js';
import { playSets, setRules } from './sets.js';
import { exampleRules, recipeRules, shippedRules } from './shipped-rules.js';
import { type Stage, type StageOrg, People, setStage } from './stage.js';

/** What the shipped rules wait for; *all events* has other names on each server. */
const EVENTS = [
  'create',
  'delete',
  'push',
  'issues',
  'issue_label',
  'issue_comment',
  'pull_request',
  'pull_request_label',
  'pull_request_sync',
  'pull_request_review',
  'pull_request_comment',
  'repository',
  'release',
  'status',
  'workflow_run',
  'workflow_job',
  // Forgejo tells runs by these; a server drops the names that it does not know.
  'action_run_failure',
  'action_run_recover',
  'action_run_success',
];

export interface LiveOptions {
  readonly forge: RealForge;
  readonly estate: Estate;
  readonly rows: Rows;
  readonly say: (line: string) => void;
  readonly without: ReadonlySet<string>;
  /** Kinds to play alone; empty = all of them, and every part. */
  readonly only: ReadonlySet<string>;
  readonly logFile: string | undefined;
  /** What has to be closed, the last first. */
  readonly onEnd: (close: () => Promise<unknown>) => void;
}

export async function playLive({
  forge,
  estate,
  rows,
  say,
  without,
  only,
  logFile,
  onEnd,
}: LiveOptions): Promise<void> {
  const doc = feedDocOf(forge);
  const stage = await setStage(forge, estate);
  say(
    `organizations ${stage.orgs.map(({ name }) => name).join(', ')}; ${stage.hasRunner ? 'a' : 'no'} runner; docs/feed.md: ${doc.server}`,
  );
  const people = new People(stage, stage.kinds);
  const refused = await refusesMirrors(stage.olga, stage.house.name);
  const leftOut = new Map(refused === null ? [] : [['mirrors.yaml', refused]]);
  const hasJobs = (await lacksJobs(stage.kinds)) === null;
  const kindFiles = (): Record<string, string> => ({
    'kinds.yaml': kindRules(stage, playsOf(stage, people), hasJobs),
  });
  const rules = new Map<StageOrg, Readonly<Record<string, string>>>([
    [stage.kinds, kindFiles()],
    [
      stage.house,
      {
        ...shippedRules('organization', stage, stage.house, leftOut),
        ...exampleRules('keep-branches-tidy.yaml', stage.house),
        ...exampleRules('standing-issues.yaml', stage.house),
        ...recipeRules('pull-requests.md', 'Merge queue', stage.house),
        ...exampleRules('backport.yaml', stage.house),
      },
    ],
    [
      stage.starters,
      {
        ...shippedRules('starters', stage, stage.starters, leftOut),
        // Not beside the rules of the house, which merge.
        ...exampleRules('approve-patches.yaml', stage.starters, { 'renovate-bot': stage.wes.login }),
        ...setRules(stage.starters),
      },
    ],
  ]);
  const bot = await LiveBot.at(stage, rules);
  onEnd(async () => {
    if (logFile !== undefined) writeFileSync(logFile, bot.log);
    await bot.remove();
  });
  await bot.start();
  const { code, stdout, stderr } = await bot.run('hook', 'install', '--org', stage.kinds.name, '--all-events');
  rows.check('start', 'hook install', code === 0 ? null : stdout + stderr, 'made');
  // By hand, as whoever gives the bot no token that could.
  for (const { name, hook, secret } of [stage.house, stage.starters])
    await stage.olga.api.ask('POST', `/orgs/${name}/hooks`, {
      type: forge.family,
      config: { url: `${bot.url}/webhooks/${hook}`, content_type: 'json', secret },
      events: EVENTS,
      branch_filter: '*',
      active: true,
    });
  const parts: ReadonlyArray<readonly [string, () => Promise<void>]> = [
    ['kinds', () => playKinds(stage, people, bot, doc, rows, without, only)],
    ['recorded', () => playRecorded(stage, people, bot, rows)],
    ['jobs', () => playJobs(stage, people, bot, rows)],
    ['house', () => playHouse(stage, bot, rows, leftOut)],
    ['starters', () => playStarters(stage, bot, rows, leftOut)],
    ['sets', () => playSets(stage, bot, rows)],
    ['outage', () => playOutage(stage, people, bot, rows)],
    ['burst', () => playBurst(stage, people, bot, rows)],
    ['kills', () => playKills(stage, people, bot, rows)],
    ['transfer', () => playTransfer(stage, people, bot, rows)],
    ['rename', () => playRename(stage, people, bot, rows, () => prefixed('rules/kinds/', kindFiles()))],
  ];
  await people.repository('app');
  let afterOutage = false;
  for (const [part, play] of parts) {
    if (without.has(part)) rows.add(part, 'the whole part', 'left out', 'by --without');
    if (without.has(part) || (only.size > 0 && !only.has(part) && !(part === 'kinds' && isKinds(only)))) continue;
    try {
      await play();
    } catch (error) {
      rows.add(part, 'the part itself', 'fails', messageOf(error));
    }
    afterOutage ||= part === 'outage';
    await seeSilence(rows, part, bot, placeOf(stage, part).name, afterOutage);
  }
}

function placeOf({ kinds, house, starters }: Stage, part: string): StageOrg {
  return part === 'house' ? house : part === 'starters' || part === 'sets' ? starters : kinds;
}

function isKinds(only: ReadonlySet<string>): boolean {
  return [...only].some(isEventKind);
}

function prefixed(prefix: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [prefix + name, text]));
}
