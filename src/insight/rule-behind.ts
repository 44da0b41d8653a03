import type { ForgeEvent } from '../core/event.js';

export interface RuleBehind {
  /** The rule or policy whose effect an event tells of; null = none, or not known. */
  of(event: ForgeEvent): Promise<string | null>;
}

/** Stored events as the deciding side saw them. */
export function withRules(events: readonly ForgeEvent[], ruleBehind: RuleBehind): Promise<ForgeEvent[]> {
  return Promise.all(
    events.map(async (event) => {
      const byRule = await ruleBehind.of(event);
      return byRule === null ? event : { ...event, byRule };
    }),
  );
}
