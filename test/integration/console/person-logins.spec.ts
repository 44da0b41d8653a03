import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AppConfig, ForgeConfig } from '../../../src/config/app-config.js';
import { PersonLogins } from '../../../src/console/login/person-logins.js';
import type { KnownPerson, PendingLogin } from '../../../src/console/login/login.port.js';
import { Encryptor } from '../../../src/core/encryptor.js';
import { parseJson, type JsonObject } from '../../../src/core/json.js';
import { silentLogger } from '../../../src/core/logger.js';
import type { ControlCaller } from '../../../src/core/operators.js';
import { Secret } from '../../../src/core/secret.js';
import { PersonForges } from '../../../src/forge/oauth/person-forges.js';
import type { ProfileName } from '../../../src/sandbox/profiles.js';
import { renameOwner } from '../../../src/sandbox/resources/user.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { ManualClock } from '../../fakes/manual-clock.js';
import { openTestStores, type TestStores } from '../../services/test-stores.js';
import { anApplication, type LoginApplication, PersonAtBrowser } from '../support/a-forge-login.js';

const MINUTE_MS = 60_000;
const PROFILES: readonly ProfileName[] = ['gitea', 'gitea@1.26', 'forgejo'];
const REDIRECT = {
  main: 'http://127.0.0.1:8090/login/callback/main',
  other: 'http://127.0.0.1:8090/login/callback/other',
};
/** What the bot knows the organization by, once it does. */
const numbers = { known: null as string | null, pinned: async () => numbers.known };
const ENCRYPTOR = new Encryptor(new Secret('a key for tests that is long enough'));

let test: TestStores;
beforeAll(async () => {
  test = await openTestStores('embedded');
});
afterAll(() => test?.close());

/** A forge with the organization acme: olga owns it, wes is in a team that writes, rita in one that reads, otto in none. */
async function aForge(profile: ProfileName, clock: ManualClock): Promise<Sandbox> {
  const forge = await startSandbox({ profile, clock });
  for (const given of [
    { user: 'olga' },
    { user: 'wes' },
    { user: 'rita' },
    { user: 'otto' },
    { org: 'acme', owner: 'olga' },
    { team: 'writers', org: 'acme', permission: 'write', members: ['wes'], includes_all_repositories: false },
    { team: 'readers', org: 'acme', permission: 'read', members: ['rita'], includes_all_repositories: true },
    { repo: 'acme/open' },
    { repo: 'acme/hidden', private: true },
  ])
    await control(forge, 'given', given);
  return forge;
}

