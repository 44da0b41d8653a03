import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { seedAcme } from '../seed/seed-acme.js';
import { type Sandbox, startSandbox } from '../start-sandbox.js';

interface Seen {
  headers: Record<string, string>;
  body: string;
}

type Reply = Record<string, unknown> & { deliveries: Record<string, unknown>[]; sent: Record<string, unknown>[] };

const seen: Seen[] = [];
let receiver: Server;
let forge: Sandbox;
let hook: number;

beforeEach(async () => {
  seen.length = 0;
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() });
      response.writeHead(202).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  forge = await startSandbox({ populate: (parts) => seedAcme(parts, 1) });
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks/acme`;
  hook = (
    await control('POST', '/hooks', {
      org: 'acme',
      url,
      secret: 's3cret',
      events: ['push', 'create', 'issues', 'release'],
    })
  ).json.id as number;
});

afterEach(async () => {
  await forge.close();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

async function control(
  method: string,
  path: string,
  body?: object,
  token = forge.controlToken,
): Promise<{ status: number; json: Reply }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${forge.url}/_sandbox${path}`, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: answer.status, json: (await answer.json()) as Reply };
}

function push(): Promise<{ status: number; json: Reply }> {
  return control('POST', '/act', { as: 'ann', act: 'push', repo: 'acme/docs' });
}

function signatureOf(body: string): string {
  return createHmac('sha256', 's3cret').update(body).digest('hex');
}

describe('sandbox/deliveries over HTTP', () => {
  it('delivers an act with a true signature and tells what it made', async () => {
    const { json } = await push();
    await forge.deliveriesSettled();

    expect(json).toMatchObject({ act: 'push', as: 'ann', happened: ['pushed'] });
    expect(json.deliveries).toHaveLength(1);
    expect(seen).toHaveLength(1);
    expect(seen[0]?.headers).toMatchObject({
      'x-gitea-event': 'push',
      'x-gitea-delivery': json.deliveries[0]?.delivery,
      'x-gitea-hook-installation-target-type': 'organization',
      'x-gitea-signature': signatureOf(seen[0]?.body ?? ''),
    });
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      ref: 'refs/heads/main',
      repository: { full_name: 'acme/docs' },
      sender: { login: 'ann' },
    });
  });

  it('keeps a history with what was answered', async () => {
    await push();

    const { json } = await control('GET', '/deliveries?settled=true');

    expect(json.deliveries).toMatchObject([
      {
        hook,
        event: 'push',
        event_type: 'push',
        state: 'sent',
        status: 202,
        dropped: false,
        forged: false,
        copy_of: null,
      },
    ]);
    expect(JSON.stringify(json)).not.toContain('s3cret');
  });

  it('narrows the history by number, hook, event type and state', async () => {
    await push();
    await control('POST', '/deliveries', { drop: { next: 1 } });
    await push();

    const of = async (query: string): Promise<unknown[]> =>
      (await control('GET', `/deliveries?settled=true&${query}`)).json.deliveries.map(({ n }) => n);
    expect(await of('after=1')).toEqual([2]);
    expect(await of('state=dropped')).toEqual([2]);
    expect(await of('event_type=push')).toEqual([1, 2]);
    expect(await of('hook=999')).toEqual([]);
  });

  it('drops the next one, which the feed still tells', async () => {
    await control('POST', '/deliveries', { drop: { next: 1, event_type: 'push' } });
    const rows = forge.parts.world.feed.length;

    await push();
    await push();
    await forge.deliveriesSettled();

    expect(seen).toHaveLength(1);
    expect(forge.parts.world.feed).toHaveLength(rows + 2);
  });

  it('sends a delivery twice, ahead of time or from the history', async () => {
    await control('POST', '/deliveries', { duplicate: { next: 1, id: 'new' } });
    const { json } = await push();
    await control('POST', '/deliveries', { duplicate: { delivery: json.deliveries[0]?.delivery } });
    await forge.deliveriesSettled();

    const ids = seen.map(({ headers }) => headers['x-gitea-delivery']);
    expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
    expect(ids).toHaveLength(3);
    expect(ids[1]).not.toBe(ids[0]);
    expect(ids[2]).toBe(ids[0]);
  });

  it('forges a delivery', async () => {
    await push();
    const { json } = await control('POST', '/deliveries', { forge: {} });
    await forge.deliveriesSettled();

    expect(json.sent).toMatchObject([{ forged: true }]);
    expect(seen[1]?.body).toBe(seen[0]?.body);
    expect(seen[1]?.headers['x-gitea-signature']).not.toBe(signatureOf(seen[1]?.body ?? ''));
  });

  it('refuses wishes that it does not understand, and strangers', async () => {
    expect((await control('POST', '/deliveries', { loose: 1 })).status).toBe(422);
    expect((await control('POST', '/deliveries', {})).status).toBe(422);
    expect((await control('POST', '/deliveries', { forge: {} })).status).toBe(404);
    expect((await control('GET', '/deliveries', undefined, 'wrong')).status).toBe(401);
    expect((await control('POST', '/act', { as: 'ann', act: 'push', repo: 'acme/docs' }, 'wrong')).status).toBe(401);
  });

  it('lists the acts with examples', async () => {
    const { json } = await control('GET', '/act');

    expect((json.acts as { act: string }[]).map(({ act }) => act)).toEqual(
      expect.arrayContaining(['push', 'release.publish', 'issue.open', 'pull.merge', 'workflow.run', 'hook.test']),
    );
  });

  it('tells who and what is there, without secrets', async () => {
    const { json } = await control('GET', '/world');

    expect((json.users as { login: string }[]).map(({ login }) => login)).toContain('ann');
    expect((json.repos as { full_name: string }[]).map((repo) => repo.full_name)).toContain('acme/app');
    expect(json.orgs).toMatchObject([{ name: 'acme', hooks: [{ id: hook }] }]);
    expect(JSON.stringify(json)).not.toMatch(/password|s3cret/);
  });

  it('gives examples that can be sent as they are', async () => {
    const { json } = await control('GET', '/act?act=issue.open');
    const [issue] = json.acts as { example: object }[];

    const answer = await control('POST', '/act', issue?.example);

    expect(answer.json).toMatchObject({ happened: ['issue.opened', 'issue.labeled'] });
  });

  it('makes an account that owns the organization and has a token', async () => {
    const { json, status } = await control('POST', '/accounts', { login: 'forgehand-bot', org: 'acme' });
    const answer = await fetch(`${forge.apiUrl}/orgs/acme/hooks`, {
      headers: { authorization: `token ${json.token as string}` },
    });

    expect(status).toBe(201);
    expect(answer.status).toBe(200);
    expect((await answer.json()) as unknown[]).toHaveLength(1);
  });

  it('tells a bot of what it wrote by the API itself', async () => {
    const { json } = await control('POST', '/accounts', { login: 'forgehand-bot', org: 'acme' });
    const headers = { authorization: `token ${json.token as string}`, 'content-type': 'application/json' };

    await fetch(`${forge.apiUrl}/repos/acme/docs/branches`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ new_branch_name: 'release/1.0' }),
    });
    await forge.deliveriesSettled();

    expect(
      seen.map(({ headers: { 'x-gitea-event': event }, body }) => [
        event,
        (JSON.parse(body) as { sender: { login: string } }).sender.login,
      ]),
    ).toEqual([
      ['create', 'forgehand-bot'],
      ['push', 'forgehand-bot'],
    ]);
  });
});
