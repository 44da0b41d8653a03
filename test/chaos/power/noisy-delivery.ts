import { createHmac, randomBytes } from 'node:crypto';
import type { Repo } from '../rig/forge-process.js';
import { HOOK_SECRET, keyOf, type StormDelivery } from '../workload.js';

/** Bytes that do not compress: a few hundred deliveries then fill a segment of the store's log, which has 16 MB. */
const NOISE_BYTES = 48_000;

/** A delivery that wants one label. */
export function noisyDelivery(n: number, repo: Repo): StormDelivery {
  const text = JSON.stringify({
    action: 'opened',
    number: n + 1,
    issue: {
      id: n + 1,
      number: n + 1,
      title: `label ${keyOf(n)}`,
      state: 'open',
      body: randomBytes(NOISE_BYTES).toString('base64'),
    },
    repository: {
      id: repo.id,
      name: repo.name,
      full_name: `${repo.owner.login}/${repo.name}`,
      owner: repo.owner,
      private: false,
      default_branch: 'main',
    },
    sender: { id: 999_999, login: 'ben' },
  });
  return { n, repo, text, signature: createHmac('sha256', HOOK_SECRET).update(text).digest('hex') };
}
