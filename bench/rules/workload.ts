import { fileURLToPath } from 'node:url';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { ForgeEvent } from '../../src/core/event.js';
import { normalizeDelivery } from '../../test/builders/normalize-delivery.js';
import type { ExpressionEngine } from '../../src/rules/language/expression-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import type { Revision, RuleFile } from '../../src/rules/language/revision.js';
import { jsonTextOf, readActFolders } from '../../test/recordings-tool/act-file.js';

/** How one rule of the workload chooses its events; the same to every contestant. */
export type Choice =
  | { by: 'repo'; name: string }
  | { by: 'name-prefix' | 'name-suffix'; text: string }
  | { by: 'branch'; pattern: string };

export interface WorkloadRule {
  readonly id: string;
  readonly choice: Choice;
}

export interface Workload {
  readonly rules: readonly WorkloadRule[];
  readonly revision: Revision;
}

/** What the event of the workload is about. */
const REPO = 'web-app';
const BRANCH = 'release/1.4';
const PER_FILE = 100;

/** Five that take the event: two by its repository's name, two by a glob over it, one by its branch. */
const MATCHING: readonly Choice[] = [
  { by: 'repo', name: REPO },
  { by: 'name-prefix', text: 'web-' },
  { by: 'branch', pattern: 'release/*' },
  { by: 'repo', name: REPO },
  { by: 'name-suffix', text: '-app' },
];

/** A third literal repositories, a third globs with a literal beginning or end, a third branch globs; five take the event. */
export function mixedRules(count: number): WorkloadRule[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `rule-${index}`,
    choice: MATCHING[index] ?? otherChoice(index),
  }));
}

function otherChoice(index: number): Choice {
  switch (index % 3) {
    case 0:
      return { by: 'repo', name: `service-${index}` };
    case 1:
      return index % 2 === 0
        ? { by: 'name-prefix', text: `team${index}-` }
        : { by: 'name-suffix', text: `-lib${index}` };
    default:
      return { by: 'branch', pattern: index % 2 === 0 ? `feature/${index}-*` : `*/hotfix-${index}` };
  }
}

/** Every one takes the event. */
export function passingRules(count: number): WorkloadRule[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `rule-${index}`,
    choice: MATCHING[index % MATCHING.length] ?? { by: 'repo', name: REPO },
  }));
}

/** Conditions of every rule, in each contestant's own words; all hold. */
export const MAX_COMMITS = 20;
export const NOT_BEGINNING = 'Merge ';

export function workloadOf(rules: readonly WorkloadRule[], engine: ExpressionEngine): Workload {
  const files: RuleFile[] = [];
  for (let at = 0; at < rules.length; at += PER_FILE) {
    const text = `version: 1\norg: acme\nrules:\n${rules
      .slice(at, at + PER_FILE)
      .map(yamlOf)
      .join('')}`;
    files.push({ path: `rules/${at}.yaml`, text });
  }
  const loaded = loadRules(files, {
    org: 'acme',
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers: new Set(),
    secrets: new Set(),
    engine,
  });
  if (!loaded.ok)
    throw new Error(loaded.problems.map(({ file, line, message }) => `${file}:${line}: ${message}`).join('\n'));
  return { rules, revision: loaded.revision };
}

function yamlOf({ id, choice }: WorkloadRule): string {
  return `  - id: ${id}
    on: push
    where: {${whereOf(choice)}}
    if:
      small: size(event.commits) <= ${MAX_COMMITS}
      no_merge: '!event.head_commit.message.startsWith("${NOT_BEGINNING}")'
    do: {milestone.ensure: {title: "\${{ event.branch }}"}}
`;
}

function whereOf(choice: Choice): string {
  switch (choice.by) {
    case 'repo':
      return `repo: acme/${choice.name}`;
    case 'name-prefix':
      return `repo: "${choice.text}*"`;
    case 'name-suffix':
      return `repo: "*${choice.text}"`;
    case 'branch':
      return `branch: "${choice.pattern}"`;
  }
}

const RECORDED = '../../test/recordings/gitea-1.27/acts/046-pull-request-synchronized-by-a-push.json';

/** A push as a server sent it, about the repository and the branch of the workload. */
export function pushEvent(): ForgeEvent {
  const path = fileURLToPath(new URL(RECORDED, import.meta.url));
  const delivery = readActFolders(path)
    .flatMap(({ acts }) => acts)
    .flatMap(({ deliveries }) => deliveries)
    .find(({ event_type }) => event_type === 'push');
  if (!delivery) throw new Error(`no push in ${path}`);
  const fact = normalizeDelivery({ org: 'acme', eventType: 'push', text: jsonTextOf(delivery) });
  if ('reason' in fact) throw new Error(fact.reason);
  const { kind, factKey, factAt, actor, repo, data } = fact;
  if (!repo) throw new Error('the recorded push names no repository');
  return {
    id: '1',
    forge: 'main',
    org: 'acme',
    kind,
    source: 'webhook',
    factKey,
    factAt,
    actor,
    repo: { ...repo, owner: 'acme', name: REPO, full_name: `acme/${REPO}` },
    data: { ...data, ref: `refs/heads/${BRANCH}`, branch: BRANCH },
    storedAt: new Date('2026-11-20T12:00:00Z'),
  };
}

/** The same event as if it had just arrived: nothing that was worked out for the last one is known about it. */
export function freshly({ repo, data, actor, ...event }: ForgeEvent): ForgeEvent {
  return { ...event, repo: repo && { ...repo }, actor: actor && { ...actor }, data: { ...data } };
}
