import { isJsonObject } from '../../core/json.js';
import { nightly, type Job } from './job.js';

/** Which repositories the organization has, and how sure that is. */
export const takeInventory: Job = {
  name: 'repositories.inventory',
  summary: 'the repositories of the organization, how they were learned, and what came and went',
  per: 'organization',
  schedule: nightly(3),
  when: 'nightly',
  isAudit: true,
  async run({ forge, org, isDryRun, tools }) {
    const { repositories, completeness } = await tools.inventory.read(forge, org);
    const earlierFact = (await tools.knownFacts.read(forge, org, KIND))?.fact;
    const before =
      isJsonObject(earlierFact) && isJsonObject(earlierFact['repositories']) ? earlierFact['repositories'] : null;
    const now = Object.fromEntries(repositories.map(({ id, full_name: name }) => [id, name]));
    if (!isDryRun) await tools.knownFacts.write(forge, org, KIND, { repositories: now, completeness });
    const came = before ? Object.keys(now).filter((id) => !Object.hasOwn(before, id)) : [];
    const went = before ? Object.keys(before).filter((id) => !Object.hasOwn(now, id)) : [];
    const renamed = before ? Object.keys(now).filter((id) => Object.hasOwn(before, id) && before[id] !== now[id]) : [];
    const changes = [
      ...came.map((id) => `new: ${now[id] ?? id}`),
      ...went.map((id) => `gone: ${String(before?.[id])}`),
      ...renamed.map((id) => `renamed: ${String(before?.[id])} is ${now[id] ?? ''}`),
    ];
    return { summary: `${repositories.length} repositories, ${completeness}`, changes };
  },
};

const KIND = 'job.repositories.inventory.seen';
