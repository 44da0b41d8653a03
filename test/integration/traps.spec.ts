import { afterEach, describe, expect, it } from '@jest/globals';
import { readActorRights } from '../../src/actions/lookups/tracker-lookups.js';
import { ForgeError } from '../../src/core/errors.js';
import { Secret } from '../../src/core/secret.js';
import { connectForge } from '../../src/forge/connected-forges.js';
import { createForgeClient } from '../../src/forge/http/create-forge-client.js';
import { listAll, type ReplyInfo } from '../../src/forge/forge-client.js';
import { readOwnRights } from '../../src/forge/own-rights.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { startScriptedServer, type ScriptedServer } from '../fakes/scripted-server.js';
import { rigOn } from './support/rig-on-sandbox.js';
import { APP, TrackerRig } from './support/tracker-rig.js';
import { saying } from '../builders/reasons.js';

const sandboxes: Sandbox[] = [];
const rigs: TrackerRig[] = [];
const servers: ScriptedServer[] = [];
afterEach(async () => {
  await Promise.all([...sandboxes.splice(0), ...rigs.splice(0), ...servers.splice(0)].map((one) => one.close()));
});

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => null,
    (error: unknown) => (error instanceof ForgeError ? { kind: error.kind, ...error.facts } : error),
  );

async function trackerOn(profile: 'gitea' | 'forgejo'): Promise<TrackerRig> {
  const rig = await TrackerRig.start(profile);
  rigs.push(rig);
  return rig;
}

/** What recorded servers do that no documentation tells; where each is held to, `test/reliability/traps.json` says. */
describe.each(['gitea', 'forgejo'] as const)('integration/traps on %s', (profile) => {
  it('307: the client names the new path of a renamed organization and follows nothing', async () => {
    const { stage, sandbox } = await trackerOn(profile);
    await stage.renameOrg({ org: 'acme', body: { new_name: 'acme-two' } });

    const error = await failure(stage.createLabel({ ...APP, body: { name: 'bug', color: '#f00' } }));

    expect(error).toMatchObject({ kind: 'moved', status: 307, location: '/api/v1/repos/acme-two/app/labels' });
    expect([...sandbox.parts.world.labels.values()].map(({ name }) => name)).not.toContain('bug');
  });

  it('307: an action writes nothing where its repository belongs to another name now', async () => {
    const rig = await trackerOn(profile);
    const id = await rig.rig.plan('label.ensure', { name: 'bug', color: '#000000' }, { repo: rig.repo });
    await rig.stage.renameOrg({ org: 'acme', body: { new_name: 'acme-two' } });

    const intent = await rig.rig.work(id);

    expect(intent).toMatchObject({
      state: 'refused',
      reason: saying(expect.stringContaining('belongs to another owner than acme')),
    });
    expect(rig.written).toEqual([]);
  });

  it('500: the client takes a mistake of its own, answered as a fault of the server, for an unknown outcome', async () => {
    const { stage } = await trackerOn(profile);

    const error = await failure(
      stage.createBranch({ ...APP, body: { new_branch_name: 'x', old_ref_name: 'no-such-ref' } }),
    );

    expect(error).toMatchObject({ kind: 'unknown', status: 500 });
  });

  it('500: an action asks first for what servers answer with a fault when it is not there', async () => {
    const rig = await trackerOn(profile);
    const issue = await rig.stage.createIssue({ ...APP, body: { title: 'one' } });
    const number = String(issue.number);

    const milestone = await rig.want('issue.milestone', { number, milestone: 'no such' });
    const comment = await rig.want('issue.comment', { number: '4711', body: 'hello', mark: 'm' });

    expect([milestone.state, comment.state]).toEqual(['refused', 'refused']);
    expect(rig.written).toEqual([]);
  });

  it('credentials in a mirror address: the action tells them apart from the address, which every server takes', async () => {
    const { rig, repo, wishes } = await rigOn(profile, sandboxes);
    const [, wish = {}] = wishes.find(([action]) => action === 'push_mirror.ensure') ?? [];
    const tracker = await trackerOn(profile);
    const address = `http://bot:hunter22@127.0.0.1:${tracker.sandbox.port}/mirrors/app.git`;

    const inAddress = await failure(
      tracker.stage.createPushMirror({ ...APP, body: { remote_address: address, interval: '8h' } }),
    );
    const made = await rig.want('push_mirror.ensure', wish, { repo });

    expect(inAddress).toEqual(profile === 'gitea' ? null : expect.objectContaining({ kind: 'refused', status: 400 }));
    expect(JSON.stringify(inAddress)).not.toContain('hunter22');
    expect(made.state).toBe('done');
  });

  it('a permission that does not tell the truth: what a team grants by units counts, and nothing else', async () => {
    const { stage, repo } = await trackerOn(profile);
    const units = { 'repo.code': 'read', 'repo.issues': 'write' };
    const team = await stage.createTeam({
      org: 'acme',
      body: {
        name: 'triage',
        permission: 'write',
        units: Object.keys(units),
        units_map: units,
        includes_all_repositories: true,
      },
    });
    await stage.addTeamMember({ id: team.id ?? '', username: 'ann' });
    const ann = await stage.getUser({ username: 'ann' });

    const told = await stage.getCollaboratorPermission({ ...APP, collaborator: 'ann' });
    const rights = await readActorRights(stage, repo, { login: 'ann', id: ann.id ?? '' });

    expect(told.permission).toBe(profile === 'gitea' ? 'read' : 'write');
    expect(rights).toMatchObject({ level: 'read', units: { issues: 'write', code: 'read' } });
  });

  it('a permission that does not tell the truth: the bot knows its own rights by its teams', async () => {
    const rig = await trackerOn(profile);
    const units = { 'repo.code': 'read', 'repo.issues': 'write' };
    const team = await rig.stage.createTeam({
      org: 'acme',
      body: {
        name: 'triage',
        permission: 'write',
        units: Object.keys(units),
        units_map: units,
        includes_all_repositories: true,
      },
    });
    await rig.stage.addTeamMember({ id: team.id ?? '', username: 'ben' });
    const { client, capabilities } = await connectForge(await rig.user('ben'));

    const rights = await readOwnRights(client, capabilities, 'acme', false);

    expect(rights).toMatchObject({
      level: 'read',
      units: { issues: 'write', code: 'read' },
      isKnown: true,
      reason: 'has write on issues at most',
    });
  });
});

