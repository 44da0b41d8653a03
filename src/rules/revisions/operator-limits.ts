import type { Problem } from '../../core/problem.js';
import type { CompiledPolicy, CompiledRule, Revision } from '../language/revision.js';
import type { OrgLimits } from '../../config/app-config.js';

/** What an operation shows to be beyond a limit, whatever the rule does with it: seen when the rules are loaded. */
const SEEN_AT_LOAD: ReadonlyArray<{
  readonly limit: keyof OrgLimits;
  readonly key: string;
  readonly operations: readonly string[];
  readonly does: string;
}> = [
  { limit: 'merges', key: 'merges', operations: ['mergePull'], does: 'merges pull requests' },
  {
    limit: 'privateReads',
    key: 'private_reads',
    operations: ['listOrgFeed', 'listMyJobs'],
    does: 'reads text of all repositories, private ones too',
  },
];

type Limited = CompiledRule | CompiledPolicy;

/** Rules and policies that the operator's limits (orgs[].limits) do not allow, each with its place. */
export function beyondLimits({ rules, policies }: Pick<Revision, 'rules' | 'policies'>, limits: OrgLimits): Problem[] {
  const all = [...rules, ...policies];
  return [...beyondEach(all, limits), ...(limits.approveAndMerge ? [] : approvesWhatIsMerged(all))];
}

/** An approval of the bot's would stand for the look of a person at what the same rules merge. */
function approvesWhatIsMerged(all: readonly Limited[]): Problem[] {
  const merging = all.find(({ operations }) => operations.includes('mergePull'));
  if (!merging) return [];
  return all
    .filter(({ operations }) => operations.includes('createReview'))
    .map((one) => ({
      ...one.position,
      message: `"${one.id}" approves pull requests and "${merging.id}" merges them, which the operator did not allow together (limit.approve_and_merge)`,
      hint: "orgs[].limits: {approve_and_merge: allow} in the operator's config",
    }));
}

function beyondEach(all: readonly Limited[], limits: OrgLimits): Problem[] {
  return all.flatMap((one) =>
    SEEN_AT_LOAD.filter(
      ({ limit, operations }) => !limits[limit] && operations.some((name) => one.operations.includes(name)),
    ).map(({ key, does }) => ({
      ...one.position,
      message: `"${one.id}" ${does}, which the operator did not allow (limit.${key})`,
      hint: `orgs[].limits: {${key}: allow} in the operator's config`,
    })),
  );
}
