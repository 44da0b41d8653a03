import { describe, expect, it } from '@jest/globals';
import { sampleBody } from '../../test/builders/sample-bodies.js';
import type { JsonObject } from '../core/json.js';
import { bindDelivery } from './bind-tenant.js';

const SAMPLES = ['push', 'issues', 'repository', 'release'] as const;

/** Beside the repository, the body of an issue names its owner without a number. */
const SHORT = { issue: { repository: { id: 37, name: 'app', full_name: 'newname/app', owner: 'newname' } } };

/** The body with another number, and perhaps another name, wherever its owner stands as an object. */
function withOwner(body: JsonObject, owner: JsonObject): JsonObject {
  const change = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(change);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [
        key,
        (key === 'owner' || key === 'organization') && typeof part === 'object'
          ? { ...(part as object), ...owner }
          : key === 'full_name' && typeof owner['login'] === 'string'
            ? `${owner['login']}/${String(part).split('/')[1]}`
            : change(part),
      ]),
    );
  };
  return change(body) as JsonObject;
}

function ownerOf(body: JsonObject): { login: string; id: string } {
  const { login, id } = (body['repository'] as JsonObject)['owner'] as JsonObject;
  return { login: String(login), id: String(id) };
}

describe.each(SAMPLES)('events/bind-tenant: the number of the organization in %s', (type) => {
  const body = sampleBody(type) as JsonObject;
  const { login, id } = ownerOf(body);

  it('takes what names it, and what is bound before it is known', () => {
    expect(bindDelivery(login, id, type, body)).toMatchObject({ movedTo: null });
    expect(bindDelivery(login, null, type, withOwner(body, { id: 999 }))).toMatchObject({ movedTo: null });
  });

  it('refuses another number under the same name', () => {
    expect(bindDelivery(login, id, type, withOwner(body, { id: 999 }))).toMatchObject({
      code: 'tenant_other_number',
      named: '999',
    });
  });

  it('tells a new name of the same number from another owner', () => {
    const renamed = { login: 'newname', username: 'newname' };
    expect(bindDelivery(login, id, type, withOwner(body, renamed))).toMatchObject({ code: 'tenant_renamed' });
    expect(bindDelivery(login, id, type, { ...SHORT, ...withOwner(body, renamed) })).toMatchObject({
      code: 'tenant_renamed',
    });
    expect(
      bindDelivery(login, id, type, { ...withOwner(body, renamed), organization: { login: 'evil' } }),
    ).toMatchObject({
      code: 'tenant_other_owner',
    });
    expect(bindDelivery(login, id, type, withOwner(body, { ...renamed, id: 999 }))).toMatchObject({
      code: 'tenant_other_owner',
    });
  });
});
