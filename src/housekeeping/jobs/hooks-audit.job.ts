import { listAll } from '../../forge/list-all.js';
import type { Hook } from '../../forge/resources/hook.js';
import { missingEvents, neededEvents } from '../../rules/hook-events.js';
import { forgeOf } from './forge-of.js';
import { NOTHING, type Job } from './job.js';

/** Whether a webhook of ours is there, active, alone, and asks for what the rules wait for (op 3). */
export const auditHooks: Job = {
  name: 'hooks.audit',
  summary: 'our webhook: there, active, and asking for what the rules wait for',
  per: 'organization',
  schedule: { cron: '15 * * * *', tz: 'UTC', jitterS: 1_800 },
  when: 'hourly',
  isAudit: true,
  async run(turn) {
    const { client, capabilities, offers } = forgeOf(turn);
    const paths = turn.tools.hookPaths(turn.org);
    if (paths.length === 0) return { summary: 'the config names no webhook: nothing to look for', findings: NOTHING, changes: NOTHING };
    if (!offers('listOrgHooks')) return { summary: 'this forge does not list webhooks', findings: NOTHING, changes: NOTHING };
    const hooks = await listAll(client, 'listOrgHooks', { org: turn.org });
    const active = await turn.tools.revisions.active(turn.org);
    const wanted = active ? neededEvents(active.revision, capabilities?.product ?? null) : [];
    const findings = hookFaults(hooks, paths, wanted);
    return { summary: `${hooks.length} webhooks of the organization`, findings, changes: NOTHING };
  },
};

/** What is wrong with the organization's webhooks that point at us. Pure. */
export function hookFaults(hooks: readonly Hook[], paths: readonly string[], wanted: readonly string[]): string[] {
  const ours = hooks.filter(({ config }) => paths.some((path) => (config?.['url'] ?? '').split('?')[0]?.endsWith(path)));
  if (ours.length === 0) return [`no webhook of the organization ends in ${paths.join(' or ')}: deliveries do not come`];
  const active = ours.filter((hook) => hook.active === true);
  if (active.length === 0) return ['our webhook is switched off at the forge'];
  const missing = missingEvents(
    wanted,
    active.flatMap(({ events }) => events ?? []),
  );
  const byPath = paths.filter((path) => active.filter(({ config }) => (config?.['url'] ?? '').split('?')[0]?.endsWith(path)).length > 1);
  return [
    ...(missing.length > 0 ? [`our webhook does not ask for ${missing.join(', ')}, which rules wait for`] : []),
    ...byPath.map((path) => `several active webhooks point at ${path}: every delivery comes more than once`),
  ];
}
