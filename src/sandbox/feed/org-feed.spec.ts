import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Clock } from '../../core/clock.js';
import { performAct } from '../acts/perform-act.js';
import { makeOrganization } from '../resources/organization.js';
import { makeRepository } from '../resources/repository.js';
import { makeTeam } from '../resources/team.js';
import { makeUser } from '../resources/user.js';
import { type Sandbox, startSandbox } from '../start-sandbox.js';

/** 23:30 in Berlin on the 19th, half an hour later the 20th. */
const START = Date.parse('2026-11-19T22:30:00Z');

interface Row {
  id: number;
  op_type: string;
  content: string;
  created: string;
  is_private: boolean;
  act_user: { login: string } | null;
  repo: { name: string } | null;
  comment: { body: string; user: null } | null;
}

let forge: Sandbox;
let now: number;

beforeEach(async () => {
  now = START;
  const clock: Clock = { now: () => new Date(now), monotonicMs: () => now };
  forge = await startSandbox({ clock, timeZone: 'Europe/Berlin', adminPassword: 'root' });
  const { world } = forge.parts;
  const olga = makeUser(world, { login: 'olga', password: 'p' });
  const [wes, otto] = [
    makeUser(world, { login: 'wes', password: 'p' }),
    makeUser(world, { login: 'otto', password: 'p' }),
  ];
  const org = makeOrganization(world, { name: 'acme', owner: olga });
  makeTeam(world, { org, name: 'writers', permission: 'write', members: [wes], includesAllRepositories: true });
  makeRepository(world, olga, { owner: org, name: 'app', files: { 'README.md': '#\n' } });
  makeRepository(world, olga, { owner: org, name: 'hidden', private: true, files: { 'README.md': '#\n' } });
  makeRepository(world, otto, { owner: otto, name: 'own', files: { 'README.md': '#\n' } });
});

afterEach(() => forge.close());

async function read(
  user: string | null,
  query = '',
): Promise<{ rows: Row[]; status: number; total: string | null; link: string | null }> {
  const password = user === 'admin' ? 'root' : 'p';
  const headers: Record<string, string> =
    user === null ? {} : { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
  const answer = await fetch(`${forge.apiUrl}/orgs/acme/activities/feeds${query}`, { headers });
  return {
    rows: (await answer.json()) as Row[],
    status: answer.status,
    total: answer.headers.get('x-total-count'),
    link: answer.headers.get('link'),
  };
}

function later(seconds: number): void {
  now += seconds * 1000;
}

async function act(as: string, name: string, params: Record<string, string | number | string[]> = {}): Promise<void> {
  later(1);
  await performAct(forge.parts, { as, act: name, params: { repo: 'acme/app', ...params } });
}

describe('sandbox/feed', () => {
  it('lists newest first with a total, without Link, to nobody too', async () => {
    await act('wes', 'issue.open', { title: 'one' });
    await act('wes', 'issue.open', { title: 'two' });

    const { rows, total, link, status } = await read(null);

    expect(status).toBe(200);
    expect(rows.map(({ op_type, content }) => `${op_type} ${content}`)).toEqual([
      'create_issue 2|two',
      'create_issue 1|one',
      'create_repo ',
    ]);
    expect(total).toBe('3');
    expect(link).toBeNull();
  });

  it('pages, and is empty past the end', async () => {
    for (let n = 1; n <= 4; n += 1) await act('wes', 'issue.open', { title: `n${n}` });

    expect((await read('wes', '?limit=2&page=2')).rows.map(({ content }) => content)).toEqual(['2|n2', '1|n1']);
    expect((await read('wes', '?limit=2&page=9')).rows).toEqual([]);
  });

  it('shows rows of private repositories to members alone', async () => {
    expect((await read('wes')).rows.map(({ repo, is_private }) => [repo?.name, is_private])).toContainEqual([
      'hidden',
      true,
    ]);
    expect((await read('otto')).rows.map(({ repo }) => repo?.name)).toEqual(['app']);
    expect((await read(null)).rows.map(({ repo }) => repo?.name)).toEqual(['app']);
    expect((await read('admin')).rows).toHaveLength(2);
  });

  it('hides the rows of people who hide their activity from all but site admins', async () => {
    await act('wes', 'push');
    const wes = forge.parts.world.userByName('wes');
    if (wes) wes.hideActivity = true;

    expect((await read('otto')).rows.map(({ op_type }) => op_type)).toEqual(['create_repo']);
    expect((await read('admin')).rows[0]).toMatchObject({ op_type: 'commit_repo', act_user: { login: 'wes' } });
  });

  it('picks a day in the zone of the server, and ignores what is no day', async () => {
    later(3600);
    await act('wes', 'issue.open', { title: 'after midnight in Berlin' });

    expect(
      (await read('wes', '?date=2026-11-20')).rows.map(({ content, created }) => [content, created.slice(0, 10)]),
    ).toEqual([['1|after midnight in Berlin', '2026-11-20']]);
    expect((await read('wes', '?date=2026-11-19')).total).toBe('2');
    expect((await read('wes', '?date=2026-02-30')).total).toBe('3');
    expect((await read('wes', '?date=yesterday')).total).toBe('3');
  });

  it('shows the comment of a row without its user, as long as it is there', async () => {
    await act('wes', 'issue.open', { title: 'x' });
    await act('wes', 'comment.create', { number: 1, body: 'hello' });

    expect((await read('wes')).rows[0]).toMatchObject({
      op_type: 'comment_issue',
      content: '1|hello',
      comment: { body: 'hello', user: null },
    });

    await act('wes', 'comment.delete', { number: 1 });
    expect((await read('wes')).rows[0]).toMatchObject({ op_type: 'comment_issue', comment: null });
  });

  it('keeps the old name of a renamed repository, and shows the repository as it is now', async () => {
    await act('wes', 'push');
    await act('olga', 'repository.rename', { name: 'application' });

    const { rows } = await read('wes');

    expect(
      rows
        .filter(({ repo }) => repo?.name === 'application')
        .map(({ op_type, content }) => [op_type, content === '' || content === 'app']),
    ).toEqual([
      ['rename_repo', true],
      ['commit_repo', false],
      ['create_repo', true],
    ]);
  });

  it('leaves gaps between ids that grow', async () => {
    await act('wes', 'push');
    const ids = (await read('admin')).rows.map(({ id }) => id);

    expect(ids).toEqual([...ids].sort((a, b) => b - a));
    expect((ids[0] ?? 0) - (ids[1] ?? 0)).toBeGreaterThan(1);
  });
});
