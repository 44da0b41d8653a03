import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { nothing } from '../../core/objects/base.js';
import { actionTasks, dispatched, workflowJobs, workflowRun, workflowRuns } from '../../core/objects/workflows.js';
import { jobStatus, paging } from './params.js';

const { get, post } = operationsOf('repository');

const jobsQuery = { status: jobStatus, ...paging } as const;

export const actionsOperations = {
  listMyJobs: get('/user/actions/jobs', {
    n: 11,
    query: {
      ...jobsQuery,
      sort: { type: 'string', summary: 'id' },
      order: { type: 'string', summary: 'asc or desc' },
    },
    result: workflowJobs,
    scope: 'user',
    list: 'jobs',
    summary: "List workflow jobs of the caller's own repositories, oldest first",
  }),
  listJobsOfAttempt: get('/repos/{owner}/{repo}/actions/runs/{run}/attempts/{attempt}/jobs', {
    n: 12,
    query: jobsQuery,
    result: workflowJobs,
    list: 'jobs',
    summary: 'List the jobs of one attempt of a run',
  }),
  listActionTasks: get('/repos/{owner}/{repo}/actions/tasks', {
    n: 14,
    query: paging,
    result: actionTasks,
    list: 'workflow_runs',
    summary: 'List the action tasks of a repository, newest first',
  }),
  listJobsOfRun: get('/repos/{owner}/{repo}/actions/runs/{run}/jobs', {
    query: jobsQuery,
    result: workflowJobs,
    list: 'jobs',
    summary: 'List the jobs of the latest attempt of a run, for servers without attempts',
  }),
  getRunAttempt: get('/repos/{owner}/{repo}/actions/runs/{run}/attempts/{attempt}', {
    result: workflowRun,
    summary: 'Get one attempt of a run',
  }),
  listRepoRuns: get('/repos/{owner}/{repo}/actions/runs', {
    query: paging,
    result: workflowRuns,
    list: 'workflow_runs',
    summary: 'List the workflow runs of a repository',
  }),
  listOrgRuns: get('/orgs/{org}/actions/runs', {
    query: paging,
    result: workflowRuns,
    scope: 'organization',
    list: 'workflow_runs',
    summary: 'List the workflow runs of an organization',
  }),
  listOrgJobs: get('/orgs/{org}/actions/jobs', {
    query: jobsQuery,
    result: workflowJobs,
    scope: 'organization',
    list: 'jobs',
    summary: 'List the workflow jobs of an organization',
  }),
  rerunFailedJobs: post('/repos/{owner}/{repo}/actions/runs/{run}/rerun-failed-jobs', {
    result: nothing,
    retry: 'keyless',
    summary: 'Run the failed jobs of a run again',
  }),
  dispatchWorkflow: post('/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches', {
    query: { return_run_details: { type: 'boolean', summary: 'answer the ids of the new run' } },
    body: z.strictObject({ ref: z.string(), inputs: z.record(z.string(), z.string()).optional() }),
    result: dispatched,
    success: [204, 200],
    retry: 'keyless',
    summary: 'Start a workflow by hand',
  }),
  getRun: get('/repos/{owner}/{repo}/actions/runs/{run}', {
    result: workflowRun,
    summary: 'Get a workflow run in its newest attempt',
  }),
  rerunRun: post('/repos/{owner}/{repo}/actions/runs/{run}/rerun', {
    result: nothing,
    retry: 'keyless',
    summary: 'Run all jobs of a run again',
  }),
  rerunJob: post('/repos/{owner}/{repo}/actions/runs/{run}/jobs/{job}/rerun', {
    result: nothing,
    retry: 'keyless',
    summary: 'Run one job, and what needs it, again',
  }),
} as const;