describe('integration/traps of a bare server', () => {
  it('missing headers: the client reads answers that bear none of them', async () => {
    const server = await startScriptedServer((request, reply) => {
      reply.sendDate = false;
      const isList = request.url.includes('/labels');
      reply.end(isList ? (request.url.includes('page=1') ? '[{"id":1,"name":"bug"}]' : '[]') : '{"version":"1.27.0"}');
    });
    servers.push(server);
    const client = createForgeClient({
      baseUrl: `${server.url}/api/v1`,
      auth: { type: 'token', token: new Secret('t') },
      ratePerS: 1000,
    });
    const replies: ReplyInfo[] = [];

    const version = await client.getVersion({}, { onReply: (info) => void replies.push(info) });
    const labels = await listAll(client, 'listLabels', APP);

    expect(version).toMatchObject({ version: '1.27.0' });
    expect(replies).toEqual([{ status: 200, totalCount: null, listed: null, date: null }]);
    expect(labels.map(({ name }) => name)).toEqual(['bug']);
  });

  it('missing headers: a refusal, a redirect and a 429 that bear none are told for what they are', async () => {
    const answers = [
      { status: 404, body: 'null' },
      { status: 301, body: '' },
      { status: 429, body: '' },
    ];
    const server = await startScriptedServer((_request, reply) => {
      const { status, body } = answers.shift() ?? { status: 500, body: '' };
      reply.sendDate = false;
      reply.statusCode = status;
      reply.end(body);
    });
    servers.push(server);
    const client = createForgeClient({
      baseUrl: `${server.url}/api/v1`,
      auth: { type: 'token', token: new Secret('t') },
      ratePerS: 1000,
    });

    const kinds = [];
    for (let n = 0; n < 3; n += 1) kinds.push(await failure(client.getLabel({ ...APP, id: '1' })));

    expect(kinds).toMatchObject([{ kind: 'refused' }, { kind: 'moved' }, { kind: 'rate-limited' }]);
    expect((kinds[1] as { location?: string }).location).toBeUndefined();
  });
});
