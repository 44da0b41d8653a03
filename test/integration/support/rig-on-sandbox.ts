import type { EventRepository } from '../../../src/core/event.js';
import type { JsonObject } from '../../../src/core/json.js';
import { Secret } from '../../../src/core/secret.js';
import { connectForge } from '../../../src/forge/connected-forges.js';
import { createForgeClient } from '../../../src/forge/http/create-forge-client.js';
import { makeOrganization } from '../../../src/sandbox/resources/organization.js';
import { makeRelease } from '../../../src/sandbox/resources/release.js';
import { makeRepository } from '../../../src/sandbox/resources/repository.js';
import { makeUser } from '../../../src/sandbox/resources/user.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { EffectRig } from '../../builders/effect-rig.js';

/** The actions over HTTP against the sandbox, through the real client. */
export async function rigOn(profile: 'gitea' | 'forgejo' | 'core', open: Sandbox[]) {
  const sandbox = await startSandbox({ profile });
  open.push(sandbox);
  const { world, admin } = sandbox.parts;
  const org = makeOrganization(world, { name: 'acme', owner: admin });
  makeUser(world, { login: 'ann', password: 'ann:pass' });
  const app = makeRepository(world, admin, { owner: org, name: 'app', files: { 'README.md': '# app\n' } });
  const release = makeRelease(world, admin, app, {
    tagName: 'v1.4.0',
    target: 'main',
    title: 'One',
    note: 'old',
    isDraft: false,
    isPrerelease: true,
  });
  const variable = {
    id: world.nextId('variable'),
    ownerId: org.id,
    repoId: 0n,
    name: 'KEPT',
    data: 'old',
    description: 'by ann',
  };
  world.variables.set(variable.id, variable);
  const client = createForgeClient({
    baseUrl: sandbox.apiUrl,
    auth: { type: 'basic', username: admin.login, password: new Secret(sandbox.admin.password) },
    ratePerS: 1000,
  });
  const { client: learning, capabilities } = await connectForge(client, { username: admin.login });
  const rig = new EffectRig({ access: { client: learning, offers: (name) => capabilities.offers(name) } });
  rig.settings.mirrorHosts = [`http://127.0.0.1:${sandbox.port}`];
  const repo: EventRepository = {
    id: String(app.id),
    owner: 'acme',
    name: 'app',
    full_name: 'acme/app',
    private: false,
  };
  // Profile core finds no repository by its number.
  rig.named.push(repo.id);
  const wishes: Array<[string, JsonObject]> = [
    ['branch.create', { new_branch_name: 'release/1.4', old_ref_name: 'main' }],
    ['repo.create_for_user', { username: 'ann', name: 'tools', private: true }],
    ['user_settings.update', { full_name: 'The Bot', hide_email: true }],
    [
      'push_mirror.ensure',
      {
        remote_address: `http://127.0.0.1:${sandbox.port}/mirrors/app.git`,
        remote_username: 'bot',
        remote_password: { $secret: 'mirror_token' },
        interval: '8h',
      },
    ],
    ['release.update', { id: String(release.id), body: 'What is new\r\n', prerelease: false }],
    ['label.ensure', { name: 'kind/bug', color: '#D73A4A', exclusive: true }],
    ['org_variable.set', { name: 'kept', value: 'a\r\nb' }],
    ['milestone.ensure', { title: '1.5', due_on: '2027-01-31' }],
    ['user_variable.create', { name: 'bot_config', value: 'blue' }],
  ];
  return { rig, repo, wishes, world, app, admin, sandbox };
}
