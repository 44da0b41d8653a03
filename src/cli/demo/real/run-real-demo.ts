import { rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { adminEnvironment } from '../../../config/admin-environment.js';
import type { ArrivalSummary } from '../../../pipeline/inbox-store.port.js';
import { connectForge, type RealForge } from '../../real-forge/connect.js';
import { Estate } from '../../real-forge/estate.js';
import { untilStopped } from '../../until-stopped.js';
import { Closers } from '../closers.js';
import { forgedRelease, sendForged } from '../forged-delivery.js';
import { TRUSTED } from '../operator-file.js';
import { ForgeNow } from '../forge-now.js';
import { Lines } from '../lines.js';
import { runVerifier } from '../run-verifier.js';
import { arrivalText, tellAct } from '../tell-act.js';
import type { PlayedAct, Snapshot } from '../../../verifier/handover.js';
import { ForgeReader } from '../../../verifier/read-forge.js';
import { readRuleFiles } from '../../../verifier/rule-files.js';
import { Voice } from '../voice.js';
import { BotWatch, type Seen } from '../watch-bot.js';
import { NOT_BY_API, realActs, type RealAct } from './real-acts.js';
import { type RealBot, type RealStage, setRealBot, setRealForge } from './real-stage.js';

export interface RealDemoOptions {
  /** Address of the forge. */
  readonly forge: string;
  readonly botUrl: string | null;
  readonly webhookPort: number;
  readonly json: boolean;
}

const INTERRUPTED = 130;
/** A server sends from a queue: it may take seconds. */
const DELIVERY_WITHIN_MS = 15_000;
const LOOK_AGAIN_MS = 200;

/** @returns the exit status: 0, that of the verification, 1 when something could not be removed, 130 when stopped */
export async function runRealDemo(options: RealDemoOptions): Promise<number> {
  const voice = new Voice(options.json ? process.stderr : process.stdout);
  const forge = await connectForge(options.forge, adminEnvironment());
  const estate = new Estate(forge.admin);
  const closers = new Closers();
  let isStopped = false;
  const stopped = untilStopped(() => {
    isStopped = true;
    return closers.closeAll();
  }).then(() => INTERRUPTED);
  const shown = show(forge, estate, options, voice, closers).catch((error: unknown) => {
    if (isStopped) return INTERRUPTED;
    throw error;
  });
  let status: number;
  try {
    status = await Promise.race([shown, stopped]);
  } finally {
    await closers.closeAll();
    // What was under way fails once the bot is gone; only then is everything that was made known.
    await shown.catch(() => undefined);
    voice.begin('removing what was made');
    const left = await estate.clear();
    voice.say(
      left.length === 0 ? 'everything that was made on the forge is removed' : 'could not be removed, please do it:',
    );
    for (const line of left) voice.write(`  ${line}`);
    voice.end();
    status ??= 1;
    if (left.length > 0 && status === 0) status = 1;
  }
  return status;
}

async function show(
  forge: RealForge,
  estate: Estate,
  options: RealDemoOptions,
  voice: Voice,
  closers: Closers,
): Promise<number> {
  voice.begin('making organization and people');
  const stage = await setRealForge(forge, estate);
  await closers.add(() => rm(stage.folder, { recursive: true, force: true }));
  voice.say(
    `${forge.origin} is ${forge.family} ${forge.version}; organization ${stage.org}, people ${stage.owner.login} and ${stage.writer.login}`,
  );
  for (const [file, why] of stage.leftOut) voice.say(`skipped rules of ${file}: ${why}`);
  for (const what of NOT_BY_API) voice.say(`skipped act: ${what}`);
  const place = { api: `${forge.origin}/api/v1`, org: stage.org, bot: stage.bot, adminToken: stage.adminToken };
  const before = await new ForgeReader(place).snapshot();
  voice.begin('starting the bot');
  const bot = await setRealBot(forge, stage, options);
  await closers.add(
    () => bot.bot.close(),
    () => bot.reach.close(),
  );
  voice.say(TRUSTED);
  voice.say(
    `the hook of ${stage.org} points at ${bot.told}: the server has to allow that ([webhook] ALLOWED_HOST_LIST = loopback, private, or the host's name)`,
  );
  const player = new RealPlayer(
    forge,
    stage,
    bot,
    voice,
    new Lines((line) => voice.write(line), options.json ? Infinity : process.stdout.columns),
  );
  await player.playAll();
  voice.begin('reading the forge');
  return judge(place, stage, before, player.played, options.json);
}

function judge(
  place: { api: string; org: string; bot: RealStage['bot']; adminToken: string },
  stage: RealStage,
  before: Snapshot,
  acts: readonly PlayedAct[],
  json: boolean,
): Promise<number> {
  return runVerifier(stage.folder, { ...place, sandbox: null, rules: stage.rules, before, acts }, json);
}

/** Plays the acts one after the other; what comes of each is waited for at the bot alone. */
class RealPlayer {
  readonly played: PlayedAct[] = [];
  private readonly watch: BotWatch;
  private readonly now: ForgeNow;
  /** Null until the first act showed whether deliveries arrive. */
  private hears: boolean | null = null;
  private no = 0;

  constructor(
    private readonly forge: RealForge,
    private readonly stage: RealStage,
    private readonly bot: RealBot,
    private readonly voice: Voice,
    private readonly lines: Lines,
  ) {
    this.watch = new BotWatch(bot.reach, { deliveriesAfter: () => Promise.resolve([]) }, stage.org);
    const get = async (path: string, token: string): Promise<unknown> => {
      const { status, body } = await forge.admin.as(`token ${token}`).call('GET', path);
      return status === 404 ? null : body;
    };
    this.now = new ForgeNow({ get }, stage.adminToken, stage.bot.token, stage.org);
  }

  async playAll(): Promise<void> {
    const files = readRuleFiles(this.stage.rules);
    const policies = files.flatMap((file) => file.policies.map(({ id }) => id));
    this.voice.begin('waiting for the first pass over all repositories');
    await this.watch.untilPolled(1);
    await this.watch.untilDecided(policies);
    const { runs } = await this.watch.settled();
    this.record({ as: this.stage.bot.login, act: 'start', params: {} });
    this.lines.head();
    await tellAct(this.lines, this.now, { no: '', act: 'the bot starts', arrival: 'new rules' }, runs);
    for (const act of realActs(this.stage)) await this.play(act);
    await this.forgeOne();
    const schedules = [
      ...files.flatMap((file) => file.rules.filter(({ schedule }) => schedule).map(({ id }) => id)),
      ...policies,
    ];
    this.voice.begin('waiting for the schedules');
    this.record({ as: this.stage.bot.login, act: 'nightfall', params: {} });
    for (const schedule of schedules) {
      await this.bot.reach.call('runSchedule', { org: this.stage.org, schedule });
      await this.tell(`the schedule of ${schedule} fires`, 'tick', await this.watch.settled());
    }
    this.voice.say('reading the feed once more: its rows are duplicates and must change nothing');
    await this.watch.untilPolled(2);
    await this.watch.settled();
  }

  private async play({ by, act, params, says, isLost = false, run }: RealAct): Promise<void> {
    this.voice.begin(`waiting for what comes of: ${by.login} ${says}`);
    if (isLost) await this.bot.switchHook(false);
    const { result, happened = [] } = await run();
    this.record({ as: by.login, act, params, result, happened, isDropped: isLost || this.hears === false });
    const seen = await this.comesOf(isLost, act === 'release.draft');
    if (isLost) await this.bot.switchHook(true);
    const said = isLost ? `${says}; its hook is switched off` : says;
    // A delivery that comes now was sent before the hook was switched off: it tells of an earlier act.
    const arrivals = newestOf(seen.arrivals).filter(({ source }) => !isLost || source !== 'webhook');
    await this.tell(`${by.login} ${said}`, arrivalText({ arrivals, deliveries: [] }), seen);
  }

  /** Told by a delivery where they arrive, and by the feed in any case: two readings from now on it knows the act. */
  private async comesOf(isLost: boolean, isSilent: boolean): Promise<Seen> {
    let all: Seen = { arrivals: [], runs: [], deliveries: [] };
    const look = async (): Promise<void> => {
      const { arrivals, runs } = await this.watch.settled();
      all = { arrivals: [...all.arrivals, ...arrivals], runs: [...all.runs, ...runs], deliveries: [] };
    };
    const isDelivered = (): boolean => all.arrivals.some(({ source }) => source === 'webhook');
    if (!isLost && !isSilent && this.hears !== false) {
      const end = Date.now() + DELIVERY_WITHIN_MS;
      for (await look(); !isDelivered() && Date.now() < end; await look()) await wait(LOOK_AGAIN_MS);
      if (this.hears === null) this.learn(isDelivered());
    }
    await this.watch.untilPolled(2);
    await look();
    return all;
  }

  private learn(hears: boolean): void {
    this.hears = hears;
    if (hears) return;
    const last = this.played.at(-1);
    if (last) this.played[this.played.length - 1] = { ...last, isDropped: true };
    this.voice.say(
      `no delivery arrived within ${DELIVERY_WITHIN_MS / 1000} s at ${this.bot.told}: it goes on by polling alone ` +
        `(see [webhook] ALLOWED_HOST_LIST of the server, and --bot-url)`,
    );
  }

  /** What somebody would send who does not know the secret. */
  private async forgeOne(): Promise<void> {
    const [repo, tag] = [`${this.stage.org}/app`, 'v66.0.0'];
    const forged = forgedRelease(await this.forge.admin.ask('GET', `/repos/${repo}`), tag);
    const arrival = await sendForged(this.bot.webhook, forged, this.lines);
    this.record({ as: 'a stranger', act: 'forged', params: { repo, tag } });
    await this.tell(`a stranger forges a delivery: release ${tag}`, arrival, await this.watch.settled());
  }

  private async tell(act: string, arrival: string, { runs }: Seen): Promise<void> {
    this.no += 1;
    await tellAct(this.lines, this.now, { no: String(this.no), act, arrival }, runs);
  }

  private record(act: Pick<PlayedAct, 'as' | 'act' | 'params'> & Partial<PlayedAct>): void {
    this.played.push({ result: null, happened: [], isDropped: false, at: new Date().toISOString(), ...act });
  }
}

/** Entries of the feed that tell what a delivery told are not told again. */
function newestOf(arrivals: readonly ArrivalSummary[]): ArrivalSummary[] {
  const delivered = new Set(arrivals.filter(({ source }) => source === 'webhook').map(({ eventId }) => eventId));
  return arrivals.filter(({ source, eventId }) => source === 'webhook' || !delivered.has(eventId));
}
