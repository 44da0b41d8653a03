import { setTimeout as rest } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { AuditLink } from '../../core/audit-chain.js';
import { Clock } from '../../core/clock.js';
import { Encryptor } from '../../core/encryptor.js';
import { Logger } from '../../core/logger.js';
import { auditKey } from './audit-check.js';
import { AuditStore } from './audit-store.port.js';

/** What one pass did to an organization's chain. */
export interface SealedChain {
  /** Empty = acts that concern no organization alone. */
  readonly org: string;
  /** Links that were added. */
  readonly added: number;
  readonly head: Pick<AuditLink, 'n' | 'link'>;
}

/** Runs and acts in one transaction. An acknowledgement of an embedded store waits for the end of it. */
const BATCH = 50;
/** Batches of one organization before the next has its turn; its head is logged after them. */
const BATCHES_IN_TURN = 20;
/** Statements of calls under way have come to an end by then. */
const YOUNG_MS = 60_000;
/** What is left then comes with the next pass. */
const PASS_MS = 9 * 60_000;

/**
 * Seals finished runs and acts of people until none is left, in short transactions. It rests after each as long as that took, so that it never takes more
 * than half of a store or a processor. Organizations take turns. It deletes old acts in the same way.
 */
@Injectable()
export class AuditSealer {
  private running: Promise<SealedChain[]> | null = null;
  private isStopped = false;

  constructor(
    private readonly store: AuditStore,
    private readonly encryptor: Encryptor,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** One pass; a second call joins the one that runs. @returns the organizations whose chain grew */
  run(): Promise<SealedChain[]> {
    this.running ??= this.pass().finally(() => (this.running = null));
    return this.running;
  }

  /** Deletes acts that were sealed so many days ago, batch by batch. @returns how many */
  async deleteActs(days: number): Promise<number> {
    let [deleted, batch] = [0, BATCH];
    for (; batch === BATCH && !this.isStopped; deleted += batch) {
      const from = this.clock.monotonicMs();
      batch = await this.store.deleteActs(BATCH, { now: this.clock.now(), days, key: auditKey(this.encryptor) });
      await rest(this.clock.monotonicMs() - from);
    }
    return deleted;
  }

  /** Ends after the batch under way. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running?.catch(() => undefined);
  }

  private async pass(): Promise<SealedChain[]> {
    const sealed = new Map<string, SealedChain>();
    const endsAt = this.clock.monotonicMs() + PASS_MS;
    const isOver = (): boolean => this.isStopped || this.clock.monotonicMs() >= endsAt;
    let orgs = await this.store.unsealed();
    while (orgs.length > 0 && !isOver()) {
      const behind: string[] = [];
      for (const org of orgs) {
        if (isOver()) break;
        const chain = await this.turn(org, isOver);
        if (!chain) continue;
        // The log lies elsewhere than the store: a head in it shows that links were taken away at the end.
        this.logger.info({ org, added: chain.added, head: `${chain.head.n}:${chain.head.link}` }, 'audit.sealed');
        sealed.set(org, { ...chain, added: chain.added + (sealed.get(org)?.added ?? 0) });
        if (chain.added === BATCH * BATCHES_IN_TURN) behind.push(org);
      }
      orgs = behind;
    }
    return [...sealed.values()];
  }

  private async turn(org: string, isOver: () => boolean): Promise<SealedChain | null> {
    const key = auditKey(this.encryptor);
    let [added, head]: [number, SealedChain['head'] | null] = [0, null];
    for (let batch = 0; batch < BATCHES_IN_TURN && !isOver(); batch += 1) {
      const from = this.clock.monotonicMs();
      const made = await this.store.seal(org, BATCH, YOUNG_MS, key);
      if (!made) break;
      added += made.added;
      head = made.head;
      if (made.added < BATCH) break;
      await rest(this.clock.monotonicMs() - from);
    }
    return head && { org, added, head };
  }
}
