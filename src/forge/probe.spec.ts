import { describe, expect, it } from '@jest/globals';
import { ForgeError } from '../core/errors.js';
import { buildForgeClient } from './forge-client.js';
import { leastBody, ask, NOBODY } from './probe.js';
import { isWrite, operationNames, operationOf, type OperationName } from './operations.js';

type Answer = ForgeError | object;

const no = (status: number, forgeMessage = '', kind: ForgeError['kind'] = 'refused'): ForgeError =>
  new ForgeError(kind, 'no', { operation: 'x', status, forgeMessage });

/** What one operation was asked with, and what it came to. */
async function asked(name: OperationName, answer: Answer) {
  const calls: Array<Readonly<Record<string, unknown>>> = [];
  const client = buildForgeClient(() => async (args) => {
    calls.push(args);
    if (answer instanceof ForgeError) throw answer;
    return answer;
  });
  return { calls, told: await ask(client, name) };
}

describe('forge/probe', () => {
  it.each<[string, OperationName, Answer, string]>([
    ['nobody is found => there', 'createLabel', no(404, 'not found'), 'there'],
    ['no such route => missing', 'createLabel', no(404, '', 'not-offered'), 'missing'],
    [
      'Gitea names the scope => scope',
      'createLabel',
      no(403, 'token does not have at least one of required scope(s), required=[write:issue], token scope=read:user'),
      'scope',
    ],
    [
      'Forgejo names the scope => scope',
      'listOrgHooks',
      no(403, 'token does not have at least one of required scope(s): [read:organization]'),
      'scope',
    ],
    ['another 403 => there', 'adminCreateRepo', no(403, 'user should be the site admin'), 'there'],
    ['renamed => there', 'listLabels', no(301, '', 'moved'), 'there'],
    ['an answer => there', 'getVersion', {}, 'there'],
  ])('tells what an answer means: %s', async (_what, name, answer, told) => {
    expect((await asked(name, answer)).told).toBe(told);
  });

  it('passes on that the forge cannot be asked now', async () => {
    await expect(
      asked('listLabels', new ForgeError('not-sent', 'away', { operation: 'listLabels' })),
    ).rejects.toMatchObject({ kind: 'not-sent' });
  });

  it('asks writes only about an owner whom nobody can be', async () => {
    const writes = operationNames.filter((name) => isWrite(name));
    const all = await Promise.all(writes.map(async (name) => ({ name, ...(await asked(name, no(404))) })));

    const risky = all.filter(({ calls }) =>
      calls.some(({ owner, org, username }) => ![owner, org, username].includes(NOBODY)),
    );
    const unasked = all.filter(({ told }) => told === 'not-asked').map(({ name }) => operationOf(name).path);

    expect(risky).toEqual([]);
    expect(unasked.filter((path) => /\{(owner|org|username)\}/.test(path))).toEqual([]);
    expect(all.filter(({ calls }) => calls.length > 0).length).toBeGreaterThan(50);
    expect(NOBODY).toMatch(/--/);
  });

  it('makes up a body that every operation takes', () => {
    const bodies = operationNames.flatMap((name) => {
      const { body } = operationOf(name);
      return body ? [{ name, taken: body.safeParse(leastBody(body)).success }] : [];
    });

    expect(bodies.filter(({ taken }) => !taken)).toEqual([]);
    expect(bodies.length).toBeGreaterThan(30);
  });
});
