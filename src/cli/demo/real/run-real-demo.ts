import { rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { adminEnvironment } from '../../../config/admin-environment.js';
import type { ArrivalSummary } from '../../../pipeline/inbox-store.port.js';
import { connectForge, type RealForge } from '../../real-forge/connect.js';
import { Estate } from '../../real-forge/estate.js';
import { untilStopped } from '../../until-stopped.js';
import { Closers } from '../closers.js';
import { TRUSTED } from '../operator-file.js';
import { runVerifier } from '../run-verifier.js';
import { arrivalText } from '../tell-act.js';
import { ForgeReader } from '../../../verifier/read-forge.js';
import { Voice } from '../voice.js';
import type { BotProgress } from '../watch-bot.js';
import { NOT_BY_API, realActs, type RealAct } from './real-acts.js';
import { type RealBot, setRealBot, setRealForge } from './real-stage.js';
import { partsOf, Player, type PlayerParts } from '../player.js';

interface RealDemoOptions {
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
  const showing = show(forge, estate, options, voice, closers).catch((error: unknown) => {
    if (isStopped) return INTERRUPTED;
    throw error;
  });
  let status: number;
  try {
    status = await Promise.race([showing, stopped]);
  } finally {
    await closers.closeAll();
    // What was under way fails once the bot is gone; only then is everything that was made known.
    await showing.catch(() => undefined);
    voice.begin('removing what was made');
    const remains = await estate.clear();
    voice.say(
      remains.length === 0 ? 'everything that was made on the forge is removed' : 'could not be removed, please do it:',
    );
    for (const line of remains) voice.write(`  ${line}`);
    voice.end();
    status ??= 1;
    if (remains.length > 0 && status === 0) status = 1;
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
    `the hook of ${stage.org} points at ${bot.publicWebhook}: the server has to allow that ([webhook] ALLOWED_HOST_LIST = loopback, private, or the host's name)`,
  );
  const client = {
    get: async (path: string, token: string): Promise<unknown> => {
      const { status, body } = await forge.admin.as(`token ${token}`).call('GET', path);
      return status === 404 ? null : body;
    },
    deliveriesAfter: () => Promise.resolve([]),
  };
  const player = new RealPlayer(partsOf(stage, bot, client, voice, options.json), bot);
  await player.playAll(stage.rules, realActs(stage));
  voice.begin('reading the forge');
  const facts = { sandbox: null, rules: stage.rules, before, acts: player.played };
  return runVerifier(stage.folder, { ...place, ...facts }, options.json);
}

/** What comes of each act is waited for at the bot alone. */
class RealPlayer extends Player<RealAct> {
  /** Null until the first act showed whether deliveries arrive. */
  private hears: boolean | null = null;

  constructor(
    parts: PlayerParts,
    private readonly bot: RealBot,
  ) {
    super(parts);
  }

  protected override async perform({ as, act, params, says, isLost = false, run }: RealAct): Promise<void> {
    if (isLost) await this.bot.switchHook(false);
    const { result, happened = [] } = await run();
    this.record({ as, act, params, result, happened, isDropped: isLost || this.hears === false });
    const progress = await this.comesOf(isLost, act === 'release.draft');
    if (isLost) await this.bot.switchHook(true);
    const sentence = isLost ? `${says}; its hook is switched off` : says;
    // A delivery that comes now was sent before the hook was switched off: it tells of an earlier act.
    const arrivals = newestOf(progress.arrivals).filter(({ source }) => !isLost || source !== 'webhook');
    await this.tell(`${as} ${sentence}`, arrivalText({ arrivals, deliveries: [] }), progress.runs);
  }

  /** Told by a delivery where they arrive, and by the feed in any case: two readings from now on it knows the act. */
  private async comesOf(isLost: boolean, isSilent: boolean): Promise<BotProgress> {
    let all: BotProgress = { arrivals: [], runs: [], deliveries: [] };
    const look = async (): Promise<void> => {
      const { arrivals, runs } = await this.parts.watch.settled();
      all = { arrivals: [...all.arrivals, ...arrivals], runs: [...all.runs, ...runs], deliveries: [] };
    };
    const isDelivered = (): boolean => all.arrivals.some(({ source }) => source === 'webhook');
    if (!isLost && !isSilent && this.hears !== false) {
      const end = Date.now() + DELIVERY_WITHIN_MS;
      for (await look(); !isDelivered() && Date.now() < end; await look()) await wait(LOOK_AGAIN_MS);
      if (this.hears === null) this.learn(isDelivered());
    }
    await this.parts.watch.untilPolled(2);
    await look();
    return all;
  }

  private learn(hears: boolean): void {
    this.hears = hears;
    if (hears) return;
    const last = this.played.at(-1);
    if (last) this.played[this.played.length - 1] = { ...last, isDropped: true };
    this.parts.voice.say(
      `no delivery arrived within ${DELIVERY_WITHIN_MS / 1000} s at ${this.bot.publicWebhook}: it goes on by polling alone ` +
        `(see [webhook] ALLOWED_HOST_LIST of the server, and --bot-url)`,
    );
  }
}

/** Entries of the feed that tell what a delivery told are not told again. */
function newestOf(arrivals: readonly ArrivalSummary[]): ArrivalSummary[] {
  const delivered = new Set(arrivals.filter(({ source }) => source === 'webhook').map(({ eventId }) => eventId));
  return arrivals.filter(({ source, eventId }) => source === 'webhook' || !delivered.has(eventId));
}
