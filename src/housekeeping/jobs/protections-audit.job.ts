import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { BranchProtection } from '../../core/objects/git.js';
import { orMissing, type ForgeClient } from '../../forge/forge-client.js';
import { eachRepository, lookedOutcome } from './each-repository.js';
import { forgeOf, nightly, type Job } from './job.js';
import { emptyTable, ownValue } from '../../core/table.js';

const KIND = 'job.protections.audit.seen';
/** Change with every save and say nothing. */
const IGNORED = new Set(['created_at', 'updated_at']);

/** Finds branch protections that changed since the last look (op 10, or their list). Policies check their own expectations. */
export const auditProtections: Job = {
  name: 'protections.audit',
  summary: 'branch protections that changed or went since the last look',
  per: 'organization',
  schedule: nightly(4),
  when: 'nightly',
  isAudit: true,
  async run(turn) {
    const { client, offers } = forgeOf(turn);
    const { knownFacts } = turn.tools;
    const earlierFact = (await knownFacts.read(turn.forge, turn.org, KIND))?.fact;
    const before = isJsonObject(earlierFact) ? earlierFact : {};
    const now: Record<string, Json> = emptyTable();
    const looked = await eachRepository(turn, async (at, repository) => {
      const branch = typeof repository['default_branch'] === 'string' ? repository['default_branch'] : '';
      const protections = offers('listBranchProtections')
        ? await client.listBranchProtections(at)
        : await protectionOf(client, { ...at, name: branch });
      const seen = Object.fromEntries(
        protections.map((one) => [one.rule_name ?? one.branch_name ?? '', comparable(one)]),
      );
      now[repository.id] = seen;
      const old = before[repository.id];
      return isJsonObject(old) ? protectionDrift(old, seen) : [];
    });
    // Repositories that could not be read this time are compared with what was seen of them before.
    if (!turn.isDryRun) await knownFacts.write(turn.forge, turn.org, KIND, { ...before, ...now });
    return lookedOutcome(looked, '');
  },
};

/** A branch without a protection is answered with 404 (op 10), as one that is not there is. */
async function protectionOf(
  client: ForgeClient,
  branch: { owner: string; repo: string; name: string },
): Promise<BranchProtection[]> {
  if (branch.name === '') return [];
  const protection = await orMissing(client.getBranchProtection(branch));
  return protection === null ? [] : [protection];
}

function comparable(protection: BranchProtection): JsonObject {
  return Object.fromEntries(
    Object.entries(protection).filter(([name, value]) => !IGNORED.has(name) && value !== undefined && value !== null),
  ) as JsonObject;
}

/** What became of protections, by the name of their rule. New ones are no loss. Pure. */
export function protectionDrift(before: JsonObject, now: JsonObject): string[] {
  return Object.entries(before).flatMap(([rule, old]) => {
    const present = ownValue(now, rule);
    if (!isJsonObject(old)) return [];
    if (!isJsonObject(present)) return [`the protection of ${rule} is not there any more`];
    const fields = Object.keys({ ...old, ...present }).filter(
      (name) => JSON.stringify(ownValue(old, name) ?? null) !== JSON.stringify(ownValue(present, name) ?? null),
    );
    if (fields.length === 0) return [];
    const changes = fields.map(
      (name) =>
        `${name} ${JSON.stringify(ownValue(old, name) ?? null)} -> ${JSON.stringify(ownValue(present, name) ?? null)}`,
    );
    return [`the protection of ${rule} changed: ${changes.join(', ').slice(0, 400)}`];
  });
}
