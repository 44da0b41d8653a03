import type { Forge } from '../support/a-forge.js';
import type { ForgeState, RepositoryState } from './acts.js';

interface Named {
  name: string;
}

/** What the forge holds now, over its API. */
export async function readForge(forge: Forge, names: readonly string[]): Promise<ForgeState> {
  const repositories: Record<string, RepositoryState> = {};
  for (const name of names) repositories[`acme/${name}`] = await readRepository(forge, name);
  const variables = (await forge.get<Array<Named & { data: string }>>('/orgs/acme/actions/variables?limit=50')) ?? [];
  return { repositories, variables: Object.fromEntries(variables.map(({ name, data }) => [name, data])) };
}

async function readRepository(forge: Forge, name: string): Promise<RepositoryState> {
  const read = async <T>(path: string): Promise<T[]> => {
    const all: T[] = [];
    for (let page = 1; ; page += 1) {
      const rows =
        (await forge.get<T[]>(`/repos/acme/${name}${path}${path.includes('?') ? '&' : '?'}limit=50&page=${page}`)) ??
        [];
      all.push(...rows);
      if (rows.length < 50) return all;
    }
  };
  const names = async (path: string): Promise<string[]> => (await read<Named>(path)).map((row) => row.name).sort();
  const labels = await names('/labels');
  const witnesses = labels.flatMap((label) => /^([a-z_]+\.?[a-z_]*) [0-9a-f]{12}$/.exec(label)?.[1] ?? []);
  const witnessed: Record<string, number> = {};
  for (const kind of witnesses) witnessed[kind] = (witnessed[kind] ?? 0) + 1;
  return {
    labels: labels.filter((label) => !/ [0-9a-f]{12}$/.test(label)),
    witnessed,
    milestones: (await read<{ title: string }>('/milestones?state=all')).map(({ title }) => title).sort(),
    mirrors: (await read<{ remote_address: string }>('/push_mirrors'))
      .map(({ remote_address: address }) => address)
      .sort(),
    branches: await names('/branches'),
    releases: Object.fromEntries(
      (await read<Named & { tag_name: string }>('/releases')).map((release) => [release.tag_name, release.name]),
    ),
  };
}
