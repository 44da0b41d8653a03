import { readAll, type ForgeClient } from '../../forge/forge-client.js';

/**
 * How many issues and pull requests, closed ones too, bear each label of a repository, by the id of the label. All of them are read:
 * as a filter, servers split a name at its commas, drop names that they do not know, and of doubled labels want all on one issue.
 */
export async function bearersOf(
  forge: Pick<ForgeClient, 'listIssues'>,
  { owner, repo }: { readonly owner: string; readonly repo: string },
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { labels } of await readAll(forge, 'listIssues', { owner, repo, state: 'all' }))
    for (const id of new Set((labels ?? []).map((label) => label.id ?? ''))) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}
