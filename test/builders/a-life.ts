import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import { actionCatalogue, actions } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { EventRepository, ForgeEvent } from '../../src/core/event.js';
import { silentLogger } from '../../src/core/logger.js';
import { Secret } from '../../src/core/secret.js';
import type { HistoryPage, HistoryRun } from '../../src/insight/history-store.port.js';
import type { LookupReader } from '../../src/actions/lookups/lookup-reader.port.js';
import { openReads } from '../../src/pipeline/decide/answer-lookups.js';
import { Encryptor } from '../../src/core/encryptor.js';
import { PureRuleEngine } from '../../src/policies/pure-rule-engine.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import type { Revision } from '../../src/rules/language/revision.js';
import { InMemoryJournalStore } from '../fakes/in-memory-journal-store.js';
import { everyRepositoryIsOurs } from '../fakes/repository-owners.js';
import { ManualClock } from '../fakes/manual-clock.js';
import { honestActs } from '../fakes/honest-acts.js';
import type { ArrivalToIntents } from '../../src/pipeline/decide.js';
import { DecidingSide, type DecidingParts } from './deciding.js';
import { withReasonText } from '../../src/core/reason.js';
import { silentSecurityLog } from '../../src/core/security-log.js';

export const BOT = { id: '5', login: 'forgehand' };
export const THE_SEALER = new Encryptor(new Secret('ab'.repeat(32)));
const engine = new CelEngine();

/** A revision of acme by the real catalogues; fails with its problems. */
export function acmeRevision(text: string, org = 'acme'): Revision {
  const environment = {
    org,
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers: new Set<string>(),
    secrets: new Set<string>(),
    engine,
  };
  const loaded = loadRules([{ path: 'rules/a.yaml', text }], environment);
  if (!loaded.ok)
    throw new Error(loaded.problems.map(({ line, col, message }) => `${line}:${col}: ${message}`).join('\n'));
  return loaded.revision;
}

export const theRules = new PureRuleEngine(engine);

/** The deciding side of the bot over a journal in memory: events go in, runs and intents come out. */
export class ALife {
  readonly clock = new ManualClock();
  readonly journal = new InMemoryJournalStore(this.clock);
  readonly events = new Map<string, ForgeEvent>();
  revision: Revision;
  private ids = 0;
  private readonly flow: ArrivalToIntents;
  private readonly inbox: Pick<InboxStore, 'event'>;

  constructor(text: string, lookups: LookupReader['read'], more: Partial<DecidingParts> = {}) {
    this.revision = acmeRevision(text);
    this.inbox = more.inbox ?? { event: async (id) => this.events.get(id) ?? null };
    this.flow = new DecidingSide({
      rules: theRules,
      journal: this.journal,
      clock: this.clock,
      logger: silentLogger,
      alerts: { raise: () => undefined, resolve: () => undefined },
      inbox: this.inbox,
      revisions: { active: async () => ({ id: 'rev-1', revision: this.revision, loadedAt: this.clock.now() }) },
      lookups: { read: lookups },
      owners: everyRepositoryIsOurs,
      acts: honestActs,
      security: silentSecurityLog,
      inventory: { list: async () => [] },
      accounts: { self: () => BOT },
      queue: { ring: () => undefined },
      tools: { actions, encryptor: THE_SEALER, newId: () => `id-${(this.ids += 1)}` },
      ...more,
    }).flow;
  }

  async happens(event: ForgeEvent): Promise<void> {
    this.events.set(event.id, event);
    await this.flow.decideEvent(event);
  }

  /** As the handler of a wake-up does. */
  async decides(eventId: string): Promise<void> {
    const event = await this.inbox.event(eventId);
    if (event) await this.flow.decideEvent(event);
  }

  /** All that was stored, as one page. */
  async history(): Promise<HistoryPage> {
    const runs = (await this.journal.runs({ limit: 1_000_000 })).reverse().map((run) => openReads(run, THE_SEALER));
    const told = await Promise.all(
      runs.map(async (run): Promise<HistoryRun> => ({
        ...withReasonText(run),
        eventId: run.cause.kind === 'event' ? run.cause.eventId : '',
        intents: await this.journal.intentsOfRun(run.id),
      })),
    );
    return { events: [...this.events.values()], runs: told, next: null };
  }
}

/** Repository `n` of acme: `app-N`. */
export function aRepository(n: number): EventRepository {
  const name = `app-${n}`;
  return {
    id: String(n),
    owner: 'acme',
    name,
    full_name: `acme/${name}`,
    private: false,
    archived: false,
    fork: false,
    default_branch: 'main',
  };
}
