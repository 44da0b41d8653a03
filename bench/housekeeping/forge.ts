// The sandbox forge in a process of its own: it makes the organization, counts what it is asked, and spoils one label when told.
import { makeOrganization } from '../../src/sandbox/resources/organization.js';
import { makeRepository } from '../../src/sandbox/resources/repository.js';
import { makeToken, normalizeScopes } from '../../src/sandbox/resources/token.js';
import { makeUser } from '../../src/sandbox/resources/user.js';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';

/** `REPOS` repositories in acme, and `IDLE` in quiet; the bot is the site's administrator. */
const REPOS = Number(process.env['REPOS']);
const IDLE = Number(process.env['IDLE']);

export type Order = { readonly is: 'count' } | { readonly is: 'spoil-a-label' };

/** Calls by operation since the last count. */
export interface Counted {
  readonly reads: Readonly<Record<string, number>>;
  readonly writes: Readonly<Record<string, number>>;
}

export interface Ready {
  readonly apiUrl: string;
  readonly token: string;
}

const sandbox = await startSandbox({ profile: 'gitea' });
const { world, admin, ledger } = sandbox.parts;
for (const [name, count] of [
  ['acme', REPOS],
  ['quiet', IDLE],
] as const) {
  const owner = makeOrganization(world, { name, owner: admin });
  for (let n = 0; n < count; n += 1)
    makeRepository(world, admin, { owner, name: `app-${n}`, files: { 'README.md': '# app\n' } });
}
makeUser(world, { login: 'ann' });
const { value: token } = makeToken(world, admin, 'bench', normalizeScopes(['all']));
let counted = ledger.entries.length;

const orders: Record<Order['is'], () => Counted | null> = {
  count: () => {
    const fresh = ledger.entries.slice(counted);
    counted = ledger.entries.length;
    const sum = (isRead: boolean): Record<string, number> => {
      const sums: Record<string, number> = {};
      // What is refused changes nothing, and tells the bot what it may do here: it is no call of a policy.
      for (const { method, operation, path } of fresh.filter(({ status }) => (status ?? 0) < 400)) {
        const name = operation ?? `${method} ${path.split('?')[0]}`;
        if ((method === 'GET') === isRead) sums[name] = (sums[name] ?? 0) + 1;
      }
      return sums;
    };
    return { reads: sum(true), writes: sum(false) };
  },
  'spoil-a-label': () => {
    const label = [...world.labels.values()].find(({ repoId, name }) => repoId !== null && name.startsWith('kind/'));
    if (label) world.labels.delete(label.id);
    return null;
  },
};
process.on('message', (order: Order) => process.send?.(orders[order.is]()));
process.on('disconnect', () => void sandbox.close());
process.send?.({ apiUrl: sandbox.apiUrl, token } satisfies Ready);
