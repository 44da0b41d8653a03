import type { EventActor, EventRepository, EventSource, ForgeEvent } from '../core/event.js';
import type { EventKind } from '../core/event-kinds.js';
import type { Json, JsonObject } from '../core/json.js';
import { isJsonObject } from '../core/json.js';
import type { HistoryRun, HistoryAnswer } from './history-store.port.js';

/** A page as it came over the control API: times are texts there. The bot itself wrote it, so its shape is not checked. */
export function readHistory(page: Json): HistoryAnswer {
  const { events, runs, next, bot } = page as JsonObject;
  return {
    events: objects(events).map(readEvent),
    runs: objects(runs).map((run) => ({
      ...(run as unknown as HistoryRun),
      decidedAt: new Date(String(run['decidedAt'])),
    })),
    next: typeof next === 'string' ? next : null,
    bot: isJsonObject(bot) ? (bot as unknown as HistoryAnswer['bot']) : null,
  };
}

function readEvent(event: JsonObject): ForgeEvent {
  const { factAt, storedAt, byRule } = event;
  return {
    id: String(event['id']),
    forge: String(event['forge']),
    org: String(event['org']),
    kind: event['kind'] as EventKind,
    source: event['source'] as EventSource,
    factKey: String(event['factKey']),
    factAt: typeof factAt === 'string' ? new Date(factAt) : null,
    actor: (event['actor'] ?? null) as unknown as EventActor | null,
    repo: (event['repo'] ?? null) as unknown as EventRepository | null,
    data: (event['data'] ?? {}) as JsonObject,
    storedAt: new Date(String(storedAt)),
    ...(typeof byRule === 'string' ? { byRule } : {}),
  };
}

function objects(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
