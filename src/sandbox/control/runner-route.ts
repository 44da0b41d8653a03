import type { JsonObject } from '../../core/json.js';
import { ok, Refusal } from '../answer.js';
import { claimJob, finishTask, type JobResult, waitingJob } from '../resources/job.js';
import type { SandboxParts } from '../parts.js';
import type { Repository, Runner, Task, World } from '../world.js';
import { list, repoNamed, required, text, type Fixture } from './read.js';
import type { ControlRoute } from './router.js';

const RESULTS: Record<string, JobResult> = {
  RESULT_SUCCESS: 'success',
  RESULT_FAILURE: 'failure',
  RESULT_CANCELLED: 'cancelled',
  success: 'success',
  failure: 'failure',
  cancelled: 'cancelled',
};

/** A runner that works when it is told to. */
export const runnerFixture: Fixture = ({ world }, entry) => {
  const runner: Runner = {
    id: world.nextId('runner'),
    name: required(entry, 'runner'),
    scope: text(entry, 'scope') || 'instance',
    labels: list(entry, 'labels'),
  };
  world.add('runner', world.runners, runner);
  return { id: runner.id };
};

/** `{ runs: "owner/name", jobs, result }`: that many waiting jobs are claimed and ended, one after the other. */
export const runsFixture: Fixture = (parts, entry) => {
  const repo = repoNamed(parts, required(entry, 'runs'));
  const result = readResult(text(entry, 'result') || 'success');
  for (let done = 0; done < Number(entry.jobs ?? 1); done += 1) {
    const task = claimNext(parts.world, repo);
    if (!task) throw new Refusal(409, `no job of ${required(entry, 'runs')} waits for a runner`);
    finishTask(parts.world, task, result);
  }
  return {};
};

function readResult(word: string): JobResult {
  const result = RESULTS[word];
  if (!result) throw new Refusal(422, `result: one of started, ${Object.keys(RESULTS).join(', ')}`);
  return result;
}

function claimNext(world: World, of?: Repository): Task | undefined {
  const offers = [...world.runners.values()].flatMap((runner) => {
    const job = waitingJob(world, runner, of);
    return job ? [{ runner, job }] : [];
  });
  const oldest = offers.sort((a, b) => Number(a.job.id - b.job.id))[0];
  return oldest && claimJob(world, oldest.runner, oldest.job);
}

/** The job claimed last that still runs. */
function runningTask(world: World): Task | undefined {
  return [...world.tasks.values()].filter((task) => task.state === 'running').sort((a, b) => Number(b.id - a.id))[0];
}

function perform({ world }: SandboxParts, body: JsonObject): Task | undefined {
  const word = text(body, 'result');
  if (word === '' || word === 'started') return claimNext(world);
  const result = readResult(word);
  const task = runningTask(world);
  if (task) finishTask(world, task, result);
  return task;
}

/**
 * `{ result: "started" }` (or `{}`): the oldest job that waits is claimed; `RESULT_SUCCESS`, `RESULT_FAILURE`, `RESULT_CANCELLED`: the
 * claimed job ends so. Answers whether there was a job for it.
 */
export const runnerRoute: ControlRoute = {
  method: 'POST',
  path: '/_sandbox/runner',
  run: ({ parts, body }) => {
    const task = perform(parts, body);
    return ok(task ? { offered: true, task: task.id, job: task.jobId } : { offered: false });
  },
};
