import { z } from 'zod';
import { conflict, notFound, unprocessable } from '../answer.js';
import { claimJob, finishTask, type JobResult, waitingJob } from '../resources/job.js';
import type { Repository, Runner, Task, World, WorkflowRun } from '../world.js';
import type { Workflow } from '../workflows/read-workflow.js';
import { resolveRef } from '../git/store.js';
import { defineAct, type Act, type ActContext } from './define-act.js';
import { mustWrite, repoField, repoParams } from './fields.js';
import { jobsOf, makeRun, titleOf } from '../resources/run-start.js';

const LABEL = 'ubuntu-latest';

const jobField = z.strictObject({
  name: z.string().min(1),
  needs: z.array(z.string()).default([]),
  result: z.enum(['success', 'failure', 'cancelled']).default('success'),
});

/** Workflow runs, and the runner that works on them when it is told to. */
export const workflowActs: readonly Act[] = [
  defineAct({
    name: 'workflow.run',
    summary:
      'A whole run on the newest commit of a branch, with the jobs named here: queued, claimed and ended one after the other',
    params: z.strictObject({
      repo: repoField,
      workflow: z.string().default('ci.yaml'),
      name: z.string().default('CI'),
      branch: z.string().optional(),
      event: z.enum(['push', 'pull_request', 'schedule', 'workflow_dispatch']).default('push'),
      jobs: z.array(jobField).min(1),
    }),
    example: { repo: 'acme/app', jobs: [{ name: 'build' }, { name: 'test', needs: ['build'], result: 'failure' }] },
    run: (context, { repo: name, workflow, name: title, branch, event, jobs }) => {
      const repo = context.repo(name);
      mustWrite(context, repo, 'repo.actions');
      const head = resolveRef(repo.git, `refs/heads/${branch ?? repo.defaultBranch}`);
      if (!head) throw unprocessable(`no branch ${branch ?? repo.defaultBranch} in ${name}`);
      const plan: Workflow = {
        id: workflow,
        name: title,
        triggers: new Map(),
        jobs: jobs.map((job) => ({
          key: job.name,
          name: job.name,
          needs: job.needs,
          runsOn: [LABEL],
          steps: [{ does: job.name }],
        })),
      };
      const run = makeRun(context.world, context.by, repo, {
        workflow: plan,
        event,
        title: titleOf(head.commit),
        ref: `refs/heads/${head.name}`,
        headSha: head.commit.sha,
      });
      workOff(context.world, run, new Map(jobs.map((job) => [job.name, job.result])));
      return { run: run.id, run_number: run.number, state: run.state };
    },
  }),
  defineAct({
    name: 'workflow.dispatch',
    summary: 'Start a workflow that the repository has a file of',
    params: z.strictObject({ repo: repoField, workflow: z.string().default('ci.yaml'), ref: z.string().optional() }),
    example: { repo: 'acme/app' },
    run: (context, { repo, workflow, ref }) =>
      context.call('dispatchWorkflow', {
        params: { ...repoParams(repo), workflow_id: workflow },
        body: { ref: ref ?? context.repo(repo).defaultBranch },
      }),
  }),
  defineAct({
    name: 'job.claim',
    summary: 'The runner takes the oldest job of a repository that waits',
    params: z.strictObject({ repo: repoField }),
    example: { repo: 'acme/app' },
    run: (context, { repo: name }) => {
      const task = claimNext(context.world, context.repo(name));
      if (!task) throw conflict(`no job of ${name} waits for a runner`);
      return { task: task.id, job: task.jobId };
    },
  }),
  defineAct({
    name: 'job.finish',
    summary: 'The job that the runner took last ends; what needs it is set free or skipped',
    params: z.strictObject({ repo: repoField, result: z.enum(['success', 'failure', 'cancelled']).default('success') }),
    example: { repo: 'acme/app', result: 'failure' },
    run: (context, { repo: name, result }) => {
      const repo = context.repo(name);
      const task = [...context.world.tasks.values()]
        .filter((one) => one.repoId === repo.id && one.state === 'running')
        .at(-1);
      if (!task) throw notFound(`no job of ${name} is running`);
      finishTask(context.world, task, result);
      return { task: task.id, job: task.jobId };
    },
  }),
  defineAct({
    name: 'workflow.rerun',
    summary: 'Run what failed in a run once more (default: the last run)',
    params: z.strictObject({ repo: repoField, run_number: z.number().int().positive().optional() }),
    example: { repo: 'acme/app' },
    run: (context, { repo, run_number }) =>
      context.call('rerunFailedJobs', { params: { ...repoParams(repo), run: runOf(context, repo, run_number).id } }),
  }),
];

function runOf({ world, repo }: ActContext, name: string, number: number | undefined): WorkflowRun {
  const { id } = repo(name);
  const newest = [...world.runs.values()]
    .filter((run) => run.repoId === id && (number === undefined || run.number === number))
    .at(-1);
  if (!newest) throw notFound(`${name} has no such run`);
  return newest;
}

/** Works until nothing of this run waits any more; jobs that are not named end well. */
function workOff(world: World, run: WorkflowRun, results: ReadonlyMap<string, JobResult>): void {
  const runner = runnerOf(world);
  for (let job = nextOf(world, run); job; job = nextOf(world, run))
    finishTask(world, claimJob(world, runner, job), results.get(job.key) ?? 'success');
}

function nextOf(world: World, run: WorkflowRun): ReturnType<typeof jobsOf>[number] | undefined {
  return jobsOf(world, run).find((job) => job.state === 'waiting');
}

/** Claims with the runner that serves the repository, or with one of our own. */
export function claimNext(world: World, repo: Repository): Task | undefined {
  for (const runner of [...world.runners.values(), runnerOf(world)]) {
    const job = waitingJob(world, runner, repo);
    if (job) return claimJob(world, runner, job);
  }
  return undefined;
}

/** The runner of the sandbox itself: made when first needed, serves everybody. */
function runnerOf(world: World): Runner {
  const existing = [...world.runners.values()].find((one) => one.name === 'sandbox-runner');
  if (existing) return existing;
  const runner: Runner = { id: world.nextId('runner'), name: 'sandbox-runner', scope: 'instance', labels: [LABEL] };
  world.runners.set(runner.id, runner);
  return runner;
}
