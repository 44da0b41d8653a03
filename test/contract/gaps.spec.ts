import { describe, expect, it } from '@jest/globals';
import { withSilentSteps } from './gaps.js';
import type { Story } from './story.js';

const step = (n: number, title: string, method = 'GET', url = ''): unknown => ({
  n,
  title,
  auth: { kind: 'none' },
  request: { method, path: '/x', headers: {}, body: { address: `${url}/api/v1/x` } },
  response: { status: 200, headers: {}, body: '' },
});
const aStory = (server: string, steps: unknown[]): Story =>
  ({ name: server, story: 'tale', server, people: [], given: [], steps }) as unknown as Story;

const mine = aStory('forgejo 15.0.3', [
  step(1, 'list', 'GET', 'http://127.0.0.1:3400'),
  step(4, 'list again'),
  step(9, 'end'),
]);

describe('contract/gaps', () => {
  it('puts back a change that another server has at the same place, with the own address in it', () => {
    const other = aStory('gitea 1.27.0', [
      step(1, 'list', 'GET', 'http://127.0.0.1:3300'),
      step(2, 'sync', 'POST', 'http://127.0.0.1:3300'),
      step(4, 'list again'),
      step(9, 'end'),
    ]);

    const { steps } = withSilentSteps(mine, [other]);

    expect(steps.map(({ n }) => n)).toEqual([1, 2, 4, 9]);
    expect(steps[1]).toMatchObject({
      title: 'sync',
      isSilent: true,
      request: { body: { address: 'http://127.0.0.1:3400/api/v1/x' } },
    });
  });

  it('leaves reads where they are', () => {
    expect(
      withSilentSteps(mine, [aStory('gitea 1.27.0', [step(1, 'list'), step(2, 'get'), step(4, 'list again')])]),
    ).toBe(mine);
  });

  it('takes nothing where the other story counts otherwise', () => {
    expect(
      withSilentSteps(mine, [
        aStory('gitea 1.27.0', [step(1, 'list'), step(2, 'sync', 'POST'), step(4, 'something else')]),
      ]),
    ).toBe(mine);
  });

  it('takes nothing from beyond the end', () => {
    expect(withSilentSteps(mine, [aStory('gitea 1.27.0', [step(9, 'end'), step(10, 'more', 'POST')])])).toBe(mine);
  });
});
