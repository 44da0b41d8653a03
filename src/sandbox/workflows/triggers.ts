import picomatch from 'picomatch';
import type { Commit, Repository } from '../world.js';
import { readWorkflow, type TriggerFilter, type Workflow } from './read-workflow.js';

/** Folders in which a server looks for workflow files; the first that is there counts. */
const FOLDERS = {
  gitea: ['.gitea/workflows', '.github/workflows'],
  forgejo: ['.forgejo/workflows', '.gitea/workflows', '.github/workflows'],
} as const;

/** The workflow files of a commit. */
export function workflowsAt(repo: Repository, commit: Commit, family: 'gitea' | 'forgejo'): Workflow[] {
  const isIn = (folder: string, path: string): boolean =>
    path.startsWith(`${folder}/`) && /^[^/]+\.ya?ml$/.test(path.slice(folder.length + 1));
  const paths = [...commit.files.keys()];
  const folder = FOLDERS[family].find((one) => paths.some((path) => isIn(one, path)));
  if (folder === undefined) return [];
  return paths
    .filter((path) => isIn(folder, path))
    .sort()
    .flatMap((path) => {
      const text = repo.git.blobs.get(commit.files.get(path) ?? '')?.toString('utf8') ?? '';
      return readWorkflow(path.slice(folder.length + 1), text) ?? [];
    });
}

/** What happened, as triggers see it. */
export interface Cause {
  event: 'push' | 'pull_request' | 'release' | 'workflow_dispatch';
  /** Full ref of a push; of a pull request the branch it goes to. */
  ref: string;
  /** `opened`, `synchronize`, `published`, … */
  type?: string;
  /** Paths that were changed. */
  paths?: readonly string[];
}

/** Types of pull request events that start a workflow which names none. */
const DEFAULT_TYPES: Partial<Record<Cause['event'], readonly string[]>> = {
  pull_request: ['opened', 'synchronize', 'reopened'],
};

export function isTriggered(workflow: Workflow, cause: Cause): boolean {
  const filter = workflow.triggers.get(cause.event);
  if (!filter) return false;
  const types = filter.types ?? DEFAULT_TYPES[cause.event];
  if (cause.type !== undefined && types !== undefined && !types.includes(cause.type)) return false;
  return passesRef(filter, cause) && passesPaths(filter, cause);
}

/** A filter for branches alone keeps tags out, and the other way round. */
function passesRef(filter: TriggerFilter, { event, ref }: Cause): boolean {
  if (event !== 'push' && event !== 'pull_request') return true;
  const [, kind, name = ref] = /^refs\/(heads|tags)\/(.*)$/.exec(ref) ?? [];
  const isTag = kind === 'tags';
  const [only, ignore] = isTag ? [filter.tags, filter.tagsIgnore] : [filter.branches, filter.branchesIgnore];
  const [otherOnly, otherIgnore] = isTag ? [filter.branches, filter.branchesIgnore] : [filter.tags, filter.tagsIgnore];
  if (only) return matches(only, name);
  if (ignore) return !matches(ignore, name);
  return event === 'pull_request' || (otherOnly === undefined && otherIgnore === undefined);
}

function passesPaths({ paths }: TriggerFilter, cause: Cause): boolean {
  return paths === undefined || cause.paths === undefined || cause.paths.some((path) => matches(paths, path));
}

/** The last pattern that fits decides; `!` takes out again. */
function matches(patterns: readonly string[], name: string): boolean {
  return patterns.reduce((so, pattern) => {
    const isOut = pattern.startsWith('!');
    return picomatch(isOut ? pattern.slice(1) : pattern, { dot: true })(name) ? !isOut : so;
  }, false);
}
