import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../core/secret.js';
import type { AccessToken } from '../../core/objects/accounts.js';
import type { Hook } from '../../core/objects/repositories.js';
import type { ServerAccess } from '../../forge/server-access.js';
import { isFinding, type CheckResult } from './check.js';
import { examineDeliveries, hostWord, type DeliveryFacts } from './examine-deliveries.js';
import { seenHook, type HooksUnseen } from '../../forge/org-access.js';
import { examineHook, unseenHooks } from './examine-hook.js';
import { examinePolls, examineServer, examineSlashes } from './examine-server.js';
import { examineToken, type TokenFacts } from './examine-token.js';
import { hidesAuthorization, hostListSections, type ServerKind } from './versions.js';

const URL = 'https://bot.example.org/webhooks/acme';
const GITEA: ServerKind = { product: 'gitea', version: '1.27.0-rc0' };
const NOW = new Date('2026-11-20T12:00:00Z');

/** What was found: `state check`, without what is fine. */
const findings = (looked: readonly CheckResult[]): string[] =>
  looked.filter(isFinding).map(({ state, check }) => `${state} ${check}`);
/** A finding that does not say what to do helps nobody. */
const helpless = (looked: readonly CheckResult[]): CheckResult[] =>
  looked.filter((one) => isFinding(one) && one.fix.length === 0);

function aHook(given: Partial<Hook> = {}, config: Record<string, string> = {}): Hook {
  return {
    id: '5',
    type: 'gitea',
    active: true,
    branch_filter: '',
    events: ['push', 'release'],
    authorization_header: new Secret(''),
    config: { url: URL, content_type: 'json', ...config },
    ...given,
  };
}

