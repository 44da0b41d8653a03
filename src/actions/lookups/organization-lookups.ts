import { accessToken, user } from '../../core/objects/accounts.js';
import { activity } from '../../core/objects/feed.js';
import { packageVersion } from '../../core/objects/publishing.js';
import { hook, variable } from '../../core/objects/repositories.js';
import { workflowJobs } from '../../core/objects/workflows.js';
import { ruleType } from '../../core/objects/rule-types.js';
import { listOf } from '../../core/data-types.js';
import { ForgeError } from '../../core/errors.js';
import { readAll, readFirst } from '../../forge/forge-client.js';
import { variableName } from '../support/compare.js';
import { JOB_STATES, defineLookup, filter, isDay, maybe, needed, oneOfWords } from './define-lookup.js';

/** Reads about the organization or the bot's own account. */
export const organizationLookups = [
  defineLookup({
    name: 'package.get',
    summary: 'One version of a package of the organization',
    target: 'organization',
    params: {
      type: needed('string', 'kind of package, such as container'),
      name: needed('string', 'name'),
      version: needed('string', 'version'),
      owner: maybe('string', 'owner; it may only be the organization, which it is when left out'),
    },
    operations: ['getPackage'],
    whereOffered: [],
    answer: ruleType(packageVersion),
    privacy: 'any-repository',
    read: async ({ forge, org }, { type, name, version, owner = org }) => {
      if (owner.toLowerCase() !== org.toLowerCase())
        throw new ForgeError('refused', `rules of ${org} read packages of ${org} alone`, { operation: 'getPackage' });
      return forge.getPackage({ owner: org, type, name, version });
    },
  }),
  defineLookup({
    name: 'hooks.list',
    summary: "All of the organization's webhooks, without their credentials",
    target: 'organization',
    params: {},
    operations: ['listOrgHooks'],
    whereOffered: [],
    answer: listOf(ruleType(hook)),
    privacy: 'owners',
    isAboutCredentials: true,
    read: ({ forge, org, first }) => readFirst(forge, 'listOrgHooks', { org }, first),
  }),
  defineLookup({
    name: 'team.members',
    summary: 'The members of a team; the bot must be a member of the organization',
    target: 'organization',
    params: { name: needed('string', 'name of the team; case does not matter') },
    operations: ['listOrgTeams', 'listTeamMembers'],
    whereOffered: [],
    answer: listOf(ruleType(user)),
    privacy: 'owners',
    read: async ({ forge, org, first }, { name }) => {
      const teams = await readAll(forge, 'listOrgTeams', { org });
      const team = teams.find((one) => one.name?.toLowerCase() === name.toLowerCase());
      if (!team?.id)
        throw new ForgeError('refused', `there is no team ${name} in ${org}`, {
          operation: 'listOrgTeams',
          status: 404,
        });
      return readFirst(forge, 'listTeamMembers', { id: team.id }, first);
    },
  }),
  defineLookup({
    name: 'feed.list',
    summary: "The newest rows of the organization's activity feed",
    target: 'organization',
    params: { date: filter('day, YYYY-MM-DD', isDay), limit: maybe('integer', 'how many, up to 50') },
    operations: ['listOrgFeed'],
    whereOffered: [],
    answer: listOf(ruleType(activity)),
    privacy: 'any-repository',
    read: ({ forge, org }, { date, limit }) => forge.listOrgFeed({ org, date, limit }),
  }),
  defineLookup({
    name: 'org_variable.get',
    summary: 'Whether an organization variable is there, with its description; rules never see its value',
    target: 'organization',
    params: { name: needed('string', 'name') },
    operations: ['getOrgVariable'],
    whereOffered: [],
    answer: ruleType(variable),
    privacy: 'owners',
    isAboutCredentials: true,
    read: ({ forge, org }, { name }) => forge.getOrgVariable({ org, variablename: variableName(name) }),
  }),
  defineLookup({
    name: 'jobs.mine',
    summary: "Workflow jobs of the bot's own repositories: {jobs, total_count}",
    target: 'account',
    params: {
      status: filter('pending, queued, in_progress, failure, success or skipped', oneOfWords(...JOB_STATES)),
      sort: filter('what to sort by: id', oneOfWords('id')),
      order: filter('asc or desc', oneOfWords('asc', 'desc')),
      limit: maybe('integer', 'how many, up to 50'),
    },
    operations: ['listMyJobs'],
    whereOffered: [],
    answer: ruleType(workflowJobs),
    privacy: 'any-repository',
    read: ({ forge }, { status, sort, order, limit }) => forge.listMyJobs({ status, sort, order, limit }),
  }),
  defineLookup({
    name: 'tokens.list',
    summary:
      "All access tokens of the bot's account, without anything of their values (Gitea wants Basic credentials for it)",
    target: 'account',
    params: { username: needed('string', 'the account: ${{ bot.login }}') },
    operations: ['listTokens'],
    whereOffered: [],
    answer: listOf(ruleType(accessToken)),
    privacy: 'owners',
    isAboutCredentials: true,
    read: ({ forge, first }, { username }) => readFirst(forge, 'listTokens', { username }, first),
  }),
] as const;