async function control(forge: Sandbox, route: string, body: JsonObject): Promise<void> {
  const headers = { authorization: `Bearer ${forge.controlToken}`, 'content-type': 'application/json' };
  const answer = await fetch(`${forge.url}/_sandbox/${route}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}

function config(forges: Readonly<Record<string, { sandbox: Sandbox; application: LoginApplication }>>): AppConfig {
  return {
    forges: Object.entries(forges).map(
      ([id, { sandbox, application }]) =>
        ({ id, baseUrl: sandbox.apiUrl, oauth: application, caFile: null, proxy: null }) as unknown as ForgeConfig,
    ),
    orgs: Object.keys(forges).map((forge) => ({ key: 'acme', name: 'acme', label: 'acme', forge })),
  } as unknown as AppConfig;
}

function numberOf(forge: Sandbox, repository: string): string {
  const found = [...forge.parts.world.repos.values()].find(({ name }) => name === repository);
  return String(found?.id);
}

function teamOf(forge: Sandbox, name: string) {
  const found = [...forge.parts.world.teams.values()].find((team) => team.name === name);
  if (!found) throw new Error(`no team ${name}`);
  return found;
}

describe.each(PROFILES)('integration/console/person-logins: %s', (profile) => {
  let clock: ManualClock;
  let forge: Sandbox;
  let application: LoginApplication;
  let logins: PersonLogins;

  beforeEach(async () => {
    await test.reset();
    clock = new ManualClock();
    forge = await aForge(profile, clock);
    application = await anApplication(forge, [REDIRECT.main, REDIRECT.other]);
    logins = loginsOf();
  });
  afterEach(() => forge?.close());

  /** Of one process of the bot. */
  function loginsOf(forges = config({ main: { sandbox: forge, application } })): PersonLogins {
    return new PersonLogins(
      new PersonForges(forges, numbers, clock, silentLogger),
      test.stores.grants,
      ENCRYPTOR,
      clock,
      silentLogger,
    );
  }

  async function answered(person: PersonAtBrowser, granted: 'true' | 'false' = 'true') {
    const { url, pending } = await logins.begin('main', '/', REDIRECT.main);
    const back = await person.visit(url, granted);
    return { pending, query: Object.fromEntries(back.searchParams) as Record<string, string>, url };
  }

  async function loggedIn(login: string, browser = new PersonAtBrowser(forge, login)): Promise<KnownPerson> {
    const { pending, query } = await answered(browser);
    return logins.finish(pending, query, REDIRECT.main);
  }

  const asks = async (grantId: string, fresh: boolean): Promise<ControlCaller | null> =>
    (await logins.callerOf(grantId, { fresh }))?.caller ?? null;
  const looks = ({ grantId }: KnownPerson): Promise<ControlCaller | null> => asks(grantId, false);
  const writes = ({ grantId }: KnownPerson): Promise<ControlCaller | null> => asks(grantId, true);

  it('asks for named scopes and a challenge, and never shows the client secret or the verifier', async () => {
    const { url, pending } = await logins.begin('main', '/runs', REDIRECT.main);
    const query = new URL(url).searchParams;

    expect(Object.fromEntries(query)).toEqual({
      client_id: application.clientId,
      redirect_uri: REDIRECT.main,
      response_type: 'code',
      scope: 'read:user read:organization read:repository',
      state: pending.kept['state'],
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(url).not.toContain(application.clientSecret.reveal());
    expect(url).not.toContain(pending.kept['verifier'] ?? '');
  });

  it.each([
    [
      'an owner',
      'olga',
      (): unknown[] => [{ org: 'acme', repositories: null, scopes: ['read', 'operate', 'approve'] }],
    ],
    [
      'a member of a team that writes somewhere',
      'wes',
      (): unknown[] => [
        { org: 'acme', repositories: ['open', 'hidden'].map((name) => numberOf(forge, name)), scopes: ['read'] },
      ],
    ],
    ['a member who reads', 'rita', (): unknown[] => []],
    ['an outsider', 'otto', (): unknown[] => []],
  ])('gives %s what the forge says', async (_who, login, grants) => {
    for (const repo of forge.parts.world.repos.values()) teamOf(forge, 'writers').repos.add(repo.id);

    const person = await loggedIn(login);

    expect(person).toEqual({ forge: 'main', login, userId: expect.any(String), grantId: expect.any(String) });
    expect(await writes(person)).toMatchObject({ kind: 'person', name: `person:${login}@main`, grants: grants() });
  });

  it('gives nobody rights in an organization by its name: the number that the bot knows counts', async () => {
    const { world } = forge.parts;
    const acme = world.orgByName('acme');
    if (!acme) throw new Error('no acme');
    numbers.known = String(acme.id);
    try {
      renameOwner(world, acme, 'acme-old');
      await control(forge, 'given', { org: 'acme', owner: 'otto' });

      expect(await writes(await loggedIn('otto'))).toMatchObject({ grants: [] });
      expect(await writes(await loggedIn('olga'))).toMatchObject({ grants: [{ org: 'acme', repositories: null }] });
    } finally {
      numbers.known = null;
    }
  });

  it('gives a member of a team without the unit of pull requests what the team may read, and all of what is public', async () => {
    const units = ['repo.code', 'repo.issues', 'repo.wiki'];
    const given = {
      team: 'triage',
      org: 'acme',
      permission: 'write',
      members: ['otto'],
      includes_all_repositories: true,
      units,
    };
    await control(forge, 'given', given);

    const [grant] = (await writes(await loggedIn('otto')))?.grants ?? [];

    const hidden = numberOf(forge, 'hidden');
    expect(grant?.repositories).toEqual([
      numberOf(forge, 'open'),
      `${hidden}/code`,
      `${hidden}/issues`,
      `${hidden}/wiki`,
    ]);
  });

  it('keeps the tokens sealed, and never as they are', async () => {
    const { grantId } = await loggedIn('olga');
    const grant = await test.stores.grants.byId(grantId);
    const unsealed = ENCRYPTOR.unseal({ $sealed: grant?.sealed ?? '', $hash: '' }).reveal();
    const tokens = parseJson(unsealed) as Record<'access' | 'refresh', string>;

    expect(Object.keys(tokens).sort()).toEqual(['access', 'refresh']);
    expect(JSON.stringify({ ...grant, sealed: '' })).not.toContain('eyJ');
    // Sealed bytes hold any three letters by chance.
    for (const part of Object.values(tokens).flatMap((token) => token.split('.')))
      expect(grant?.sealed).not.toContain(part);
  });

  it('refuses an answer whose state is another login’s, or none', async () => {
    const mine = await answered(new PersonAtBrowser(forge, 'olga'));
    const stolen = await answered(new PersonAtBrowser(forge, 'otto'));

    for (const query of [stolen.query, { ...mine.query, state: '' }, { code: mine.query['code'] }])
      await expect(logins.finish(mine.pending, query, REDIRECT.main)).rejects.toMatchObject({ code: 'LOGIN_STATE' });
    const emptied: PendingLogin = { ...mine.pending, kept: {} };
    await expect(logins.finish(emptied, { ...mine.query, state: '' }, REDIRECT.main)).rejects.toMatchObject({
      code: 'LOGIN_STATE',
    });
  });

  it('refuses a code that was used, was made up, or belongs to another verifier', async () => {
    const { pending, query } = await answered(new PersonAtBrowser(forge, 'olga'));
    const other = await answered(new PersonAtBrowser(forge, 'otto'));
    const injected = { ...query, code: other.query['code'] };
    await expect(logins.finish(pending, injected, REDIRECT.main)).rejects.toMatchObject({ code: 'LOGIN_CODE' });

    await logins.finish(pending, query, REDIRECT.main);

    for (const code of [query['code'], 'gta_made-up'])
      await expect(logins.finish(pending, { ...query, code }, REDIRECT.main)).rejects.toMatchObject({
        code: 'LOGIN_CODE',
      });
  });

  it('says when the person did not allow it', async () => {
    const { pending, query } = await answered(new PersonAtBrowser(forge, 'olga'), 'false');

    await expect(logins.finish(pending, query, REDIRECT.main)).rejects.toMatchObject({ code: 'LOGIN_DENIED' });
  });

  it('never takes the answer of one forge for a login at another', async () => {
    const evil = await aForge(profile, clock);
    try {
      const forges = {
        main: { sandbox: forge, application },
        other: { sandbox: evil, application: await anApplication(evil, [REDIRECT.other]) },
      };
      logins = loginsOf(config(forges));
      const { pending, query } = await answered(new PersonAtBrowser(forge, 'olga'));
      const atOther = await logins.begin('other', '/', REDIRECT.other);

      await expect(logins.finish(atOther.pending, query, REDIRECT.other)).rejects.toMatchObject({
        code: 'LOGIN_STATE',
      });
      await expect(logins.finish(pending, query, REDIRECT.other)).rejects.toMatchObject({ code: 'LOGIN_STATE' });
      await expect(logins.finish(pending, { ...query, iss: evil.url }, REDIRECT.main)).rejects.toMatchObject({
        code: 'LOGIN_ISSUER',
      });
      expect(await logins.finish(pending, { ...query, iss: `${forge.url}/` }, REDIRECT.main)).toMatchObject({
        login: 'olga',
      });
    } finally {
      await evil.close();
    }
  });

  it('lets two browsers of a person share one grant, and both go on when its token is renewed', async () => {
    const first = await loggedIn('olga');
    const second = await loggedIn('olga');
    expect(second.grantId).toBe(first.grantId);

    for (let hours = 0; hours < 3; hours += 1) {
      clock.advance(61 * MINUTE_MS);
      expect(await writes(first)).toMatchObject({ login: 'olga' });
      expect(await writes(second)).toMatchObject({ login: 'olga' });
    }
  });

  it('renews a token once for all that ask at the same time, in two processes too', async () => {
    const person = await loggedIn('olga');
    const other = loginsOf();
    clock.advance(61 * MINUTE_MS);

    const asked = await Promise.all([
      writes(person),
      looks(person),
      other.callerOf(person.grantId, { fresh: true }),
      other.callerOf(person.grantId, { fresh: false }),
    ]);

    const logins = asked.map((who) => (who && 'caller' in who ? who.caller : who)?.login);
    expect(logins).toEqual(['olga', 'olga', 'olga', 'olga']);
  });

  it('shows lost rights to a write at once, and to a page within ten minutes', async () => {
    const person = await loggedIn('wes');
    teamOf(forge, 'writers').repos.add(BigInt(numberOf(forge, 'hidden')));
    expect((await writes(person))?.grants).toHaveLength(1);
    const { members } = teamOf(forge, 'writers');
    members.clear();

    expect((await looks(person))?.grants).toHaveLength(1);
    clock.advance(10 * MINUTE_MS);
    expect((await looks(person))?.grants).toEqual([]);

    members.add(BigInt(person.userId));
    expect((await writes(person))?.grants).toHaveLength(1);
    members.clear();
    expect((await writes(person))?.grants).toEqual([]);
    expect((await looks(person))?.grants).toEqual([]);
  });

  it('shows nothing to a person who is locked out, whose token the forge would still renew', async () => {
    const person = await loggedIn('olga');
    const user = forge.parts.world.userByName('olga');
    if (user) user.prohibitLogin = true;
    clock.advance(61 * MINUTE_MS);

    expect(await writes(person)).toBeNull();
    expect(await looks(person)).toBeNull();

    if (user) user.prohibitLogin = false;
    expect(await writes(person)).toMatchObject({ login: 'olga' });
  });

  it('writes nothing while the forge is away, and shows nothing after ten minutes', async () => {
    const person = await loggedIn('olga');
    await forge.close();

    expect(await writes(person)).toBeNull();
    expect(await looks(person)).toMatchObject({ login: 'olga' });
    clock.advance(9 * MINUTE_MS);
    expect(await looks(person)).toMatchObject({ login: 'olga' });
    clock.advance(MINUTE_MS);
    expect(await looks(person)).toBeNull();
  });

  it('knows nobody any more once the application is gone', async () => {
    const person = await loggedIn('olga');
    forge.parts.world.oauthGrants.clear();

    expect(await writes(person)).toBeNull();
    expect(await looks(person)).toBeNull();
  });

  it('forgets the grant at the end, and ends its refresh token where the server can', async () => {
    const person = await loggedIn('olga');
    const grant = await test.stores.grants.byId(person.grantId);
    const kept = parseJson(ENCRYPTOR.unseal({ $sealed: grant?.sealed ?? '', $hash: '' }).reveal()) as JsonObject;

    await logins.end(person.grantId);

    expect(await writes(person)).toBeNull();
    expect(await test.stores.grants.byId(person.grantId)).toBeNull();
    const stolen = new PersonForges(config({ main: { sandbox: forge, application } }), numbers, clock, silentLogger)
      .get('main')
      .refresh(new Secret(String(kept['refresh'])));
    if (profile === 'forgejo') await expect(stolen).rejects.toMatchObject({ error: 'unauthorized_client' });
    else await expect(stolen).resolves.toBeDefined();
  });

  it('asks for a new consent where the application was allowed less before', async () => {
    const browser = new PersonAtBrowser(forge, 'olga');
    const query = new URLSearchParams({
      client_id: application.clientId,
      redirect_uri: REDIRECT.main,
      response_type: 'code',
      scope: 'read:user',
    });
    await browser.visit(`${forge.url}/login/oauth/authorize?${query}`);

    await expect(loggedIn('olga', browser)).rejects.toMatchObject({ code: 'LOGIN_RIGHTS' });
  });
});
