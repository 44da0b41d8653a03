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

/** Rules and policies that the operator's limits (orgs[].limits) do not allow, each with its place. */
export function beyondLimits({ rules, policies }: Pick<Revision, 'rules' | 'policies'>, limits: OrgLimits): Problem[] {
  return [...rules, ...policies].flatMap((one: CompiledRule | CompiledPolicy) =>
    SEEN_AT_LOAD.filter(
      ({ limit, operations }) => !limits[limit] && operations.some((name) => one.operations.includes(name)),
    ).map(({ key, does }) => ({
      ...one.position,
      message: `"${one.id}" ${does}, which the operator did not allow (limit.${key})`,
      hint: `orgs[].limits: {${key}: allow} in the operator's config`,
    })),
  );
}
