/** Files of other tools, by a key at their top. */
export const OTHER_TOOLS: ReadonlyArray<{ readonly tool: string; readonly keys: readonly string[] }> = [
  { tool: 'a workflow of Actions', keys: ['jobs', 'runs-on', 'defaults'] },
  {
    tool: 'a configuration of Mergify',
    keys: ['pull_request_rules', 'queue_rules', 'merge_queue', 'commands_restrictions'],
  },
  { tool: 'a configuration of Renovate', keys: ['packageRules', 'enabledManagers'] },
  { tool: 'a configuration of Dependabot', keys: ['updates', 'registries'] },
  {
    tool: 'a configuration of Prow',
    keys: [
      'plugins',
      'approve',
      'lgtm',
      'external_plugins',
      'tide',
      'presubmits',
      'postsubmits',
      'periodics',
      'plank',
      'deck',
    ],
  },
  { tool: 'a configuration of gitlab-triage', keys: ['resource_rules', 'host_url'] },
  { tool: 'a policy of policy-bot', keys: ['approval_rules'] },
  { tool: 'a pipeline', keys: ['stages', 'pipeline', 'steps', 'image', 'services'] },
  {
    tool: 'a configuration of Probot',
    keys: ['daysUntilStale', 'daysUntilClose', 'repository', 'collaborators', 'teams'],
  },
  { tool: 'a compose file', keys: ['services', 'volumes', 'networks'] },
  { tool: 'the operator’s config of this bot', keys: ['forges', 'orgs', 'store'] },
  { tool: 'a manifest of Kubernetes', keys: ['apiVersion', 'kind', 'metadata', 'spec'] },
];

/** The tool whose file has these keys at its top, where none of them is of a rule file; null = none that is known. */
export function otherToolOf(keys: readonly string[]): string | null {
  if (keys.includes('rules') || keys.includes('policies')) return null;
  return OTHER_TOOLS.find((one) => one.keys.some((key) => keys.includes(key)))?.tool ?? null;
}
