import { userInfo } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../../src/api/operations/answers.js';
import type { Operator } from '../../../src/core/operators.js';
import { freePort } from '../../services/processes.mjs';
import type { Forge } from '../support/a-forge.js';
import { aForge } from '../support/a-forge.js';
import type { Place } from '../support/a-place.js';
import { aPlace } from '../support/a-place.js';
import type { Bot } from '../support/bot.js';
import { startBot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import type { CommandResult } from '../support/forgehand.js';
import { Outputs } from './outputs.js';

const RULES = `version: 1
org: acme
rules: [{ id: bug-label, on: repository.created, do: { label.ensure: { name: bug, color: "#d73a4a" } } }]
`;
const CONTROL_TOKEN = 'canary-control-token-0123456789abcdef';
const outputs = new Outputs();

let forge: Forge;
/** Where the bot runs: its commands come by the socket. */
let host: Place;
/** Another machine, whose commands come over TCP. */
let remote: Place;
let port: number;
let bot: Bot;

const onHost = (...args: string[]): Promise<CommandResult> => outputs.run(host, ...args, '--config', host.configFile);

/** A command of an operator with a token, or, without one, of somebody who has `control.token`. */
function overTcp(token: string | null, ...args: string[]): Promise<CommandResult> {
  const env = token === null ? remote.env : { ...remote.env, FORGEHAND_OPERATOR_TOKEN: token };
  return outputs.run({ ...remote, env }, ...args, '--config', remote.configFile);
}

/** The printed token goes nowhere else: what `outputs` keeps is held against it at the end. */
async function add(name: string, ...options: string[]): Promise<string> {
  const { code, stdout } = await new Outputs().run(
    host,
    'operators',
    'add',
    name,
    ...options,
    '--config',
    host.configFile,
  );
  expect({ name, code, stdout }).toEqual({ name, code: 0, stdout: expect.stringMatching(/^fho_[A-Za-z0-9_-]{43}\n$/) });
  return stdout.trim();
}

beforeAll(async () => {
  requireBuild();
  forge = await aForge();
  port = await freePort();
  const config = (store: string) => ({
    forges: [{ id: 'main', base_url: forge.apiUrl, auth: { type: 'token', token: { env: 'FORGE_TOKEN' } } }],
    orgs: [
      {
        name: 'acme',
        forge: 'main',
        hooks: [{ id: 'acme', secret: { env: 'HOOK_SECRET' } }],
        rules: { path: 'rules' },
      },
    ],
    store: { url: store },
    server: { host: '127.0.0.1', port: 0 },
    control: { listen: `127.0.0.1:${port}`, token: { env: 'CONTROL_TOKEN' } },
  });
  const env = { FORGE_TOKEN: forge.botToken, HOOK_SECRET: 'canary-hook-77c2aa9e-0123456789abcdef', CONTROL_TOKEN };
  host = aPlace({ config: config('embedded:./data'), files: { 'rules/rules.yaml': RULES }, env });
  remote = aPlace({ config: config('embedded:./elsewhere'), files: { 'rules/rules.yaml': RULES }, env });
  bot = await startBot(host);
});

afterAll(async () => {
  await bot?.kill();
  await forge?.close();
  for (const place of [host, remote]) place?.remove();
});

describe('e2e/commands: operators', () => {
  it('an operator gives orders in a name of its own over TCP, within its scopes, and not after its revocation', async () => {
    const ann = await add('ann', '--scopes', 'read,operate', '--expires', '90d', '--login', 'olga');
    const carl = await add('carl', '--scopes', 'read');

    expect(await overTcp(ann, 'pause', '--org', 'acme')).toMatchObject({ code: 0 });
    const refused = await overTcp(carl, 'resume', '--org', 'acme');
    const approving = await overTcp(ann, 'approve', 'deadbeef');
    const making = await overTcp(ann, 'operators', 'add', 'eve', '--scopes', 'approve');
    const { stdout } = await overTcp(carl, 'status', '--json');
    const list = await onHost('operators', 'list', '--json');

    expect(refused).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('takes the scope operate, and carl has read'),
    });
    expect(approving).toMatchObject({ code: 3, stderr: expect.stringContaining('takes the scope approve') });
    expect(making).toMatchObject({ code: 3, stderr: expect.stringContaining('only the owner of the bot') });
    expect((JSON.parse(stdout) as StatusReport).paused).toMatchObject([{ org: 'acme', by: 'ann' }]);
    expect((JSON.parse(list.stdout) as Operator[]).map(({ name, scopes, madeBy }) => [name, scopes, madeBy])).toEqual([
      ['ann', ['read', 'operate'], `socket:${userInfo().username}`],
      ['carl', ['read'], `socket:${userInfo().username}`],
    ]);

    expect(await onHost('operators', 'revoke', 'ann')).toMatchObject({ code: 0, stdout: '1 token of ann revoked\n' });
    expect(await overTcp(ann, 'resume', '--org', 'acme')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the token of ann was revoked'),
    });
    expect(await onHost('operators', 'revoke', 'ann')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('there is no operator ann'),
    });
    for (const token of [ann, carl]) outputs.prove({ token, CONTROL_TOKEN });
    expect(bot.child.stdout).not.toContain(ann);
  });

  it('the owner of the host alone accepts another organization under a name, and only where there is one', async () => {
    const dora = await add('dora', '--scopes', 'read,operate,approve');

    expect(await overTcp(dora, 'orgs', 'accept', 'acme')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('only the owner of the bot'),
    });
    expect(await onHost('orgs', 'accept', 'ACME')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/acme is the organization that the bot works for \(number \d+\)/),
    });
    expect(await onHost('orgs', 'accept', 'nobody')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no organization nobody'),
    });
  });

  it('the shared token and the socket are recorded as what they are, also for a caller who says a name', async () => {
    // A pause that stands keeps the name of who made it.
    expect(await onHost('resume', '--org', 'acme')).toMatchObject({ code: 0 });
    expect(await overTcp(null, 'pause', '--org', 'acme')).toMatchObject({ code: 0 });
    const shared = JSON.parse((await onHost('status', '--json')).stdout) as StatusReport;
    const headers = {
      authorization: `Bearer ${CONTROL_TOKEN}`,
      'content-type': 'application/json',
      'x-forgehand-caller': 'ann',
    };
    await fetch(`http://127.0.0.1:${port}/v1/resume`, { method: 'POST', headers, body: '{"org":"acme"}' });
    const forged = await fetch(`http://127.0.0.1:${port}/v1/pause`, {
      method: 'POST',
      headers,
      body: '{"org":"acme"}',
    });
    const claimed = JSON.parse((await onHost('status', '--json')).stdout) as StatusReport;
    expect(await onHost('resume', '--org', 'acme')).toMatchObject({ code: 0 });
    expect(await onHost('pause')).toMatchObject({ code: 0 });
    const socket = JSON.parse((await onHost('status', '--json')).stdout) as StatusReport;

    expect(forged.status).toBe(200);
    expect([shared, claimed, socket].map(({ paused }) => paused.map(({ by }) => by))).toEqual([
      ['config-token'],
      ['config-token'],
      [`socket:${userInfo().username}`],
    ]);
  });

  it('writes one line for a request without a token or with a stranger’s, and counts a flood of them', async () => {
    for (let n = 0; n < 40; n += 1)
      await fetch(`http://127.0.0.1:${port}/v1/status`, { headers: { authorization: `Bearer guess-${n}` } });
    const stranger = { authorization: `Bearer fho_${'x'.repeat(43)}` };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/pause`, { method: 'POST', headers: stranger });
    expect([answer.status, await answer.json()]).toEqual([401, expect.objectContaining({ error: 'UNKNOWN_OPERATOR' })]);
    await bot.stop();

    const lines = bot.child.stdout.split('\n').filter((line) => line.includes('"security.'));
    const told = (name: string): number => lines.filter((line) => line.includes(`"msg":"${name}"`)).length;
    expect(told('security.authentication_failed')).toBeLessThanOrEqual(20);
    expect(
      lines.some((line) => /"msg":"security.more"/.test(line) && /"class":"authentication_failed"/.test(line)),
    ).toBe(true);
    expect(
      lines.some((line) => line.includes('security.unknown_operator') && line.includes('"reason":"unknown"')),
    ).toBe(true);
    expect(
      bot.child.stdout.split('\n').filter((line) => line.includes('"alert":"security.authentication_failed"')),
    ).toHaveLength(1);
  });
});
