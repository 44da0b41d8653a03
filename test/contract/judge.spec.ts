import { describe, expect, it } from '@jest/globals';
import type { Json } from '../../src/core/json.js';
import { startScriptedServer } from '../fakes/scripted-server.js';
import type { Verdict } from './judge.js';
import { judgeStory } from './judge.js';
import { playStory } from './play.js';
import { isGood, totalsOf } from './report.js';
import type { Story } from './story.js';

const auth = { kind: 'none' };
const get = (path: string): Json => ({ method: 'GET', path, headers: {} });
const answer = (body: Json, status = 200): Json => ({ status, headers: {}, body });

const story = {
  name: 'x/tale',
  story: 'tale',
  server: 'gitea 1.27.0',
  people: [],
  given: [{ before_step: 2, label: 'late' }],
  steps: [
    {
      n: 1,
      title: 'one',
      op: 2,
      auth,
      save: 'one',
      request: get('/one'),
      response: answer({ id: 1, name: 'a', url: 'http://127.0.0.1:3300/api/v1/one' }),
    },
    {
      n: 2,
      title: 'by id',
      auth,
      request: { ...(get('/things/1') as object), template: '/things/{{one.id}}' },
      response: answer({ name: 'thing' }),
    },
    { n: 3, title: 'none such', op: 5, auth, save: 'gone', request: get('/gone'), response: answer({ name: 'x' }) },
    {
      n: 4,
      title: 'needs it',
      auth,
      request: { ...(get('/gone/x') as object), template: '/gone/{{gone.name}}' },
      response: answer({}),
    },
    { n: 5, title: 'refused', auth, request: get('/no'), response: answer({ message: 'no' }, 403) },
    { n: 6, title: 'works', runner: { task: 1, result: 'started' } },
  ],
} as unknown as Story;

const pages: Record<string, { status: number; body: unknown }> = {
  '/api/v1/one': { status: 200, body: { id: 77, name: 'a', url: 'http://elsewhere/one' } },
  '/api/v1/things/77': { status: 200, body: { name: 'thing' } },
  '/api/v1/no': { status: 403, body: { message: 'other words' } },
};

async function play(changed: typeof pages = {}): Promise<{ verdicts: Verdict[]; given: unknown[] }> {
  const given: unknown[] = [];
  const all = { ...pages, ...changed };
  const server = await startScriptedServer(({ url }, reply) => {
    const page = all[url];
    reply.writeHead(page?.status ?? 404, { 'content-type': page ? 'application/json' : 'text/plain' });
    reply.end(page ? JSON.stringify(page.body) : '404 page not found\n');
  });
  try {
    const verdicts = judgeStory(
      story,
      await playStory(story, {
        origin: server.url,
        passwordOf: () => '',
        makeToken: async () => '',
        give: async (entry) => void given.push(entry),
        run: async () => true,
        pass: async () => {},
        close: async () => {},
      }),
    );
    return { verdicts, given };
  } finally {
    await server.close();
  }
}

describe('contract/judge', () => {
  it('plays steps with the ids of this run and tells what is not offered', async () => {
    const { verdicts, given } = await play();

    expect(verdicts.map((one) => one.outcome)).toEqual([
      'equal',
      'equal',
      'not-offered',
      'not-offered',
      'equal',
      'equal',
    ]);
    expect(given).toEqual([{ before_step: 2, label: 'late' }]);
  });

  it('is not good while one of the 20 operations differs', async () => {
    const { verdicts } = await play({ '/api/v1/one': { status: 200, body: { id: 77, name: 'b', url: 'x' } } });

    expect(verdicts[0]?.differences).toEqual([{ what: 'name', expected: '"a"', got: '"b"' }]);
    expect(isGood(totalsOf(verdicts, [], false), verdicts, false)).toBe(false);
  });

  it('is not good when too few leaves were compared', async () => {
    const { verdicts } = await play();
    const totals = totalsOf(verdicts, [], false);

    expect(isGood({ ...totals, compared: 59, leaves: 100 }, [], false)).toBe(false);
    expect(isGood({ ...totals, compared: 60, leaves: 100 }, [], false)).toBe(true);
  });
});
