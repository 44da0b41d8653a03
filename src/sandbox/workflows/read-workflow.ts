import { parse } from 'yaml';

/** What the sandbox understands of a workflow file. */
export interface Workflow {
  /** File name, the workflow's id. */
  id: string;
  /** `name:` of the file, else the file name. */
  name: string;
  triggers: ReadonlyMap<string, TriggerFilter>;
  jobs: readonly JobPlan[];
}

/** Patterns; absent = no such filter. */
export interface TriggerFilter {
  branches?: readonly string[];
  branchesIgnore?: readonly string[];
  tags?: readonly string[];
  tagsIgnore?: readonly string[];
  paths?: readonly string[];
  types?: readonly string[];
}

export interface JobPlan {
  key: string;
  name: string;
  needs: readonly string[];
  runsOn: readonly string[];
  steps: readonly StepPlan[];
}

interface StepPlan {
  /** Undefined: servers make one of what it does. */
  name?: string;
  /** First line of its command, or the action it uses. */
  does: string;
}

type Mapping = Record<string, unknown>;

/** Undefined when the text is no workflow: a real server then starts nothing. */
export function readWorkflow(id: string, text: string): Workflow | undefined {
  let file: unknown;
  try {
    file = parse(text);
  } catch {
    return undefined;
  }
  if (!isMapping(file) || !isMapping(file.jobs)) return undefined;
  // YAML 1.1 reads the key `on` as true; the library speaks 1.2 but files with `%YAML 1.1` exist.
  const on = file.on ?? file.true;
  return {
    id,
    name: typeof file.name === 'string' ? file.name : id,
    triggers: readTriggers(on),
    jobs: Object.entries(file.jobs).map(([key, job]) => readJob(key, isMapping(job) ? job : {})),
  };
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function texts(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return value === undefined || value === null ? [] : [String(value)];
}

function readTriggers(on: unknown): Map<string, TriggerFilter> {
  if (isMapping(on))
    return new Map(Object.entries(on).map(([event, filter]) => [event, readFilter(isMapping(filter) ? filter : {})]));
  return new Map(texts(on).map((event) => [event, {}]));
}

function readFilter(filter: Mapping): TriggerFilter {
  const read = (key: string): string[] | undefined => (filter[key] === undefined ? undefined : texts(filter[key]));
  const all = {
    branches: read('branches'),
    branchesIgnore: read('branches-ignore'),
    tags: read('tags'),
    tagsIgnore: read('tags-ignore'),
    paths: read('paths'),
    types: read('types'),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function readJob(key: string, job: Mapping): JobPlan {
  return {
    key,
    name: typeof job.name === 'string' ? job.name : key,
    needs: texts(job.needs),
    runsOn: isMapping(job['runs-on']) ? texts(job['runs-on'].labels) : texts(job['runs-on']),
    steps: (Array.isArray(job.steps) ? job.steps : []).filter(isMapping).map(readStep),
  };
}

function readStep({ name, run, uses }: Mapping): StepPlan {
  const does = String(run ?? uses ?? '').split('\n')[0] ?? '';
  return typeof name === 'string' ? { name, does } : { does };
}
