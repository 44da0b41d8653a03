import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { sentenceOf } from '../../test/builders/reasons.js';
import type { JsonObject } from '../core/json.js';
import type { MailSettings } from '../core/message.js';
import { Secret } from '../core/secret.js';
import { actions } from './index.js';

const ADDRESS = 'https://chat.example.org/hooks/canary-3b1f';
const MESSAGE = { to: { $secret: 'dev_chat' }, format: 'slack', text: 'main is red' };

function aRig(address = ADDRESS): EffectRig {
  const rig = new EffectRig();
  rig.settings.secrets['dev_chat'] = new Secret(address);
  rig.settings.secrets['chat_key'] = new Secret('canary-key-77aa');
  return rig;
}

describe('actions/notify', () => {
  it('sends one message for each cause, equal ones too, and reads nothing of the forge', async () => {
    const rig = aRig();

    const first = await rig.want('notify', MESSAGE);
    const second = await rig.want('notify', MESSAGE);

    expect([first.state, second.state]).toEqual(['done', 'done']);
    expect(rig.messenger.taken.map(({ format, text, facts, to }) => [format, text, facts, to.reveal()])).toEqual([
      ['slack', 'main is red', { org: 'acme' }, ADDRESS],
      ['slack', 'main is red', { org: 'acme' }, ADDRESS],
    ]);
    expect(new Set(rig.messenger.taken.map(({ key }) => key)).size).toBe(2);
    expect(rig.written).toEqual([]);
  });

  it('stores the attempt before the call, and neither address nor key', async () => {
    const rig = aRig();
    const { id } = await rig.want('notify', { ...MESSAGE, format: 'webhook', credential: { $secret: 'chat_key' } });

    const attempts = await rig.journal.attemptsOfIntent(id);

    expect(attempts).toMatchObject([{ operation: 'sendMessage', outcome: 'done' }]);
    expect(rig.messenger.taken[0]?.credential?.reveal()).toBe('canary-key-77aa');
    expect(JSON.stringify([attempts, await rig.journal.intent(id)])).not.toContain('canary');
  });

  it('says in a dry run what it would send, and where is not told', async () => {
    const rig = aRig();

    const intent = await rig.want('notify', MESSAGE, { mode: 'dry-run' });

    expect(intent.state).toBe('suppressed');
    expect(intent.result).toMatchObject({
      would_send: { operation: 'sendMessage', arguments: { text: 'main is red', to: '[secret]' } },
    });
    expect(rig.messenger.taken).toEqual([]);
  });

  describe('a lost answer', () => {
    it.each([true, false])(
      'ends it as done and unconfirmed, is counted, and asks nobody (taken: %s)',
      async (taken) => {
        const rig = aRig();
        rig.messenger.failNext('unknown', taken);
        const id = await rig.plan('notify', MESSAGE);

        await rig.attempt(id);
        const intent = await rig.journal.intent(id);

        expect([intent?.state, intent?.reason?.code]).toEqual(['done', 'notify.unconfirmed']);
        expect([rig.messenger.taken.length, rig.unconfirmed, rig.alerts]).toEqual([taken ? 1 : 0, ['notify'], []]);
      },
    );

    it('sends it again where the rule says so, with the same key', async () => {
      const rig = aRig();
      rig.messenger.failNext('unknown', true);
      const { id } = await rig.want('notify', { ...MESSAGE, again: true });
      expect((await rig.journal.intent(id))?.state).toBe('planned');
      rig.clock.advance(60_000);

      expect((await rig.work(id)).state).toBe('done');
      expect(new Set(rig.messenger.taken.map(({ key }) => key)).size).toBe(1);
      expect([rig.messenger.taken.length, rig.unconfirmed]).toEqual([2, []]);
    });

    it('sends it to Matrix again by the same transaction id, and nobody need say so', async () => {
      const rig = aRig();
      rig.messenger.failNext('unknown', true);
      const { id } = await rig.want('notify', { ...MESSAGE, format: 'matrix', credential: { $secret: 'chat_key' } });
      rig.clock.advance(60_000);

      expect((await rig.work(id)).state).toBe('done');
      expect(rig.messenger.taken.map(({ format }) => format)).toEqual(['matrix', 'matrix']);
      expect([new Set(rig.messenger.taken.map(({ key }) => key)).size, rig.unconfirmed]).toEqual([1, []]);
    });

    it('is what a death between the commit and the call looks like, and nothing is sent then', async () => {
      const rig = aRig();
      const id = await rig.plan('notify', MESSAGE);
      const [claim] = await rig.effects.claim([id]);
      await rig.journal.markSent(id, claim?.epoch ?? 0, {
        id: 'attempt-1',
        operation: 'sendMessage',
        requestHash: '',
        snapshot: null,
        budgets: [],
      });

      rig.clock.advance(60_000);
      await rig.journal.reclaimExpired();
      const intent = await rig.recover(id);

      expect([intent.state, intent.reason?.code, rig.messenger.taken.length]).toEqual([
        'done',
        'notify.unconfirmed',
        0,
      ]);
    });
  });

  it('tries again after what never reached the service, stepping aside', async () => {
    const rig = aRig();
    rig.messenger.failNext('not-sent');
    const { id, state } = await rig.want('notify', MESSAGE);
    expect(state).toBe('planned');
    rig.clock.advance(60_000);

    expect((await rig.work(id)).state).toBe('done');
    expect(rig.messenger.taken.length).toBe(1);
  });

  it.each([
    ['another host', 'https://evil.example/hooks/canary', 'orgs[].notify_hosts'],
    ['user info', 'https://canary:x@chat.example.org/hooks/x', 'user name or password'],
    ['plain http', 'http://chat.example.org/hooks/canary', 'https'],
    ['a raw address', 'https://10.0.0.1/hooks/canary', 'raw address'],
    ['a name inside', 'https://chat.internal/hooks/canary', 'private name'],
    ['no path', 'https://chat.example.org/', 'no path'],
    ['no address', 'canary', 'https://HOST/PATH'],
  ])('refuses %s, and the reason does not tell the address', async (_, address, why) => {
    const rig = aRig(address);

    const intent = await rig.want('notify', MESSAGE);

    expect([intent.state, intent.reason?.code]).toEqual(['refused', 'cannot.notify']);
    expect(sentenceOf(intent.reason)).toContain(why);
    expect(JSON.stringify(intent) + sentenceOf(intent.reason)).not.toContain('canary');
    expect([rig.messenger.taken.length, (await rig.journal.attemptsOfIntent(intent.id)).length]).toEqual([0, 0]);
  });

  describe('mail', () => {
    const MAIL: MailSettings = {
      host: 'smtp.example.org',
      port: 587,
      secure: false,
      allowsPlain: false,
      from: 'bot@example.org',
      login: { user: 'bot', password: new Secret('canary-pass') },
      caFile: null,
      recipients: ['example.org', 'carl@other.example'],
    };
    const mailRig = (to: string, mail: MailSettings | null = MAIL): EffectRig => {
      const rig = aRig(to);
      rig.settings.notifyHosts.push('smtp.example.org:587');
      Object.assign(rig.settings, { mail, addressesOf: async () => ['203.0.113.7'] });
      return rig;
    };
    const LETTER = { ...MESSAGE, format: 'mail' };

    it('goes to the recipients of the secret by the server of the organization, and names none in the store', async () => {
      const rig = mailRig('ann@example.org, CARL@other.example');

      const intent = await rig.want('notify', LETTER);

      expect(intent.state).toBe('done');
      expect(rig.messenger.taken).toMatchObject([{ format: 'mail', server: { host: 'smtp.example.org', port: 587 } }]);
      expect(rig.messenger.addresses).toEqual([['203.0.113.7']]);
      expect(JSON.stringify([intent, await rig.journal.attemptsOfIntent(intent.id)])).not.toMatch(/canary|ann@/);
    });

    it('says how many recipients the server refused', async () => {
      const rig = mailRig('ann@example.org');
      rig.messenger.refusedRecipients = 2;

      expect((await rig.want('notify', LETTER)).reason).toMatchObject({ params: { refusedRecipients: 2 } });
    });

    it('is sent at most once where the answer is lost, unless the rule says otherwise', async () => {
      const rig = mailRig('ann@example.org');
      rig.messenger.failNext('unknown', true);

      const id = await rig.plan('notify', LETTER);
      await rig.attempt(id);

      expect((await rig.journal.intent(id))?.reason?.code).toBe('notify.unconfirmed');
      expect([rig.messenger.taken.length, rig.unconfirmed]).toEqual([1, ['notify']]);
    });

    it.each<[string, string, string]>([
      ['a domain that is not listed', 'ann@canary.example', 'orgs[].mail.recipients'],
      ['one of several', 'ann@example.org canary@other.example', 'orgs[].mail.recipients'],
      ['a domain below a listed one', 'canary@sub.example.org', 'orgs[].mail.recipients'],
      ['a header', 'ann@example.org\r\nBcc:canary@evil.example', 'no plain address'],
      ['a name', '"canary" <ann@example.org>', 'no plain address'],
      ['nobody', ' , ', 'names no address'],
      ['too many', Array.from({ length: 21 }, (_, n) => `canary${n}@example.org`).join(','), 'more than 20'],
    ])('refuses %s', async (_, to, why) => {
      const rig = mailRig(to);

      const intent = await rig.want('notify', LETTER);

      expect([intent.state, intent.reason?.code, rig.messenger.taken.length]).toEqual(['refused', 'cannot.mail', 0]);
      expect(sentenceOf(intent.reason)).toContain(why);
      expect(JSON.stringify(intent) + sentenceOf(intent.reason)).not.toContain('canary');
    });

    it('refuses without a server, a server that is not listed, and one that leads to the machine itself', async () => {
      const to = 'ann@example.org';
      const reasonOf = async (rig: EffectRig): Promise<unknown> =>
        (await rig.want('notify', LETTER)).reason?.params['why'];
      const inside = mailRig(to);
      Object.assign(inside.settings, { addressesOf: async () => ['127.0.0.1'] });

      expect(await reasonOf(mailRig(to, null))).toBe('no-server');
      expect(await reasonOf(mailRig(to, { ...MAIL, port: 25 }))).toBe('unlisted');
      expect(await reasonOf(inside)).toBe('leads-inside');
    });
  });

  it('refuses everything where no host is listed', async () => {
    const rig = aRig();
    rig.settings.notifyHosts.splice(0);

    expect(await rig.want('notify', MESSAGE)).toMatchObject({
      state: 'refused',
      reason: { params: { why: 'no-hosts' } },
    });
  });

  it('refuses a listed name that leads to the machine itself, and connects to no other address than it looked at', async () => {
    const rig = aRig();
    let resolved = ['169.254.169.254'];
    Object.assign(rig.settings, { addressesOf: async () => resolved });

    expect((await rig.want('notify', MESSAGE)).reason).toMatchObject({ params: { why: 'leads-inside' } });
    resolved = ['203.0.113.7'];
    await rig.want('notify', MESSAGE);

    expect(rig.messenger.addresses).toEqual([['203.0.113.7']]);
  });

  it('carries text of a private repository only where the operator allows it', async () => {
    const rig = aRig();
    const limits = { merges: true, approveAndMerge: true, privateMirrors: true, privateReads: false };
    Object.assign(rig.settings, { limits });
    const repo = { id: '8', owner: 'acme', name: 'inner', full_name: 'acme/inner', private: true };
    rig.named.push('8');

    expect(await rig.want('notify', MESSAGE, { repo })).toMatchObject({
      state: 'refused',
      result: { code: 'limit.private_reads' },
    });
    limits.privateReads = true;
    expect((await rig.want('notify', MESSAGE, { repo })).state).toBe('done');
  });

  it('takes a credential for a webhook and Matrix, and only there', () => {
    const unfit = (inputs: JsonObject, notifyHosts?: readonly string[]): string | undefined => {
      const written = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, { value }]));
      return actions.get('notify')?.unfit?.(written, notifyHosts ? { notifyHosts } : {})?.reason.code;
    };

    for (const format of ['webhook', 'matrix']) expect(unfit({ ...MESSAGE, format })).toBe('params.lacks');
    expect(unfit({ ...MESSAGE, credential: { $secret: 'k' } })).toBe('params.needs');
    expect([unfit(MESSAGE), unfit(MESSAGE, ['h']), unfit(MESSAGE, [])]).toEqual([
      undefined,
      undefined,
      'cannot.notify',
    ]);
  });
});
