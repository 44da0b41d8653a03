import { portToken } from '../core/part.js';
import type { ForgeEvent } from '../core/event.js';

/** The rule or policy whose effect an event tells of; null = none, or not known. */
export type RuleBehind = (event: ForgeEvent) => Promise<string | null>;

export const RULE_BEHIND = portToken<RuleBehind>('RuleBehind');

/** Stored events as the deciding side saw them. */
export function withRules(events: readonly ForgeEvent[], ruleBehind: RuleBehind): Promise<ForgeEvent[]> {
  return Promise.all(
    events.map(async (event) => {
      const byRule = await ruleBehind(event);
      return byRule === null ? event : { ...event, byRule };
    }),
  );
}
