import type { RunReport } from '../../api/operations/answers.js';
import type { JsonObject } from '../../core/json.js';
import type { ArrivalSummary } from '../../pipeline/inbox-store.port.js';
import type { PlayedAct } from '../../verifier/handover.js';
import { readRuleFiles } from '../../verifier/rule-files.js';
import type { Reach } from '../reach-bot.js';
import { forgedRelease, sendForged } from './forged-delivery.js';
import { ForgeNow } from './forge-now.js';
import { Lines } from './lines.js';
import type { SandboxClient } from './sandbox-client.js';
import type { DemoBot } from './start-demo-bot.js';
import { tellAct } from './tell-act.js';
import type { Voice } from './voice.js';
import { BotWatch } from './watch-bot.js';

export interface PlayerParts {
  readonly org: string;
  /** Login of the bot. */
  readonly bot: string;
  readonly reach: Reach;
  readonly watch: BotWatch;
  readonly now: ForgeNow;
  readonly lines: Lines;
  readonly voice: Voice;
  /** Where the hook points. */
  readonly webhook: string;
  /** A repository as the forge's API shows it. */
  readonly repository: (fullName: string) => Promise<JsonObject>;
}

/** What playing takes on any forge. */
export function partsOf(
  { org, bot, adminToken }: { org: string; bot: { login: string; token: string }; adminToken: string },
  { reach, webhook }: Pick<DemoBot, 'reach' | 'webhook'>,
  client: Pick<SandboxClient, 'get' | 'deliveriesAfter'>,
  voice: Voice,
  json: boolean,
): PlayerParts {
  return {
    org,
    bot: bot.login,
    reach,
    watch: new BotWatch(reach, client, org),
    now: new ForgeNow(client, adminToken, bot.token, org),
    lines: new Lines((line) => voice.write(line), json ? Infinity : process.stdout.columns),
    voice,
    webhook,
    repository: async (name) => (await client.get(`/repos/${name}`, adminToken)) as JsonObject,
  };
}

/** A stranger posts a delivery about something that never happened. */
export interface ForgedAct {
  readonly kind: 'forged';
  readonly as: string;
  readonly says: string;
  readonly repo: string;
  readonly tag: string;
}

/** Plays acts one after the other, waits for what comes of each, and tells it. How an act is performed depends on the forge. */
export abstract class Player<Act extends { readonly kind: 'act'; readonly as: string; readonly says: string }> {
  readonly played: PlayedAct[] = [];
  protected readonly knownEvents = new Set<string>();
  private no = 0;

  constructor(protected readonly parts: PlayerParts) {}

  protected abstract perform(act: Act): Promise<void>;

  /**
   * Policies hold from the bot's start; then people act, every schedule fires once, and the feed is read once more.
   * @param rules folder of the bot's rules
   */
  async playAll(rules: string, acts: ReadonlyArray<Act | ForgedAct>): Promise<void> {
    const { watch, voice } = this.parts;
    const files = readRuleFiles(rules);
    const policies = files.flatMap((file) => file.policies.map(({ id }) => id));
    const scheduled = files.flatMap((file) => file.rules.filter(({ schedule }) => schedule).map(({ id }) => id));
    voice.begin('waiting for the first pass over all repositories');
    await watch.untilPolled(1);
    await this.begin(policies);
    for (const act of acts) {
      voice.begin(`waiting for what comes of: ${act.as} ${act.says}`);
      await (act.kind === 'forged' ? this.forge(act) : this.perform(act));
    }
    voice.begin('waiting for the schedules');
    await this.nightfall([...scheduled, ...policies]);
    voice.say('reading the feed once more: its rows are duplicates and must change nothing');
    await watch.untilPolled(2);
    await watch.settled();
  }

  /** Tells an act in the next line. */
  protected async tell(act: string, arrival: string, runs: readonly RunReport[]): Promise<void> {
    this.no += 1;
    await tellAct(this.parts.lines, this.parts.now, { no: String(this.no), act, arrival }, runs);
  }

  protected record(act: Pick<PlayedAct, 'as' | 'act' | 'params'> & Partial<PlayedAct>): void {
    this.played.push({ result: null, happened: [], isDropped: false, at: new Date().toISOString(), ...act });
  }

  protected remember(arrivals: readonly ArrivalSummary[]): void {
    for (const { eventId } of arrivals) if (eventId) this.knownEvents.add(eventId);
  }

  private async begin(policies: readonly string[]): Promise<void> {
    const { watch, lines, now, bot } = this.parts;
    await watch.untilDecided(policies);
    const progress = await watch.settled();
    this.remember(progress.arrivals);
    this.record({ as: bot, act: 'start', params: {} });
    lines.head();
    await tellAct(lines, now, { no: '', act: 'the bot starts', arrival: 'new rules' }, onePerRule(progress.runs));
  }

  /** As `forgehand housekeeping run` does. */
  private async nightfall(schedules: readonly string[]): Promise<void> {
    const { org, bot, reach, watch } = this.parts;
    this.record({ as: bot, act: 'nightfall', params: {} });
    for (const schedule of schedules) {
      await reach.call('runSchedule', { org, schedule });
      const progress = await watch.settled();
      this.remember(progress.arrivals);
      const runs = onePerRule(progress.runs.filter(({ run }) => run.rule === schedule));
      await this.tell(`the schedule of ${schedule} fires`, 'tick', runs);
    }
  }

  private async forge({ as, says, repo, tag }: ForgedAct): Promise<void> {
    const { watch, lines, webhook, repository } = this.parts;
    const arrival = await sendForged(webhook, forgedRelease(await repository(repo), tag), lines);
    this.record({ as, act: 'forged', params: { repo, tag } });
    const progress = await watch.settled();
    this.remember(progress.arrivals);
    await this.tell(`${as} ${says}`, arrival, progress.runs);
  }
}

/** A policy over many repositories is one line, not one for each. */
function onePerRule(runs: readonly RunReport[]): RunReport[] {
  const byRule = new Map<string, RunReport>();
  for (const report of runs) {
    const earlier = byRule.get(report.run.rule);
    byRule.set(report.run.rule, earlier ? { ...earlier, intents: [...earlier.intents, ...report.intents] } : report);
  }
  return [...byRule.values()];
}
