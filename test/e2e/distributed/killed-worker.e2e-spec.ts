import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Intent } from '../../../src/core/run.js';
import { freshRedisUrl, REDIS_URL } from '../../services/test-redis.js';
import { POSTGRES_URL } from '../../services/test-stores.js';
import { until } from '../../services/until.js';
import type { Forge } from '../support/a-forge.js';
import { aForge } from '../support/a-forge.js';
import { requireBuild } from '../support/built.js';
import { tell } from '../support/tell.js';
import { waitFor } from '../support/wait-for.js';
import type { ForgeState } from './acts.js';
import { answeredAt } from './answered-at.js';
import { playActs } from './acts.js';
import type { Cluster } from './cluster.js';
import { HOOK_SECRET, startCluster } from './cluster.js';
import { doubleWrites } from './double-writes.js';
import { readForge } from './forge-state.js';
import type { HoldingProxy } from './holding-proxy.js';
import { startHoldingProxy } from './holding-proxy.js';
import { isReason } from '../../../src/core/run-reasons.js';

const NAMES = ['app', 'lib', 'tool', 'site'];
/** On a busy machine; nothing is judged by it. */
const SETTLED_MS = 480_000;
/** So many writes of the first worker are answered before answers are kept back. */
const ANSWERED = 5;
/** In flight at the kill; the forge's `concurrency` is 4. */
const IN_FLIGHT = 2;
/** End of the name of a label that one event alone has. */
const WITNESS = / [0-9a-f]{12}$/;

let forge: Forge;
let proxy: HoldingProxy;
let cluster: Cluster;

const intents = async (state: Intent['state']): Promise<Intent[]> =>
  cluster.stores.journal.intentsInState(state, 1_000);

/** Planned for good: later steps of a run that stands still at a waiting one, and further wishes for an effect whose outcome is unknown. */
async function areHeldUp(planned: readonly Intent[]): Promise<boolean> {
  const waiting = new Set((await intents('waiting')).map(({ effectKey }) => effectKey));
  const work = await cluster.stores.journal.workOfRuns(planned.map(({ runId }) => runId));
  return planned.every(({ effectKey, stepNo }, n) => {
    const before = (work[n] ?? []).filter(({ intent }) => intent.stepNo < stepNo);
    return waiting.has(effectKey) || before.some(({ intent: { state } }) => state === 'waiting' || state === 'planned');
  });
}

async function isSettled(): Promise<boolean> {
  const { inbox, journal } = cluster.stores;
  if ((await inbox.dueArrivals(1)).length + (await inbox.undecidedEvents(1)).length > 0) return false;
  const { claimed, sent, unknown } = await journal.countNewestByState(1_000_000, null);
  if (claimed + sent + unknown > 0) return false;
  return areHeldUp(await intents('planned'));
}

/** The same without what these intents want: whether that is there, nobody need know. Values of variables are not compared at all. */
function without(state: ForgeState, left: readonly Intent[]): ForgeState {
  const rest = { ...structuredClone(state), variables: {} };
  for (const { target, action, params, effectKey } of left) {
    if (target.kind !== 'repository') continue;
    const repository = rest.repositories[`${target.owner}/${target.name}`];
    const name = String(params['name'] ?? params['title'] ?? params['new_branch_name'] ?? params['tag'] ?? '');
    if (!repository) throw new Error(`not of this suite: ${effectKey}`);
    if (action === 'label.ensure' && WITNESS.test(name)) delete repository.witnessed[name.replace(WITNESS, '')];
    else if (action === 'label.ensure') repository.labels = repository.labels.filter((label) => label !== name);
    else if (action === 'milestone.ensure')
      repository.milestones = repository.milestones.filter((title) => title !== name);
    else if (action === 'push_mirror.ensure') repository.mirrors = [];
    else if (action === 'branch.create') repository.branches = repository.branches.filter((branch) => branch !== name);
    else if (action === 'release.update') delete repository.releases[name];
    else throw new Error(`not of this suite: ${effectKey}`);
  }
  return rest;
}

(POSTGRES_URL && REDIS_URL ? describe : describe.skip)('e2e/distributed: a killed worker', () => {
  beforeEach(async () => {
    requireBuild();
    forge = await aForge();
    proxy = await startHoldingProxy(forge.apiUrl, ANSWERED);
    cluster = await startCluster({
      forge,
      redisUrl: await freshRedisUrl(),
      sweepS: 1,
      feedEveryS: 1,
      firstWorkerApiUrl: proxy.apiUrl,
    });
  });

  afterEach(async () => {
    await cluster.close();
    await proxy.close();
    await forge.close();
  });

  it('doubles nothing and loses nothing: what was sent and not answered is read about, and done', async () => {
    await forge.hook(cluster.web.url, HOOK_SECRET);
    await until(async () => (await cluster.stores.cursors.read('main', 'acme', 'feed')) !== null);

    const playing = playActs(forge, NAMES, answeredAt(forge));
    await until(() => proxy.held.length >= IN_FLIGHT);
    await cluster.workers[0].kill();
    const wanted = await playing;
    // The last acts are told of in the background: until then nothing is known of them here.
    await forge.sandbox.parts.deliveries.settled();
    await waitFor(isSettled, SETTLED_MS);

    const waiting = await intents('waiting');
    const heldUp = await intents('planned');
    const found = await readForge(forge, NAMES);
    const recovered = (await intents('done')).filter(
      ({ reason }) => isReason(reason, 'intent.confirmed') || isReason(reason, 'intent.shown'),
    );
    tell(
      `${proxy.held.length} calls answered in vain at the kill (${proxy.held.join(', ')}), ${recovered.length} intents recovered, ${waiting.length} wait, ${forge.botWrites().length} writes`,
    );
    expect(waiting.length + heldUp.length).toBe(0);
    expect(recovered.length).toBeGreaterThanOrEqual(proxy.held.length);
    expect(doubleWrites(forge.botWrites())).toEqual([]);
    expect(without(found, [])).toEqual(without(wanted, []));
    const {
      done,
      unchanged,
      waiting: _waiting,
      planned: _planned,
      ...others
    } = await cluster.stores.journal.countNewestByState(1_000_000, null);
    expect(Object.fromEntries(Object.entries(others).filter(([, count]) => count > 0))).toEqual({});
    expect(done + unchanged).toBeGreaterThan(100);
  });
});