describe('housekeeping/doctor/examine-hook', () => {
  const wanted = { id: 'acme', url: URL, events: ['push'], authorizations: [] as string[] };
  const look = (hooks: Hook[], given: Partial<typeof wanted> = {}, server = GITEA): CheckResult[] =>
    examineHook(
      hooks.map((hook) =>
        seenHook(hook, [{ id: 'acme', authorizations: (given.authorizations ?? []).map((one) => new Secret(one)) }]),
      ),
      { ...wanted, ...given },
      server,
      'https://git.example.org/org/acme/settings/hooks',
      'forgehand hook install --org acme',
    );

  it('finds nothing wrong with a webhook as it should be', () => {
    expect(look([aHook()]).map(({ state }) => state)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok']);
  });

  it.each<[string, Hook[], string[]]>([
    ['none', [], ['problem hook.there']],
    ['one of somebody else', [aHook({}, { url: 'https://ci.example.org/hook' })], ['problem hook.there']],
    ['two', [aHook(), aHook({ id: '6' })], ['warning hook.there']],
    ['switched off', [aHook({ active: false })], ['problem hook.active']],
    ['at the old address', [aHook({}, { url: 'http://10.0.0.9:8080/webhooks/acme' })], ['problem hook.address']],
    ['of a chat', [aHook({ type: 'slack' })], ['problem hook.type']],
    ['a form', [aHook({}, { content_type: 'form' })], ['warning hook.content_type']],
    ['too few events', [aHook({ events: ['release'] })], ['problem hook.events']],
    ['one branch', [aHook({ branch_filter: 'main' })], ['warning hook.branch_filter']],
    [
      'everything',
      [aHook({ active: false, events: [], branch_filter: 'x' })],
      ['problem hook.active', 'problem hook.events', 'warning hook.branch_filter'],
    ],
  ])('finds what is wrong, and says what to do: %s', (_what, hooks, expected) => {
    const looked = look(hooks);

    expect(findings(looked)).toEqual(expected);
    expect(helpless(looked)).toEqual([]);
    expect(
      looked
        .filter(isFinding)
        .every(({ fix }) =>
          fix.some((step) => /open https:\/\/git\.example\.org\/org\/acme\/settings\/hooks/.test(step)),
        ),
    ).toBe(true);
  });

  it('does not mind a filter where no rule asks for what it filters', () => {
    expect(findings(look([aHook({ branch_filter: 'main' })], { events: ['release'] }))).toEqual([]);
  });

  it('takes the reviews of Forgejo for what they are', () => {
    const hook = aHook({
      events: ['pull_request_review_approved', 'pull_request_review_rejected', 'pull_request_review_comment'],
    });

    expect(findings(look([hook], { events: ['pull_request_review'] }))).toEqual([]);
  });

  it.each<[string, string, ServerKind, string[]]>([
    ['the one of the config', 'Bearer a', GITEA, []],
    ['another', 'Bearer b', GITEA, ['problem hook.authorization']],
    ['one that is not shown', '', { product: 'gitea', version: '1.28.0' }, []],
  ])('compares the Authorization header: %s', (_what, header, server, expected) => {
    const looked = look(
      [aHook({ authorization_header: new Secret(header) })],
      { authorizations: ['Bearer a'] },
      server,
    );

    expect(findings(looked)).toEqual(expected);
    expect(JSON.stringify(looked)).not.toContain('Bearer');
  });

  it.each<[HooksUnseen, string]>([
    ['switched-off', 'problem'],
    ['not-owner', 'note'],
    ['scope', 'note'],
    ['not-offered', 'note'],
    ['unreadable', 'note'],
  ])('says what to do where webhooks are not shown: %s', (why, state) => {
    const looked = unseenHooks(why, 'acme', 'PAGE', 'TEAMS');

    expect(looked.state).toBe(state);
    expect(looked.fix.length).toBeGreaterThan(0);
  });
});

describe('housekeeping/doctor/examine-deliveries', () => {
  const facts: DeliveryFacts = { url: URL, isSent: true, lastDelivery: NOW, lostLately: 0, refused: {} };
  const look = (given: Partial<DeliveryFacts>, server = GITEA): CheckResult[] =>
    examineDeliveries({ ...facts, ...given }, server, 'PAGE', 'RECREATE');

  it.each<[string, Partial<DeliveryFacts>, string[]]>([
    ['they come', {}, []],
    ['none came yet, from outside', { lastDelivery: null }, []],
    [
      'none came, to a private address',
      { lastDelivery: null, url: 'http://10.1.2.3/webhooks/acme' },
      ['warning delivery.arrives'],
    ],
    ['none came, and none is sent', { lastDelivery: null, isSent: false, url: 'http://127.0.0.1/webhooks/acme' }, []],
    ['they came, and then polling found what should have come', { lostLately: 2 }, ['problem delivery.arrives']],
    ['some bear no signature', { refused: { not_authentic: 3, too_large: 1 } }, ['warning delivery.authentic']],
  ])('tells whether deliveries reach us: %s', (_what, given, expected) => {
    const looked = look(given);

    expect(findings(looked)).toEqual(expected);
    expect(helpless(looked)).toEqual([]);
  });

  it.each<[ServerKind, RegExp]>([
    [GITEA, /app\.ini \[webhook\] ALLOWED_HOST_LIST = external,private, then/],
    [
      { product: 'forgejo', version: '15.0.3+gitea-1.22.0' },
      /app\.ini \[webhook\] ALLOWED_HOST_LIST = external,private, then/,
    ],
    [{ product: 'gitea', version: '1.27.1' }, /app\.ini \[security\] ALLOWED_HOST_LIST = external,private, then/],
    [{ product: 'unknown', version: null }, /app\.ini \[webhook\] .* \(older: \[security\] .*\), then/],
  ])('names the setting of the server: %j', (server, line) => {
    expect(look({ lastDelivery: null, url: 'http://bot.internal/webhooks/acme' }, server)[0]?.fix.join('\n')).toMatch(
      line,
    );
  });

  it.each([
    ['http://localhost:8080/x', 'loopback'],
    ['http://127.9.9.9/x', 'loopback'],
    ['http://[::1]:8080/x', 'loopback'],
    ['http://172.20.0.5/x', 'private'],
    ['http://192.168.1.2/x', 'private'],
    ['http://[fd00::1]/x', 'private'],
    ['http://forgehand:8080/x', 'private'],
    ['http://172.40.0.5/x', 'external'],
    ['https://bot.example.org/x', 'external'],
  ])('knows how servers class an address: %s => %s', (url, word) => {
    expect(hostWord(url)).toBe(word);
  });
});

describe('housekeeping/doctor/examine-token', () => {
  const token = (given: Partial<AccessToken>): AccessToken => ({
    id: '1',
    name: 'bot',
    created_at: '2026-10-01T00:00:00Z',
    last_used_at: '2026-11-20T00:00:00Z',
    ...given,
  });
  const facts: TokenFacts = {
    signsInBy: 'token',
    scopes: ['write:issue', 'read:user'],
    needed: ['read:user', 'write:issue'],
    useful: ['read:user', 'write:issue', 'write:organization'],
    tokens: { own: token({}), others: [] },
    login: 'forgehand',
    isSiteAdmin: false,
    needsSiteAdmin: false,
  };
  const look = (given: Partial<TokenFacts>): CheckResult[] =>
    examineToken({ ...facts, ...given }, NOW, 'https://git.example.org/user/settings/applications');

  it.each<[string, Partial<TokenFacts>, string[]]>([
    ['as it should be', {}, []],
    ['may not enough', { scopes: ['read:issue', 'read:user'] }, ['problem token.scopes']],
    ['may another thing too', { scopes: ['write:issue', 'read:user', 'read:package'] }, ['warning token.wide']],
    ['may install the webhook', { scopes: ['write:issue', 'read:user', 'write:organization'] }, []],
    ['may write where reading is enough', { scopes: ['write:issue', 'write:user'] }, ['warning token.wide']],
    ['may everything', { scopes: ['all'] }, ['warning token.wide']],
    ['nobody tells', { scopes: null, tokens: null }, []],
    ['is old', { tokens: { own: token({ created_at: '2025-01-01T00:00:00Z' }), others: [] } }, ['warning token.age']],
    [
      'has no times (Forgejo)',
      {
        tokens: {
          own: token({ created_at: null, last_used_at: null }),
          others: [token({ created_at: null, last_used_at: null })],
        },
      },
      [],
    ],
    [
      'has one beside it that is not used any more',
      { tokens: { own: token({}), others: [token({ id: '2', last_used_at: '2026-06-01T00:00:00Z' })] } },
      ['warning token.others'],
    ],
    [
      'has one beside it that never was',
      {
        tokens: {
          own: token({}),
          others: [token({ id: '2', created_at: '2026-01-01T00:00:00Z', last_used_at: null })],
        },
      },
      ['warning token.others'],
    ],
    ['has one beside it in use', { tokens: { own: token({}), others: [token({ id: '2' })] } }, []],
    ['of an administrator of the site', { isSiteAdmin: true }, ['warning account.admin']],
    ['of an administrator, which a rule needs', { isSiteAdmin: true, needsSiteAdmin: true }, []],
    ['a password in its place', { signsInBy: 'password', scopes: null, tokens: null }, ['warning token.kind']],
  ])('finds what is wrong, and says what to do: %s', (_what, given, expected) => {
    const looked = look(given);

    expect(findings(looked)).toEqual(expected);
    expect(helpless(looked)).toEqual([]);
  });
});

describe('housekeeping/doctor/examine-server', () => {
  const footing: ServerAccess = {
    product: 'gitea',
    version: '1.27.0',
    self: { id: '7', login: 'forgehand' },
    isSiteAdmin: false,
    clockAheadMs: 400,
    pages: { default: 30, most: 50 },
    scopes: null,
  };

  it.each<[string, Partial<ServerAccess>, string | null, string[]]>([
    ['all is well', {}, null, []],
    ['its clock is ahead', { clockAheadMs: 61_000 }, null, ['warning forge.clock']],
    ['its clock is behind', { clockAheadMs: -61_000 }, null, ['warning forge.clock']],
    ['it does not tell its time', { clockAheadMs: null }, null, []],
    ['it does not say who we are', { self: null }, null, ['problem account.self']],
    ['it shows no version', { product: 'unknown', version: null }, null, ['warning forge.reached']],
    ['it is away', {}, 'getSelf: the connection was refused', ['problem forge.reached']],
  ])('finds what is wrong, and says what to do: %s', (_what, given, failure, expected) => {
    const looked = examineServer({ ...footing, ...given }, failure, 'https://git.example.org/api/v1');

    expect(findings(looked)).toEqual(expected);
    expect(helpless(looked)).toEqual([]);
  });

  it('says what to write where a proxy loses slashes, and nothing where it was not asked', () => {
    expect(findings(examineSlashes(true))).toEqual(['problem forge.slash']);
    expect(helpless(examineSlashes(true))).toEqual([]);
    expect(findings(examineSlashes(false))).toEqual([]);
    expect(examineSlashes(null)).toEqual([]);
  });

  it('finds feeds that are read too seldom, and says what to raise', () => {
    const polls = {
      wantedS: 60,
      organizations: 1000,
      neededPerMin: 1250,
      leftPerMin: 276,
      ratePerS: 43,
    };
    const of = (everyS: number) => examinePolls('main', { ...polls, everyS, stretch: everyS / 60 });

    expect(findings(of(200))).toEqual(['warning forge.polls']);
    expect(findings(of(301))).toEqual(['problem forge.polls']);
    expect(of(200)[0]).toMatchObject({
      said: 'feeds of main are read every 200 s, wanted 60: 1,000 organizations need 1,250 calls a minute, 276 are left',
      fix: ['raise forges[].rate_per_s (43 would do, if the forge bears it), or feed.every_s'],
    });
    expect([...of(60), ...examinePolls('main', null)]).toEqual([]);
  });

  it('names the address that shows no version', () => {
    const [look] = examineServer({ ...footing, product: 'unknown' }, null, 'https://git.example.org/acme/api/v1');

    expect(look?.said).toContain('https://git.example.org/acme/api/v1/version shows no version');
  });

  it('tells what it was before it went away', () => {
    expect(examineServer(footing, 'away', 'https://git.example.org/api/v1')[0]?.said).toMatch(
      /before it was gitea 1\.27\.0$/,
    );
  });

  it.each([
    ['gitea', '1.27.0-rc0', false, ['webhook']],
    ['gitea', '1.26.3', false, ['webhook']],
    ['gitea', '1.27.0', true, ['security']],
    ['gitea', '1.28.0+dev-1', true, ['security']],
    ['forgejo', '15.0.3+gitea-1.22.0', false, ['webhook']],
    ['unknown', null, false, ['webhook', 'security']],
  ] as const)('knows what versions differ in: %s %s', (product, version, hides, sections) => {
    expect(hidesAuthorization({ product, version })).toBe(hides);
    expect(hostListSections({ product, version })).toEqual(sections);
  });
});
