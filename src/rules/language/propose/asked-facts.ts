import { isJsonObject } from '../../../core/json.js';
import type { LookupAnswers } from '../revision.js';

/** Name of the read that gives what the bot knows of itself; no rule can name one so. */
export const FACTS = '@bot';
export const FACTS_USE = 'bot.facts';

/** Whether a path of an expression needs that read. */
export function isAskedFact([root, name]: readonly string[]): boolean {
  return (
    root === 'stats' ||
    (root === 'bot' && (name === 'hook_url' || name === 'needed_events')) ||
    (root === 'config' && name === 'commit')
  );
}

/** A length of time, as expressions take one. */
export class Span {
  constructor(
    readonly seconds: bigint,
    readonly nanos: number,
  ) {}
}

interface Known {
  readonly bot: object;
  readonly config: object;
  readonly stats: object;
}

/** `bot`, `config` and `stats` with what was read; what is not known is not there. */
export function withFacts(bot: object, config: object, now: Date, answers: LookupAnswers): Known {
  const answer = Object.hasOwn(answers, FACTS) ? answers[FACTS] : undefined;
  const facts = answer && 'value' in answer && isJsonObject(answer.value) ? answer.value : null;
  if (!facts) return { bot, config, stats: NOTHING };
  const { last_delivery_at: last, hook_url, needed_events, commit } = facts;
  const ageMs = typeof last === 'string' ? Math.max(0, now.getTime() - Date.parse(last)) : null;
  return {
    bot: {
      ...bot,
      ...(typeof hook_url === 'string' ? { hook_url } : {}),
      ...(Array.isArray(needed_events) ? { needed_events } : {}),
    },
    config: { ...config, ...(typeof commit === 'string' ? { commit } : {}) },
    stats:
      ageMs === null
        ? NOTHING
        : { last_delivery_age: new Span(BigInt(Math.floor(ageMs / 1000)), (ageMs % 1000) * 1_000_000) },
  };
}

const NOTHING = {};
