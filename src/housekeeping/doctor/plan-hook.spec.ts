import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../core/secret.js';
import type { Hook } from '../../core/objects/repositories.js';
import { planHook, type HookOrders, type HookWish } from './plan-hook.js';
import type { ServerKind } from './versions.js';

const URL = 'https://bot.example.org/webhooks/acme';
const wish: HookWish = {
  id: 'acme',
  url: URL,
  events: ['issues', 'push'],
  authorizations: [],
  secret: new Secret('s3cret'),
  authorization: null,
};
const SHOWN: ServerKind = { product: 'gitea', version: '1.27.0-rc0' };
const HIDDEN: ServerKind = { product: 'gitea', version: '1.27.1' };

/** A webhook as it should be, but for what is given. */
function aHook(given: Partial<Hook> = {}, config: Record<string, string> = {}): Hook {
  return {
    id: '5',
    type: 'gitea',
    active: true,
    branch_filter: '*',
    events: ['issues', 'push'],
    authorization_header: new Secret(''),
    config: { url: URL, content_type: 'json', ...config },
    ...given,
  };
}

const plan = (hooks: Hook[], orders: HookOrders = {}, server = SHOWN, wanted = wish) =>
  planHook(hooks, wanted, server, orders);
const fields = (made: ReturnType<typeof plan>): string[] =>
  'changes' in made ? made.changes.map(({ field }) => field) : [];

/** What a PATCH would leave, secrets revealed. */
function bodyOf(made: ReturnType<typeof plan>): Record<string, unknown> {
  if (!('body' in made)) throw new Error(`nothing is written: ${made.does}`);
  const { authorization_header: header, ...body } = made.body;
  return { ...body, authorization_header: header instanceof Secret ? header.reveal() : header };
}

describe('housekeeping/doctor/plan-hook', () => {
  it('makes one where there is none, active, for all branches, with the secret', () => {
    const made = plan([aHook({}, { url: 'https://elsewhere.example.org/x' })]);

    expect(made).toMatchObject({ does: 'create' });
    expect(bodyOf(made)).toEqual({
      active: true,
      branch_filter: '*',
      config: { url: URL, content_type: 'json', secret: wish.secret },
      events: ['issues_only', 'push'],
      authorization_header: undefined,
    });
    expect(JSON.stringify(made)).not.toContain('s3cret');
  });

  it.each<[string, Partial<Hook>, Record<string, string>]>([
    ['as it should be', {}, {}],
    ['more events', { events: ['issues', 'push', 'wiki'] }, {}],
    ['a filter of two stars', { branch_filter: '**' }, {}],
    ['no filter', { branch_filter: null }, {}],
    ['an Authorization header of its own', { authorization_header: new Secret('Bearer proxy') }, {}],
  ])('leaves a webhook alone: %s', (_what, given, config) => {
    expect(plan([aHook(given, config)])).toEqual({ does: 'nothing', hook: '5' });
  });

  it.each<[string, Partial<Hook>, Record<string, string>]>([
    ['active', { active: false }, {}],
    ['content_type', {}, { content_type: 'form' }],
    ['events', { events: ['push'] }, {}],
    ['branch_filter', { branch_filter: 'main' }, {}],
  ])('repairs what is wrong alone, and says all of it again: %s', (field, given, config) => {
    const made = plan([aHook({ authorization_header: new Secret('Bearer proxy'), ...given }, config)]);

    expect(made).toMatchObject({ does: 'repair', hook: '5' });
    expect(fields(made)).toEqual([field]);
    expect(bodyOf(made)).toEqual({
      active: true,
      branch_filter: '*',
      config: { url: URL, content_type: 'json' },
      events: ['issues_only', 'push'],
      authorization_header: 'Bearer proxy',
    });
  });

  it('asks again for what a webhook asks for, in the names that mean just that', () => {
    const made = plan([
      aHook({ events: ['wiki', 'issues', 'pull_request_review_approved', 'pull_request_review_comment'] }),
    ]);

    expect(bodyOf(made).events).toEqual(['issues_only', 'pull_request_review', 'push', 'wiki']);
  });

  it('leaves a filter that a person wants', () => {
    expect(plan([aHook({ branch_filter: 'main' })], { keepFilter: true })).toEqual({ does: 'nothing', hook: '5' });
    expect(bodyOf(plan([aHook({ branch_filter: 'main', active: false })], { keepFilter: true })).branch_filter).toBe(
      'main',
    );
  });

  it('sets the Authorization header that the config names, and keeps any of those it takes', () => {
    const wanted = { ...wish, authorizations: ['Bearer new', 'Bearer old'], authorization: new Secret('Bearer new') };

    expect(plan([aHook({ authorization_header: new Secret('Bearer old') })], {}, SHOWN, wanted).does).toBe('nothing');
    expect(bodyOf(plan([aHook()], {}, SHOWN, wanted)).authorization_header).toBe('Bearer new');
  });

  it('does not clear an Authorization header that it cannot see', () => {
    const broken = aHook({ active: false });
    const wanted = { ...wish, authorizations: ['Bearer new'], authorization: new Secret('Bearer new') };

    expect(plan([broken], {}, HIDDEN)).toMatchObject({
      does: 'refused',
      why: expect.stringContaining('does not show the Authorization header of webhook 5'),
    });
    expect(bodyOf(plan([broken], { withoutAuthorization: true }, HIDDEN)).authorization_header).toBe('');
    expect(bodyOf(plan([broken], {}, HIDDEN, wanted)).authorization_header).toBe('Bearer new');
    expect(plan([aHook()], {}, HIDDEN).does).toBe('nothing');
  });

  it('takes no webhook of another bot, unless a person names it', () => {
    const other = aHook({}, { url: 'https://staging.example.org/webhooks/acme' });

    expect(plan([other])).toMatchObject({ does: 'refused', why: expect.stringContaining('may be another bot') });
    expect(plan([other], { isNew: true }).does).toBe('create');
    expect(plan([other], { hook: '5' })).toMatchObject({ does: 'repair', hook: '5' });
    expect(plan([other], { hook: '6' })).toMatchObject({ does: 'refused', why: 'the organization has no webhook 6' });
    expect(plan([other, aHook({ id: '6' })])).toEqual({ does: 'nothing', hook: '6' });
  });

  it('makes a new one in the place of ours with what it had, and the secret', () => {
    const made = plan([aHook({ events: ['push', 'wiki'], authorization_header: new Secret('Bearer proxy') })], {
      recreate: true,
    });

    expect(made).toMatchObject({ does: 'replace', hook: '5' });
    expect(bodyOf(made)).toMatchObject({
      events: ['issues_only', 'push', 'wiki'],
      authorization_header: 'Bearer proxy',
      config: { secret: wish.secret },
    });
  });
});
