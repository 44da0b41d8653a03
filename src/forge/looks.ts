import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '../core/clock.js';
import { ForgeError } from '../core/errors.js';
import type { Json } from '../core/json.js';
import { KnownFacts } from '../core/known-facts.port.js';

/** What the bot looks at: of a credential, and of an organization under its credential. */
export type LookKind =
  | 'server'
  | 'operations'
  | 'account'
  | 'slashes'
  | 'org.hooks'
  | 'org.rights'
  | 'org.identity'
  | 'org.names';

/** `forge` is a credential, and `subject` '' where it is about no organization. */
export interface LookedAt {
  readonly forge: string;
  readonly subject: string;
  readonly kind: LookKind;
  /** The token (`underOf`): what another one was shown says nothing of this one. */
  readonly under: string;
}

/** What was seen, and when. */
export interface Look<Seen> {
  readonly seen: Seen;
  readonly at: Date;
}

/** The newest look that saw something, and why a newer one failed; null = there was none. */
export interface Known<Seen> {
  readonly look: Look<Seen> | null;
  readonly failure: { readonly message: string; readonly at: Date } | null;
}

const NOTHING: Known<never> = { look: null, failure: null };

/** As it is stored. */
const storedLook = z.object({
  under: z.string(),
  seen: z.unknown(),
  /** Null = nothing was seen yet. */
  at: z.iso.datetime().nullable(),
  failure: z.object({ message: z.string(), at: z.iso.datetime() }).nullable(),
});

/** A process that died in the midst of a look keeps the others from it for so long. */
const CLAIM_MS = 60_000;
const WAIT_MS = 200;

/**
 * What the bot saw at the forges, with its age, for all processes: it is in the store. Two looks at the same thing at the same time are one,
 * whichever process makes it.
 */
@Injectable()
export class Looks {
  private readonly running = new Map<string, Promise<Look<unknown> | null>>();

  constructor(
    private readonly facts: KnownFacts,
    private readonly clock: Clock,
  ) {}

  async read<Seen>({ forge, subject, kind, under }: LookedAt): Promise<Known<Seen>> {
    return knownOf(await this.facts.read(forge, subject, kind), under);
  }

  /** Everything of a kind with one question to the store. */
  async all<Seen>(kind: LookKind): Promise<(at: Pick<LookedAt, 'forge' | 'subject' | 'under'>) => Known<Seen>> {
    const facts = await this.facts.all(kind);
    const rows = new Map(facts.map((fact) => [JSON.stringify([fact.forge, fact.subject]), fact]));
    return ({ forge, subject, under }) => knownOf(rows.get(JSON.stringify([forge, subject])) ?? null, under);
  }

  /**
   * Look, unless enough is known. What `ask` fails with is kept beside what was seen before.
   * @param isEnough whether a look does, for somebody who asks since `began`
   * @param ask the forge; gets what was seen before
   * @throws ForgeError when the forge cannot be asked now
   */
  async look<Seen extends object | boolean | null>(
    what: LookedAt,
    isEnough: (look: Look<Seen>, began: Date) => boolean,
    ask: (before: Seen | null) => Promise<Seen>,
  ): Promise<Look<Seen>> {
    const key = JSON.stringify([what.forge, what.subject, what.kind]);
    const began = this.clock.now();
    for (;;) {
      await this.running.get(key);
      const { look } = await this.read<Seen>(what);
      if (look && isEnough(look, began)) return look;
      if (this.running.has(key)) continue;
      const turn = this.turn<Seen>(what, (one) => isEnough(one, began), ask).finally(() => this.running.delete(key));
      this.running.set(key, turn);
      const made = await turn;
      if (made) return made;
      await wait(WAIT_MS, undefined, { ref: false });
    }
  }

  /** What was seen holds no longer. */
  async forget({ forge, subject, kind, under }: LookedAt): Promise<void> {
    await this.facts.write(forge, subject, kind, { under, seen: null, at: null, failure: null });
  }

  /** Null while another process looks. */
  private async turn<Seen extends object | boolean | null>(
    what: LookedAt,
    isEnough: (look: Look<Seen>) => boolean,
    ask: (before: Seen | null) => Promise<Seen>,
  ): Promise<Look<Seen> | null> {
    const { forge, subject, kind, under } = what;
    if (!(await this.facts.claim(forge, subject, kind, CLAIM_MS))) return null;
    const keep = (look: Look<Seen> | null, failure: Known<Seen>['failure']): Promise<void> => {
      const seen = look && { seen: look.seen as Json, at: look.at.toISOString() };
      const failed = failure && { ...failure, at: failure.at.toISOString() };
      return this.facts.write(forge, subject, kind, { under, seen: null, at: null, ...seen, failure: failed });
    };
    try {
      // Another process may have looked before we were the one.
      const { look: before } = await this.read<Seen>(what);
      if (before && isEnough(before)) return before;
      try {
        const look = { seen: await ask(before?.seen ?? null), at: this.clock.now() };
        await keep(look, null);
        return look;
      } catch (error) {
        if (error instanceof ForgeError) await keep(before, { message: error.message, at: this.clock.now() });
        throw error;
      }
    } finally {
      await this.facts.release(forge, subject, kind);
    }
  }
}

/** Whether a look is younger than this for somebody who asks since `began`; 0 = it has to be made after that. */
export function youngerThan(ms: number): (look: Pick<Look<unknown>, 'at'>, began: Date) => boolean {
  return ({ at }, began) => at.getTime() > began.getTime() - ms;
}

function knownOf<Seen>(fact: { readonly fact: Json } | null, under: string): Known<Seen> {
  const { data } = storedLook.safeParse(fact?.fact);
  if (data?.under !== under) return NOTHING;
  return {
    look: data.at === null ? null : { seen: data.seen as Seen, at: new Date(data.at) },
    failure: data.failure && { ...data.failure, at: new Date(data.failure.at) },
  };
}
