import { afterEach, describe, expect, it } from '@jest/globals';
import type { AnyAction } from '../../src/actions/define-action.js';
import { actions } from '../../src/actions/index.js';
import { ensure } from '../../src/actions/look-compare-write.js';
import { Secret } from '../../src/core/secret.js';
import { createForgeClient } from '../../src/forge/http/create-forge-client.js';
import { wrapForgeClient, type ForgeClient } from '../../src/forge/forge-client.js';
import { isWrite } from '../../src/forge/operations.js';
import type { ProfileName } from '../../src/sandbox/profiles.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';

let sandbox: Sandbox | undefined;
afterEach(async () => {
  await sandbox?.close();
  sandbox = undefined;
});

const place = { owner: 'admin', repo: 'app' };

/** A server of this kind and zone, with what was written to it. */
async function serverIn(profile: ProfileName, timeZone: string): Promise<{ forge: ForgeClient; written: string[] }> {
  sandbox = await startSandbox({ profile, timeZone, adminPassword: 'p' });
  const client = createForgeClient({
    baseUrl: sandbox.apiUrl,
    auth: { type: 'basic', username: 'admin', password: new Secret('p') },
    ratePerS: 1000,
  });
  await client.adminCreateRepo({ username: 'admin', body: { name: 'app' } });
  const written: string[] = [];
  const forge = wrapForgeClient(client, (name, next, args, options) => {
    if (isWrite(name)) written.push(name);
    return next(args, options);
  });
  return { forge, written };
}

async function want(forge: ForgeClient, due_on: string): Promise<void> {
  await ensure(
    actions.get('milestone.ensure') as AnyAction,
    {
      target: { kind: 'repository', owner: 'admin', name: 'app' },
      forge,
      recall: () => Promise.resolve(null),
      lastMade: () => Promise.resolve(null),
      remember: () => undefined,
      mark: null,
    } as never,
    { title: '1.4', due_on } as never,
  );
}

describe('due days of milestones, on servers in other zones', () => {
  it.each<[ProfileName, string, string]>([
    ['gitea', 'Europe/Berlin', '2027-01-31T23:59:59Z'],
    ['gitea', 'Pacific/Auckland', '2027-01-31'],
    ['gitea@1.26', 'America/New_York', '2027-01-31T00:00:00Z'],
    ['gitea@1.26', 'Pacific/Kiritimati', '2027-01-31T23:30:00-10:00'],
    ['forgejo', 'Pacific/Auckland', '2027-01-31'],
    ['forgejo', 'Europe/Berlin', '2027-01-31T23:59:59Z'],
    ['forgejo', 'Pacific/Pago_Pago', '2027-01-31T00:00:00Z'],
  ])('%s in %s: %s is written once, new and changed, and people see 31 January', async (profile, zone, due) => {
    const { forge, written } = await serverIn(profile, zone);
    await want(forge, due);
    await want(forge, due);
    const [made] = await forge.listMilestones(place);
    expect([written, made?.due_on?.slice(0, 10)]).toEqual([['createMilestone'], '2027-01-31']);

    await forge.updateMilestone({ ...place, id: made?.id ?? '', body: { due_on: '2027-03-03T12:00:00Z' } });
    written.splice(0);
    await want(forge, due);
    await want(forge, due);

    const [changed] = await forge.listMilestones(place);
    expect([written, changed?.due_on?.slice(0, 10)]).toEqual([['updateMilestone'], '2027-01-31']);
  });
});
