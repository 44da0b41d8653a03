import type { StatusReport } from '../../../src/api/operations/answers.js';
import { askJson } from '../../e2e/support/forgehand.js';
import type { Fleet } from '../rig/fleet.js';

/** What an embedded bot has still to decide or to do, as it says itself: its store is its own while it runs. */
export async function openOfEmbedded(fleet: Fleet): Promise<number> {
  await fleet.receivers[0]?.bot();
  return openIn(
    await askJson<StatusReport>(
      { dir: fleet.folder(), env: fleet.env },
      'status',
      '--config',
      `${fleet.folder()}/bot.yaml`,
    ),
  );
}

/** What waits for a person is not open. */
export function openIn({ backlog, intents }: StatusReport): number {
  return backlog.arrivals + backlog.events + intents.planned + intents.claimed + intents.sent + intents.unknown;
}
