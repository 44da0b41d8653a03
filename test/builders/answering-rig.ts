import { actionCatalogue, actions } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { EventKind } from '../../src/core/event-kinds.js';
import type { EventActor, EventRepository, ForgeEvent } from '../../src/core/event.js';
import { newId } from '../../src/core/ids.js';
import type { JsonObject } from '../../src/core/json.js';
import { silentLogger } from '../../src/core/logger.js';
import { EffectEchoDetector } from '../../src/pipeline/decide/detect-echoes.js';
import type { ArrivalToIntents } from '../../src/pipeline/decide.js';
import { DecidingSide } from './deciding.js';
import { PureRuleEngine } from '../../src/policies/pure-rule-engine.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { EffectRig } from './effect-rig.js';
import { aRevision } from './rule-environment.js';
import { honestActs } from '../fakes/honest-acts.js';
import { silentSecurityLog } from '../../src/core/security-log.js';
import { dueOf } from './journal.js';

export const BOT: EventActor = { id: '1', login: 'forgehand' };

/** Rules, journal and effects in one, over a forge in memory that tells what was done to it. */
export class AnsweringRig {
  readonly rig = new EffectRig();
  readonly alerts: string[] = [];
  private readonly flow: ArrivalToIntents;
  private told = 0;
  repo: EventRepository = { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app', private: false };
  /** Who the forge says did what we did. */
  bot = BOT;

  constructor(rules: string) {
    const revision = aRevision(`version: 1\norg: acme\nrules:\n${rules}`, {
      actions: actionCatalogue(),
      lookups: lookupCatalogue(),
    });
    const { journal, clock, encryptor } = this.rig;
    const active = { id: 'rev-1', revision, loadedAt: clock.now() };
    const accounts = { self: () => BOT };
    const alerts = { raise: (key: string) => void this.alerts.push(key), resolve: () => undefined };
    this.flow = new DecidingSide({
      rules: new PureRuleEngine(new CelEngine()),
      journal,
      clock,
      accounts,
      alerts,
      logger: silentLogger,
      echoes: new EffectEchoDetector(journal, journal, { actions }, accounts, clock, silentLogger, alerts),
      inbox: { event: async (id) => this.rig.events.get(id) ?? null },
      revisions: { active: async () => active },
      lookups: { read: async () => ({ missing: true }) },
      owners: this.rig.owners,
      acts: honestActs,
      security: silentSecurityLog,
      inventory: { list: async () => [this.repo] },
      queue: { ring: () => undefined },
      tools: { actions, encryptor, newId },
    }).flow;
  }

  /** Something happens at the forge; all that it leads to directly is decided and done. */
  async happens(kind: EventKind, data: JsonObject, actor: EventActor): Promise<void> {
    const { clock } = this.rig;
    clock.advance(1_000);
    const at = clock.now();
    const id = newId();
    const event: ForgeEvent = {
      id,
      forge: 'main',
      org: 'acme',
      kind,
      source: 'webhook',
      factKey: id,
      factAt: at,
      actor,
      repo: this.repo,
      data,
      storedAt: at,
    };
    this.rig.events.set(id, event);
    await this.flow.decideEvent(event);
    await this.sweep();
  }

  /** Works on all that is due. */
  async sweep(): Promise<void> {
    for (let due = await dueOf(this.rig.journal, 100); due.length > 0; due = await dueOf(this.rig.journal, 100)) {
      for (const id of due) await this.rig.attempt(id);
    }
  }

  /** What our effects since the last call made the forge tell. */
  private tell(): Array<[EventKind, JsonObject]> {
    const writes = this.rig.forge.writes.slice(this.told);
    this.told = this.rig.forge.writes.length;
    return writes.flatMap(({ operation, args }): Array<[EventKind, JsonObject]> => {
      const body = args['body'] as JsonObject;
      if (operation === 'createBranch') return [['branch.created', { branch: body['new_branch_name'] ?? null }]];
      if (operation !== 'updateRelease') return [];
      const release = this.release(String(args['id']));
      return [['release.updated', { release, tag: release['tag_name'] ?? null }]];
    });
  }

  release(id: string): JsonObject {
    const found = this.rig.forge.repositories.get('acme/app')?.releases.find((release) => release['id'] === id);
    return { ...found } as JsonObject;
  }

  /**
   * Let the forge tell what we did, and us answer, until nothing follows.
   * @param meanwhile what else happens after each round; default nothing
   * @throws when it does not end within the rounds
   */
  async settle(
    rounds: number,
    meanwhile: (told: Array<[EventKind, JsonObject]>) => Promise<void> = async () => undefined,
  ): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const told = this.tell();
      if (told.length === 0) return;
      for (const [kind, data] of told) await this.happens(kind, data, this.bot);
      await meanwhile(told);
    }
    throw new Error(`still answering after ${rounds} rounds: ${this.rig.written.length} effects`);
  }
}
