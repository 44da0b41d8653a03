import { defineAction, textOf, changed, refused, there, toWrite, unchanged, type Decision } from './define-action.js';
import { say } from './reasons.js';
import { id } from './support/params.js';
import { issue } from './support/objects.js';
import { plansIn, type SeenPlans } from './support/planned-merge.js';
import { isRefused, orMissing, readAll } from '../forge/forge-client.js';
import type { Pull } from '../core/objects/tracker.js';
import { RIGHTS } from '../core/rights.js';

interface SeenPlan {
  /** Null = there is none. */
  readonly pull: Pull | null;
  /** Undefined = it is not open. */
  readonly plans?: SeenPlans;
}

/**
 * Takes back the forge's own planned merge, whoever planned it. It shares its effect key with `pull_request.merge`: a merge of ours that was planned earlier
 * and still waits ends `cancelled` at its next look, as a newer wish came first.
 */
export const unqueuePull = defineAction({
  name: 'pull_request.unqueue',
  summary: 'Take back a merge that waits, here or at the forge',
  target: 'repository',
  params: { number: id('number of the pull request') },
  operations: ['cancelPlannedMerge', 'getPull', 'listTimeline'],
  whereOffered: [],
  sharesKeyWith: 'mergePull',
  right: RIGHTS.code,
  naturalKey: 'number',
  keyOf: ({ number }) => textOf(number),
  object: ({ number }) => issue(number),
  names: () => [],
  overwrites: true,
  raises: [],
  effect: { undoes: 'pull_request.merge' },
  example: { number: '12' },
  about: ({ number }) => ({ what: 'planned merge', number }),

  async look({ forge, place }, { number }): Promise<SeenPlan> {
    const where = { ...place, index: number };
    const pull = await orMissing(forge.getPull(where));
    if (pull?.state !== 'open') return { pull };
    return { pull, plans: plansIn(await readAll(forge, 'listTimeline', where)) };
  },

  compare({ wanted: { number }, seen: { pull, plans } }): Decision<null> {
    if (pull === null) return refused(say('cannot.missing', { what: 'pull request', number }));
    if (pull.merged === true) return refused(say('found.state', { what: 'pull request', number, state: 'merged' }));
    return plans?.isOpen === true ? toWrite(null) : there(say('found.absent', { what: 'planned merge', number }));
  },

  async write({ forge, place }, { number }) {
    try {
      await forge.cancelPlannedMerge({ ...place, index: number });
    } catch (error) {
      if (!isRefused(error, 404)) throw error;
      return unchanged(say('found.gone', { what: 'planned merge', number }));
    }
    return changed(say('made.removed', { what: 'planned merge', number }));
  },
});
