import { describe, expect, it } from '@jest/globals';
import type { OrgConfig } from './app-config.js';
import { LiveConfig, ofOrgs, orgsByKey } from './live-config.js';
import { parseConfig } from './read-config.js';
import { changedKeys } from './same-config.js';

const ENV = { TOKEN: 't', HOOK: 'h'.repeat(32), KEY: 'k'.repeat(32) };

function read(text: string, env: NodeJS.ProcessEnv = ENV) {
  const forges = `forges: [{ id: main, base_url: "http://127.0.0.1:4000/api/v1", auth: { type: token, token: { env: TOKEN } } }]\n`;
  const store = /^store:/m.test(text) ? '' : 'store: { url: "embedded:./data" }\n';
  return parseConfig('/etc/forgehand.yaml', `${/^forges:/m.test(text) ? '' : forges}${store}${text}`, { env });
}

const ORGS = (...orgs: string[]): string => `orgs:\n${orgs.map((org) => `  - { ${org} }\n`).join('')}`;
const acme = 'name: acme, forge: main, rules: { path: a }, hooks: [{ id: a, secret: { env: HOOK } }]';
const beta = 'name: beta, forge: main, rules: { path: b }';

describe('config/live-config', () => {
  it('has the config of the start, with the organizations of the last reload', () => {
    const config = new LiveConfig(read(ORGS(acme)));

    expect(config.file).toBe('/etc/forgehand.yaml');
    expect(config.replaceOrgs(read(ORGS(acme, beta)).orgs)).toEqual({ added: ['beta'], removed: [], changed: [] });
    expect(config.orgs.map(({ name }) => name)).toEqual(['acme', 'beta']);
    expect(config.replaceOrgs(read(ORGS(beta)).orgs)).toEqual({ added: [], removed: ['acme'], changed: [] });
    expect(Object.isFrozen(config.orgs)).toBe(true);
  });

  it('keeps the object of an organization that says what it said, also in another place', () => {
    const config = new LiveConfig(read(ORGS(acme, beta)));
    const [first, second] = config.orgs as [OrgConfig, OrgConfig];

    config.replaceOrgs(read(ORGS(beta, acme)).orgs);

    expect([config.orgs[0] === second, config.orgs[1] === first]).toEqual([true, true]);
  });

  it.each([
    ['a key', acme.replace('rules:', 'feed: { every_s: 5 }, rules:'), ENV],
    ['the value of a secret', acme, { ...ENV, HOOK: 'g'.repeat(32) }],
  ])('takes %s that is another for a change', (_what, org, env) => {
    const config = new LiveConfig(read(ORGS(acme)));

    expect(config.replaceOrgs(read(ORGS(org), env).orgs)).toEqual({ added: [], removed: [], changed: ['acme'] });
  });

  it('what is made of the organizations is made once after each reload', () => {
    const config = new LiveConfig(read(ORGS(acme)));
    let made = 0;
    const names = ofOrgs(config, (orgs) => ((made += 1), orgs.map(({ name }) => name)));
    const byName = orgsByKey(config);

    expect([names(), names(), byName().has('beta')]).toEqual([['acme'], ['acme'], false]);
    config.replaceOrgs(read(ORGS(acme, beta)).orgs);

    expect([names(), names(), byName().has('beta'), made]).toEqual([['acme', 'beta'], ['acme', 'beta'], true, 2]);
  });
});

describe('config/same-config', () => {
  it.each([
    ['nothing', '', []],
    ['an organization', ORGS(beta), []],
    ['a port', 'server: { port: 1 }\n', ['server.port']],
    ['memory of receivers', 'server: { unverified_bytes: 99999999 }\n', ['server.unverified_bytes']],
    ['the store', `store: { url: "postgres://db/x" }\nkeys: { data: { env: KEY } }\n`, ['store.url', 'keys.data']],
    ['its folder', 'store: { url: "embedded:./other" }\n', ['store.url']],
    ['the queue', 'queue: { url: "redis://127.0.0.1", sweep_s: 3 }\n', ['queue.url', 'queue.sweep_s']],
    ['a part that was not there', 'metrics: { listen: 9091 }\n', ['metrics']],
    ['the longest age', 'retention: { max_age: 7d }\n', ['retention.max_age']],
  ])('%s that is another => named as in the file', (_what, text, keys) => {
    const started = new LiveConfig(read(ORGS(acme)));

    const next = read(`${/^orgs:/m.test(text) ? '' : ORGS(acme)}${text}`);

    expect(changedKeys(started, next).sort()).toEqual([...keys].sort());
  });

  it('takes another token of a forge for a change of the forges', () => {
    const started = new LiveConfig(read(ORGS(acme)));

    expect(changedKeys(started, read(ORGS(acme), { ...ENV, TOKEN: 'another' }))).toEqual(['forges']);
  });
});
