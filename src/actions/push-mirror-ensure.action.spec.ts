import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { EffectRig, MIRROR_PASSWORD } from '../../test/builders/effect-rig.js';
import { saying, sentenceOf } from '../../test/builders/reasons.js';

const ADDRESS = 'https://mirror.example.org/acme/app.git';
const MIRROR = {
  remote_address: ADDRESS,
  remote_username: 'bot',
  remote_password: { $secret: 'mirror_token' },
  interval: '8h',
  sync_on_commit: true,
};

function there(rig: EffectRig, over: Record<string, unknown> = {}): void {
  rig.forge.repositories.get('acme/app')?.mirrors.push({
    remote_name: 'remote_mirror_x',
    remote_address: ADDRESS,
    interval: '8h0m0s',
    sync_on_commit: true,
    last_error: '',
    ...over,
  });
}

describe('actions/push-mirror-ensure', () => {
  it('adds a mirror that is not there, with the password from the config, and nothing the second time', async () => {
    const rig = new EffectRig();

    const first = await rig.want('push_mirror.ensure', MIRROR);
    const second = await rig.want('push_mirror.ensure', MIRROR);

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect(rig.written).toEqual(['createPushMirror']);
    const body = rig.forge.writes[0]?.args['body'] as Record<string, unknown>;
    expect((body['remote_password'] as Secret).reveal()).toBe(MIRROR_PASSWORD);
    expect(body).toMatchObject({
      remote_address: ADDRESS,
      remote_username: 'bot',
      interval: '8h',
      sync_on_commit: true,
    });
    expect(body).not.toHaveProperty('private');
  });

  it('leaves a mirror deleted that a person deleted, but for policies', async () => {
    const rig = new EffectRig();
    await rig.want('push_mirror.ensure', MIRROR);
    rig.forge.repositories.get('acme/app')?.mirrors.splice(0);

    expect((await rig.want('push_mirror.ensure', MIRROR)).state).toBe('suppressed');
    expect((await rig.want('push_mirror.ensure', MIRROR, { kind: 'policy' })).state).toBe('done');
  });

  it('always sends an interval', async () => {
    const rig = new EffectRig();

    await rig.want('push_mirror.ensure', { remote_address: ADDRESS });

    expect(rig.forge.writes[0]?.args).toMatchObject({ body: { interval: '8h' } });
  });

  it.each<[string, Record<string, unknown>, Record<string, string | boolean>, string]>([
    ['the interval written another way', { interval: '8h0m0s' }, {}, 'unchanged'],
    ['without .git', { remote_address: 'https://mirror.example.org/acme/app' }, {}, 'unchanged'],
    ['host in other case', { remote_address: 'https://MIRROR.example.org/acme/app.git' }, {}, 'unchanged'],
    ['with the default port', { remote_address: 'https://mirror.example.org:443/acme/app.git' }, {}, 'unchanged'],
    ['another interval', { interval: '1h0m0s' }, {}, 'conflict'],
    ['another sync flag', { sync_on_commit: false }, {}, 'conflict'],
    ['another path', { remote_address: 'https://mirror.example.org/acme/other.git' }, {}, 'done'],
  ])('%s => %s', async (_, present, wanted, state) => {
    const rig = new EffectRig();
    there(rig, present);

    expect((await rig.want('push_mirror.ensure', { ...MIRROR, ...wanted })).state).toBe(state);
    expect(rig.written).toEqual(state === 'done' ? ['createPushMirror'] : []);
  });

  it('compares only what is wanted', async () => {
    const rig = new EffectRig();
    there(rig, { interval: '1h0m0s', sync_on_commit: false });

    expect((await rig.want('push_mirror.ensure', { remote_address: ADDRESS })).state).toBe('unchanged');
  });

  it('tells when the password changed since, which no forge can show or edit', async () => {
    const rig = new EffectRig();
    await rig.want('push_mirror.ensure', MIRROR);
    rig.settings.secrets['mirror_token'] = new Secret('another one');

    expect(await rig.want('push_mirror.ensure', MIRROR)).toMatchObject({
      state: 'conflict',
      reason: saying(expect.stringContaining('remote_password')),
    });
  });

  it.each<[string, string, string[]]>([
    ['no host is listed', ADDRESS, []],
    ['the host is not listed', 'https://evil.example/a.git', ['mirror.example.org']],
    ['credentials in the address', 'https://me:canary@mirror.example.org/a.git', ['mirror.example.org']],
    ['a loopback address that is not written out', 'http://127.0.0.1:4100/a.git', ['mirror.example.org']],
  ])('refuses without a call: %s', async (_, address, hosts) => {
    const rig = new EffectRig();
    rig.settings.mirrorHosts = hosts;

    const intent = await rig.want('push_mirror.ensure', { remote_address: address });

    expect(intent.state).toBe('refused');
    expect(sentenceOf(intent.reason)).not.toContain('canary');
    expect(rig.forge.calls).not.toContain('createPushMirror');
    expect(rig.forge.calls).not.toContain('listPushMirrors');
  });

  it('mirrors to an origin that the operator wrote out', async () => {
    const rig = new EffectRig();
    rig.settings.mirrorHosts = ['http://127.0.0.1:4100'];

    expect(
      (await rig.want('push_mirror.ensure', { remote_address: 'http://127.0.0.1:4100/mirrors/app.git' })).state,
    ).toBe('done');
  });

  it.each<[string, string[], string]>([
    ['a private address', ['10.0.0.7'], 'done'],
    ['no address', [], 'done'],
    ['loopback', ['10.0.0.7', '127.0.0.1'], 'refused'],
    ['loopback in IPv6', ['::1'], 'refused'],
    ['loopback as IPv6 writes it', ['::ffff:127.0.0.1'], 'refused'],
    ['loopback behind NAT64', ['64:ff9b::7f00:1'], 'refused'],
    ['a link-local address', ['fe80::1%eth0'], 'refused'],
    ['a metadata service', ['169.254.169.254'], 'refused'],
  ])('a listed name that leads to %s', async (_, addresses, state) => {
    const rig = new EffectRig();
    Object.assign(rig.settings, { mirrorHosts: ['svc.internal'], addressesOf: async () => addresses });

    expect((await rig.want('push_mirror.ensure', { remote_address: 'https://svc.internal/a.git' })).state).toBe(state);
    expect(rig.forge.calls.includes('createPushMirror')).toBe(state === 'done');
  });

  it.each<[string, boolean, Record<string, boolean>, string]>([
    ['private, not allowed', true, {}, 'refused'],
    ['private, said to be not allowed', true, { private: false }, 'refused'],
    ['private, allowed', true, { private: true }, 'done'],
    ['public', false, {}, 'done'],
  ])('a repository that is %s => %s', async (_, isPrivate, wanted, state) => {
    const rig = new EffectRig();
    rig.forge.addRepository('app', { private: isPrivate });

    expect((await rig.want('push_mirror.ensure', { ...MIRROR, ...wanted })).state).toBe(state);
  });

  it('looks at the visibility of now, not of the decision', async () => {
    const rig = new EffectRig();
    const id = await rig.plan('push_mirror.ensure', MIRROR);
    rig.forge.addRepository('app', { private: true });

    expect((await rig.work(id)).state).toBe('refused');
    expect(rig.written).toEqual([]);
  });

  it('refuses on core when nothing told whether the repository is private', async () => {
    const rig = new EffectRig({ profile: 'core' });

    expect(
      (
        await rig.want('push_mirror.ensure', MIRROR, {
          repo: { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app' },
        })
      ).state,
    ).toBe('refused');
  });

  it('refuses a secret that the operator did not define', async () => {
    const rig = new EffectRig();

    expect(await rig.want('push_mirror.ensure', { ...MIRROR, remote_password: { $secret: 'nope' } })).toMatchObject({
      state: 'refused',
      reason: saying(expect.stringContaining('nope')),
    });
  });

  it('writes nothing in a dry run, and hides the password in what it would send', async () => {
    const rig = new EffectRig();

    const intent = await rig.want('push_mirror.ensure', MIRROR, { mode: 'dry-run' });

    expect(intent.result).toMatchObject({
      would_send: {
        operation: 'createPushMirror',
        arguments: { body: { remote_password: '[secret]', remote_address: ADDRESS } },
      },
    });
    expect(rig.written).toEqual([]);
  });
});
