import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { ActiveRevision } from '../../src/rules/revisions/active-revisions.port.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import type { Revision } from '../../src/rules/language/revision.js';
import { START_MS, type World } from './world/world.js';

export const engine = new CelEngine();

/** Of the names of a family, the third of `tried` is an error when it is decided. */
const RULES = `
  - id: label
    on: push
    where: {branch: "label/*"}
    do: {label.ensure: {name: "\${{ event.branch }}", color: "#d73a4a"}}
  - id: milestone
    on: push
    where: {branch: "milestone/*"}
    do: {milestone.ensure: {title: "\${{ event.branch }}"}}
  - id: mirror
    on: push
    where: {branch: "mirror/*"}
    do:
      - push_mirror.ensure:
          remote_address: "https://mirror.example.org/\${{ event.branch }}.git"
          remote_username: bot
          remote_password: "\${{ secrets.mirror_token }}"
  - id: copy
    on: push
    where: {branch: "branch/*"}
    do: {branch.create: {new_branch_name: "copy/\${{ event.branch }}", old_ref_name: main}}
  - id: again
    on: branch.created
    where: {actor: [bot], branch: ["copy/**", "again/**"]}
    do: {branch.create: {new_branch_name: "again/\${{ event.branch }}", old_ref_name: main}}
  - id: followed
    on: branch.created
    where: {actor: ["bot:copy"]}
    do: {milestone.ensure: {title: "followed/\${{ event.branch }}"}}
  - id: steps
    on: push
    where: {branch: "steps/*"}
    do:
      - label.ensure: {name: "\${{ event.branch }}", color: "#0e8a16"}
      - milestone.ensure: {title: "\${{ event.branch }}"}
  - id: told
    on: [issue.closed, issue.reopened]
    do: {label.ensure: {name: "told/\${{ event.issue.number }}/\${{ event.issue.updated_at }}", color: "#fbca04"}}
  - id: outside
    on: issue.closed
    where: {actor: [eve]}
    do:
      - label.ensure: {name: "outside/\${{ event.issue.number }}", color: "#5319e7"}
      - milestone.ensure: {title: "outside/\${{ event.issue.number }}"}
  - id: many
    on: push
    where: {branch: "many/*"}
    coalesce: {key: "\${{ repo.full_name }} \${{ event.branch }}", window: 5s}
    do: {label.ensure: {name: "\${{ event.branch }}", color: "#c2e0c6"}}
  - id: asked
    on: push
    where: {branch: "asked/*"}
    do:
      - use: milestone.ensure
        approval: owners
        with: {title: "\${{ event.branch }}"}
  - id: tried
    on: push
    where: {branch: "tried/*"}
    canary: 50%
    do: {label.ensure: {name: "\${{ event.branch == 'tried/3' ? event.commits[9].id : event.branch }}", color: "#1d76db"}}
  - id: nightly
    schedule: {cron: "* * * * *"}
    where: {repo: ["acme/app"]}
    do: {milestone.ensure: {title: "at \${{ now }}"}}
    limits: {effects_per_run: 2}
`;

/** Only some seeds have them: each of their passes reads and rehearses. */
const POLICIES = `
  - id: house
    schedule: {cron: "* * * * *"}
    approval: required
    subjects: {repos: ["acme/app"]}
    labels: [{name: house/a, color: "#111111"}, {name: house/b, color: "#222222"}]
  - id: capped
    schedule: {cron: "* * * * *"}
    subjects: {repos: ["acme/app"]}
    limits: {effects_per_plan: 1}
    milestones: [{title: capped/a}, {title: capped/b}]
`;

function revisionOf(gone: string, hasPolicies: boolean): Revision {
  const kept = RULES.split(/^ {2}(?=- id: )/m).filter(
    (text) => text.trim() !== '' && !text.startsWith(`- id: ${gone}\n`),
  );
  const policies = hasPolicies ? `policies:${POLICIES}` : '';
  const text = `version: 1\norg: acme\nsecrets: [mirror_token]\nrules:\n${kept.map((one) => `  ${one}`).join('')}${policies}`;
  const environment = {
    org: 'acme',
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers: new Set<string>(),
    secrets: new Set(['mirror_token']),
    engine,
  };
  const loaded = loadRules([{ path: 'rules/a.yaml', text }], environment);
  if (!loaded.ok)
    throw new Error(loaded.problems.map(({ line, col, message }) => `${line}:${col}: ${message}`).join('\n'));
  return loaded.revision;
}

const NOTHING = 'nothing';
const REVISIONS = new Map(
  [NOTHING, 'label', 'milestone', 'steps'].flatMap((gone) =>
    [false, true].map((hasPolicies): [string, Revision] => [`${gone} ${hasPolicies}`, revisionOf(gone, hasPolicies)]),
  ),
);

/** The rules of the moment: files that change, change for every process at once. */
export function activeNow({ time, scenario: { disabled, plays } }: World): ActiveRevision {
  const gone = disabled && time.nowMs >= disabled.atMs ? disabled : null;
  const revision = REVISIONS.get(`${gone?.rule ?? NOTHING} ${plays.policies}`);
  if (!revision) throw new Error('no such revision');
  return { id: gone ? 'rev-2' : 'rev-1', revision, loadedAt: new Date(gone?.atMs ?? START_MS) };
}
