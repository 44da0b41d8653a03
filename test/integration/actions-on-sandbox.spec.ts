import { afterEach, describe, expect, it } from '@jest/globals';
import { renameRepository } from '../../src/sandbox/resources/repository-edit.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { rigOn } from './support/rig-on-sandbox.js';

const open: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
});

describe('integration/actions-on-sandbox', () => {
  it.each(['gitea', 'forgejo', 'core'] as const)(
    'nine actions change what is absent, once, and find it as wanted after that (%s)',
    async (profile) => {
      const { rig, repo, wishes } = await rigOn(profile, open);

      const ends: Array<[string, string, string]> = [];
      for (const [action, params] of wishes) {
        const first = await rig.want(action, params, { repo });
        const second = await rig.want(action, params, { repo });
        ends.push([
          action,
          first.state === 'done' ? 'done' : `${first.state}: ${first.reason}`,
          second.state === 'unchanged' ? 'unchanged' : `${second.state}: ${second.reason}`,
        ]);
      }

      expect(ends).toEqual(wishes.map(([action]) => [action, 'done', 'unchanged']));
    },
  );

  it('a dry run changes nothing on the forge', async () => {
    const { rig, repo, wishes, sandbox } = await rigOn('gitea', open);
    const values = (): string[] =>
      [...sandbox.parts.world.variables.values()].map(({ name, data }) => `${name}=${data}`);
    const before = values();

    const states = [];
    for (const [action, params] of wishes)
      states.push((await rig.want(action, params, { repo, mode: 'dry-run' })).state);

    expect(new Set(states)).toEqual(new Set(['suppressed']));
    expect(values()).toEqual(before);
    const again = [];
    for (const [action, params] of wishes) again.push((await rig.want(action, params, { repo })).state);
    expect(new Set(again)).toEqual(new Set(['done']));
  });

  it('acts on a renamed repository by its number', async () => {
    const { rig, repo, world, admin, app } = await rigOn('gitea', open);
    const id = await rig.plan('label.ensure', { name: 'bug', color: '#000000' }, { repo });

    renameRepository(world, admin, app, 'application');

    expect((await rig.work(id)).state).toBe('done');
  });
});
