import { Inject, Injectable } from '@nestjs/common';
import { ACT_ID } from '../core/audit-chain.js';
import { BotError, UserError } from '../core/errors.js';
import { newId } from '../core/ids.js';
import { Logger } from '../core/logger.js';
import type { ControlCaller } from '../core/operators.js';
import { seesOrg, type Visibility } from '../core/visibility.js';
import { ActStore, type Act } from './act-store.port.js';
import { Ids, Orgs } from './operations/shared.js';

/** What is carried out, and for whom. */
export interface ActToRecord {
  readonly operation: string;
  /** Names of the fields of the input that say what it is about. */
  readonly about: readonly string[];
  /** Whether an organization may be named. */
  readonly takesOrg: boolean;
  readonly input: Readonly<Record<string, unknown>>;
  readonly caller: ControlCaller;
  readonly visibility: Visibility;
}

/** A value of the input that is longer is cut: it names nothing. */
const LONGEST = 200;

/** Records each act of a person in the store. An act that cannot be recorded is not carried out. */
@Injectable()
export class Acts {
  constructor(
    private readonly store: ActStore,
    @Inject(Ids) private readonly ids: Pick<Ids, 'whole'>,
    @Inject(Orgs) private readonly orgs: Pick<Orgs, 'find' | 'visible'>,
    private readonly logger: Logger,
  ) {}

  async carryOut<Answer>(request: ActToRecord, work: () => Answer | Promise<Answer>): Promise<Answer> {
    const act = await this.actOf(request);
    await this.store.begin(act);
    let outcome = 'done';
    try {
      const answer = await work();
      if (isRefusal(answer)) outcome = 'refused';
      return answer;
    } catch (error) {
      outcome = error instanceof BotError ? error.code : 'INTERNAL';
      throw error;
    } finally {
      await this.end(act.id, outcome);
    }
  }

  private async actOf({
    operation,
    about,
    takesOrg,
    input,
    caller,
    visibility,
  }: ActToRecord): Promise<Parameters<ActStore['begin']>[0]> {
    const entries = about.flatMap((name): Array<[string, Act['about'][string]]> => {
      const value = Array.isArray(input[name]) ? input[name].join(', ') : input[name];
      if (typeof value === 'string') return [[name, value.slice(0, LONGEST)]];
      return typeof value === 'number' || typeof value === 'boolean' ? [[name, value]] : [];
    });
    const facts = new Map(entries);
    const key = facts.get('id') ?? facts.get('hash');
    const whole = typeof key === 'string' ? await this.wholeId(key, visibility) : null;
    if (whole !== null && facts.has('id')) facts.set('id', whole);
    return {
      id: `${ACT_ID}${newId()}`,
      by: caller.name,
      byKind: caller.kind,
      operation,
      org: await this.orgOf(takesOrg ? (input['org'] ?? this.onlyOrg()) : undefined, whole, visibility),
      about: Object.fromEntries(facts),
      reason: typeof input['reason'] === 'string' ? input['reason'] : null,
    };
  }

  /** As the operation will take it. A text that names no single visible thing stays as it was typed. */
  private async wholeId(typed: string, visibility: Visibility): Promise<string> {
    try {
      return await this.ids.whole(typed, ['intent', 'run', 'event', 'arrival'], visibility);
    } catch (error) {
      if (error instanceof UserError) return typed;
      throw error;
    }
  }

  /** Never one that the caller does not see: nobody writes into the records of others. */
  private async orgOf(typed: unknown, whole: string | null, visibility: Visibility): Promise<string | null> {
    const named = typeof typed === 'string' ? this.orgs.find(typed)?.key : undefined;
    const org = named ?? (whole === null ? null : await this.store.orgOf(whole));
    return org !== null && seesOrg(visibility, org) ? org : null;
  }

  /** Where the bot has one, it is meant when none is named. */
  private onlyOrg(): string | undefined {
    const [first, second] = this.orgs.visible(null);
    return second ? undefined : first?.label;
  }

  /** It was carried out, whatever the store says now. */
  private async end(id: string, outcome: string): Promise<void> {
    try {
      await this.store.end(id, outcome);
    } catch (error) {
      this.logger.error(
        { act: id, outcome, code: error instanceof BotError ? error.code : 'INTERNAL' },
        'act.outcome-lost',
      );
    }
  }
}

/** A plan that was not applied is told by the answer, not by an error. */
function isRefusal(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && (answer as { outcome?: unknown }).outcome === 'refused';
}
