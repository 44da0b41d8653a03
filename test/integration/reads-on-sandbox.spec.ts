import { afterEach, describe, expect, it } from '@jest/globals';
import { ForgeLookupReader } from '../../src/actions/lookups/forge-lookup-reader.js';
import type { JsonObject } from '../../src/core/json.js';
import { wrapForgeClient, type ForgeClient } from '../../src/forge/forge-client.js';
import type { OperationName } from '../../src/forge/operations.js';
import { APP, TrackerRig } from './support/tracker-rig.js';

const open: TrackerRig[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

interface Reads {
  readonly stage: ForgeClient;
  readonly as: (login: string) => ForgeClient;
  /** What reached the forge, in order. */
  readonly calls: OperationName[];
  /** @returns the answer as rules see it: a list of what `of` says of each element */
  list(use: string, params?: JsonObject, first?: number): Promise<JsonObject[] | 'missing' | string>;
}

async function start(profile: 'gitea' | 'gitea@1.26' | 'forgejo'): Promise<Reads> {
  const rig = await TrackerRig.start(profile);
  open.push(rig);
  const calls: OperationName[] = [];
  const client = wrapForgeClient(rig.stage, async (name, next, args, options) => {
    calls.push(name);
    return next(args, options);
  });
  const reader = new ForgeLookupReader({ get: () => ({ client, offers: () => true }) });
  return {
    stage: rig.stage,
    as: (login) => rig.as(login),
    calls,
    list: async (use, params = {}, first) => {
      calls.length = 0;
      const request = { as: 'it', use, params, onMissing: 'none' as const, ...(first === undefined ? {} : { first }) };
      const answer = await reader.read(request, { forge: 'main', org: 'acme', repo: rig.repo });
      if ('missing' in answer) return 'missing';
      return 'failed' in answer ? answer.failed : (answer.value as JsonObject[]);
    },
  };
}

const each = (answer: JsonObject[] | string, of: (one: never) => unknown): unknown =>
  typeof answer === 'string' ? answer : answer.map((one) => of(one as never));

describe.each(['gitea', 'gitea@1.26', 'forgejo'] as const)('integration/reads-on-sandbox (%s)', (profile) => {
  it('team.members: by the name of the team in any case; a team that is not there is missing', async () => {
    const { stage, list, calls } = await start(profile);
    const team = await stage.createTeam({
      org: 'acme',
      body: { name: 'Approvers', permission: 'read', units: ['repo.code'] },
    });
    for (const username of ['ann', 'ben']) await stage.addTeamMember({ id: team.id ?? '', username });
    const login = ({ login: name }: { login: string }): string => name;

    expect(each(await list('team.members', { name: 'approvers' }), login)).toEqual(['ann', 'ben']);
    expect(each(await list('team.members', { name: 'Approvers' }, 1), login)).toEqual(['ann']);
    expect(await list('team.members', { name: 'nobody' })).toBe('missing');
    expect(calls).toEqual(['listOrgTeams']);
  });

  it('pull_request.commits: newest first, with their messages', async () => {
    const { stage, list } = await start(profile);
    for (const name of ['one', 'two'])
      await stage.createFile({
        ...APP,
        filepath: `${name}.txt`,
        body: {
          content: Buffer.from(name).toString('base64'),
          message: `feat: ${name}\n\nSigned-off-by: Ann <ann@acme.example>`,
          ...(name === 'one' ? { branch: 'main', new_branch: 'topic' } : { branch: 'topic' }),
        },
      });
    await stage.createPull({ ...APP, body: { title: 'Two', head: 'topic', base: 'main' } });
    const subject = ({ commit }: { commit: { message: string } }): string => commit.message.split('\n')[0] ?? '';

    expect(each(await list('pull_request.commits', { number: 1 }), subject)).toEqual(['feat: two', 'feat: one']);
    expect(each(await list('pull_request.commits', { number: 1 }, 1), subject)).toEqual(['feat: two']);
    expect(await list('pull_request.commits', { number: 99 })).toBe('missing');
  });

  it('issue.reactions: who voted how; nobody is an empty list', async () => {
    const { stage, as, list } = await start(profile);
    await stage.createIssue({ ...APP, body: { title: 'Vote' } });

    expect(await list('issue.reactions', { number: 1 })).toEqual([]);

    await as('ann').addIssueReaction({ ...APP, index: 1, body: { content: '+1' } });
    await as('ben').addIssueReaction({ ...APP, index: 1, body: { content: 'heart' } });
    const vote = ({ content, user }: { content: string; user: { login: string } }): string =>
      `${user.login} ${content}`;
    expect(each(await list('issue.reactions', { number: 1 }), vote)).toEqual(['ann +1', 'ben heart']);
    expect(await list('issue.reactions', { number: 99 })).toBe('missing');
  });

  it('issues.list: of one author; who is not there opened none', async () => {
    const { stage, as, list } = await start(profile);
    await stage.createIssue({ ...APP, body: { title: 'root 1' } });
    for (const title of ['ann 1', 'ann 2', 'ann 3']) await as('ann').createIssue({ ...APP, body: { title } });
    const title = ({ title: text }: { title: string }): string => text;

    expect(each(await list('issues.list', { author: 'ann', state: 'all' }), title)).toEqual([
      'ann 3',
      'ann 2',
      'ann 1',
    ]);
    expect(each(await list('issues.list', { author: 'ANN' }, 2), title)).toEqual(['ann 3', 'ann 2']);
    expect(await list('issues.list', { author: 'ben' })).toEqual([]);
    expect(await list('issues.list', { author: 'nobody-at-all' })).toEqual([]);
  });

  it('issues.list: of one milestone, also where its title has a comma or is not there', async () => {
    const { stage, list } = await start(profile);
    for (const title of ['1.5', 'soon, or later']) {
      const { id } = await stage.createMilestone({ ...APP, body: { title } });
      await stage.createIssue({ ...APP, body: { title: `of ${title}`, milestone: id ?? 0 } });
    }
    await stage.createIssue({ ...APP, body: { title: 'of none' } });
    const title = ({ title: text }: { title: string }): string => text;

    expect(each(await list('issues.list', { milestone: '1.5' }), title)).toEqual(['of 1.5']);
    expect(each(await list('issues.list', { milestone: 'soon, or later' }), title)).toEqual(['of soon, or later']);
    expect(await list('issues.list', { milestone: 'soon' })).toEqual([]);
  });

  it('first: N reads no page beyond the elements that it takes', async () => {
    const { stage, list, calls } = await start(profile);
    for (let n = 1; n <= 60; n += 1) await stage.createLabel({ ...APP, body: { name: `l${n}`, color: '#00aa00' } });

    expect(await list('labels.list', {}, 50)).toHaveLength(50);
    expect(calls).toEqual(['listLabels']);
    expect(await list('labels.list', {}, 51)).toHaveLength(51);
    expect(calls).toEqual(['listLabels', 'listLabels']);
    expect(await list('labels.list')).toHaveLength(60);
  });
});
