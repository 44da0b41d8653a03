import type { Forge } from '../support/a-forge.js';
import { waitFor } from '../support/wait-for.js';
import type { Answered } from './acts.js';
import { readForge } from './forge-state.js';

/**
 * Waits until the forge shows the effects of these events. The bot cancels a step about an opening that it executes after the closing, and one about
 * a closing after the reopening; a script whose every act is to have its effect waits in between.
 */
export function answeredAt(forge: Forge): Answered {
  return (repo, kind, events) =>
    waitFor(async () => {
      const { labels = [], witnessed = {} } =
        (await readForge(forge, [repo.slice('acme/'.length)])).repositories[repo] ?? {};
      return labels.includes(`#1 ${kind}`) && witnessed[kind] === events;
    });
}
