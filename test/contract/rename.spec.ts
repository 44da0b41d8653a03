import { describe, expect, it } from '@jest/globals';
import type { Json } from '../../src/core/json.js';
import { namesOf, renameStory } from './rename.js';
import type { ExchangeStep, Story } from './story.js';

const readme = Buffer.from('# app\n').toString('base64');

const story = {
  name: 'gitea-1.27/tale',
  people: ['root1', 'olga', 'wes', 'rita', 'otto'],
  story: 'tale',
  server: 'gitea 1.27.0',
  given: [
    { before_step: 1, user: 'wes' },
    { before_step: 1, user: 'zoe' },
    { before_step: 1, org: 'acme-tale', owner: 'olga' },
    { before_step: 1, repo: 'acme-tale/app' },
  ],
  steps: [
    {
      n: 1,
      title: 'read',
      auth: { kind: 'token', user: 'wes', scopes: ['all'] },
      request: { method: 'GET', path: '/repos/ACME-TALE/app/contents/README.md', headers: {} },
      response: {
        status: 200,
        headers: {},
        body: {
          content: readme,
          name: 'happy app, wes and root1',
          html_url: 'http://127.0.0.1:3300/acme-tale/app.git',
          app: 1,
        },
      },
    },
  ],
} as unknown as Story;

function stepOf(renamed: Story): ExchangeStep {
  return renamed.steps[0] as ExchangeStep;
}

describe('contract/rename', () => {
  it('finds people, organizations and repositories', () => {
    expect(namesOf(story).sort()).toEqual(['acme-tale', 'app', 'olga', 'otto', 'rita', 'root1', 'wes', 'zoe']);
  });

  it.each([1, 2, 3, 4, 5])('gives names of the same length in the same order (seed %i)', (seed) => {
    const renamed = renameStory(story, seed);
    const given = renamed.given;
    const names = [given[0]?.user, given[1]?.user, given[2]?.org, given[2]?.owner] as string[];
    const root = renamed.people[0] as string;
    const [wes, zoe, org, olga] = names as [string, string, string, string];

    expect(names.map((name) => name.length)).toEqual([3, 3, 9, 4]);
    expect([wes, zoe, org, olga]).not.toEqual(expect.arrayContaining(['wes']));
    expect([wes, zoe, org, olga, root].sort()).toEqual([org, olga, root, wes, zoe]);
  });

  it('replaces them in paths, credentials, texts, addresses and files, and leaves keys and other words alone', () => {
    const renamed = renameStory(story, 7);
    const [owner, repo] = String(renamed.given.at(-1)?.repo).split('/') as [string, string];
    const { auth, request, response } = stepOf(renamed);
    const body = response.body as Record<string, Json>;

    expect(auth.user).toBe(renamed.given[0]?.user);
    expect(request.path).toBe(`/repos/${owner.toUpperCase()}/${repo}/contents/README.md`);
    expect(Buffer.from(String(body.content), 'base64').toString()).toBe(`# ${repo}\n`);
    expect(body.name).toBe(`happy ${repo}, ${String(auth.user)} and ${String(renamed.people[0])}`);
    expect(body.html_url).toBe(`http://127.0.0.1:3300/${owner}/${repo}.git`);
    expect(Object.keys(body)).toContain('app');
  });

  it('gives the same names for the same seed and others for another', () => {
    expect(renameStory(story, 7)).toEqual(renameStory(story, 7));
    expect(renameStory(story, 8)).not.toEqual(renameStory(story, 7));
  });
});
