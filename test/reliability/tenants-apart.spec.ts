import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/core/json.js';
import { isJsonObject, stringifyJson } from '../../src/core/json.js';
import { TenantMismatch } from '../../src/events/bind-tenant.js';
import { statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { type EventFact, Misfit } from '../../src/events/event-fact.js';
import { OWNER_PLACES, PLACES_IN_REPOSITORY, type Teller } from '../../src/events/owner-places.js';
import { misfitOf } from '../../src/events/normalize-delivery.js';
import { normalizeDelivery } from '../builders/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { repositoryOf } from '../../src/events/read-fields.js';
import { hasFullSet } from '../deliveries/recorded-shapes.js';
import {
  foreignBodies,
  OURS,
  placesOf,
  recordedArrivals,
  VICTIM,
  VICTIM_ID,
  type Arriving,
  type ForeignBody,
} from './support/foreign-bodies.js';

const arrivals = recordedArrivals();

/** What the organization of the hook makes of a body: events, or why there are none. */
function tell({ type, body }: Arriving): EventFact[] | Misfit {
  const text = stringifyJson(body);
  const isRow = type === 'feed' || type === 'tasks' || type === 'lists';
  const told = isRow
    ? normalizeEntry({ org: OURS, source: type, text, textHash: 'hash' })
    : normalizeDelivery({ org: OURS, eventType: type, text });
  return told instanceof Misfit || Array.isArray(told) ? told : [told];
}

/** Whether something of the other organization becomes what the event is about. */
function crosses(
  facts: readonly Pick<EventFact, 'repo' | 'factKey' | 'kind' | 'data'>[],
  isLoneNumber: boolean,
): boolean {
  return facts.some((fact) => {
    const stated = statedObjectOf(fact as EventFact);
    const names = [fact.repo?.owner, fact.repo?.full_name].map((name) => name ?? `${OURS}/app`);
    const isOurs =
      names.every((name) => name === OURS || name.startsWith(`${OURS}/`)) &&
      !/strongbox/i.test(`${fact.repo?.name} ${fact.repo?.full_name}`);
    // What bears our names and another's number alone the forge has to tell.
    if (isLoneNumber) return !isOurs;
    const ids = [fact.repo?.id, stated?.repoId, fact.repo ? fact.factKey.split('|')[0] : undefined];
    return !isOurs || ids.includes(String(VICTIM_ID));
  });
}

/** A body says the number of its repository at several own places, of which one was changed. */
function numbersIn({ type, body }: Arriving): Set<string> {
  const numbers = new Set<string>();
  const walk = (value: unknown, key: string): void => {
    if (Array.isArray(value)) value.forEach((item) => walk(item, key));
    else if (isJsonObject(value)) {
      if (/^(repository|repo|forkee)$/.test(key) && value.id !== undefined) numbers.add(String(value.id));
      for (const [name, part] of Object.entries(value)) walk(part, name);
    } else if (/^repo_id$/.test(key)) numbers.add(String(value));
  };
  // Beside the original of a fork stands the fork, which is somebody else's.
  walk(type === 'fork' ? { forkee: body.forkee ?? null } : body, '');
  return numbers;
}

describe('reliability/tenants-apart', () => {
  it('makes an event of every body as it was recorded', () => {
    const none = arrivals
      .filter(({ server }) => server !== 'sample')
      .flatMap((arriving) => {
        const told = tell(arriving);
        return told instanceof Misfit ? [`${arriving.server} ${arriving.type}: ${told.code} ${told.reason}`] : [];
      });

    expect(none).toEqual([]);
    expect(new Set(arrivals.map(({ type }) => type)).size).toBeGreaterThan(25);
  });

  it('lets nothing of another organization become what an event is about, at whatever place of whatever body it stands', () => {
    const crossed: string[] = [];
    const codes = new Map<string, number>();
    let count = 0;
    for (const foreign of foreignBodies(arrivals)) {
      const told = tell(foreign);
      count += 1;
      const outcome = told instanceof Misfit ? told.code : 'event';
      codes.set(outcome, (codes.get(outcome) ?? 0) + 1);
      const isAlone = foreign.isLoneNumber && numbersIn(foreign).size === 1;
      if (!(told instanceof Misfit) && crosses(told, isAlone))
        crossed.push(`${foreign.server} ${foreign.type} ${foreign.title}`);
    }

    expect(crossed.slice(0, 20)).toEqual([]);
    expect(count).toBeGreaterThan(5_000);
    for (const code of ['tenant_other_owner', 'tenant_contradiction', 'tenant_unreadable'])
      expect([code, (codes.get(code) ?? 0) > 100]).toEqual([code, true]);
  });

  it('finds what a program lets through that asks one place whose a body is and acts on another', () => {
    const through = new Map<string, string>();
    for (const foreign of foreignBodies(arrivals)) {
      const repo = readOnePlace(foreign);
      if (repo && crosses([{ repo, factKey: `${repo.id}|x`, kind: 'unrecognized', data: {} }], false))
        through.set(`${foreign.type} ${foreign.title}`, foreign.server);
    }

    expect([...through.keys()]).toEqual(
      expect.arrayContaining([
        // A repository of the sender beside the one that is acted on; a package of the sender with a linked repository; two spellings of one owner.
        'package package.repository: the whole repository',
        'push repository: the whole repository, our owner by name',
        'issues repository: the whole repository, our owner by name',
      ]),
    );
    expect(readOnePlace(attackA())?.full_name).toBe(`${VICTIM}/vault`);
    expect(tell(attackA())).toMatchObject({ code: 'tenant_other_owner', place: 'run.repository' });
  });

  it('lists every recorded place of every type, with the servers that tell it', () => {
    const wrong = new Set<string>();
    const told = new Set<string>();
    for (const { server, type, body } of arrivals) {
      if (server === 'sample') continue;
      const listed = OWNER_PLACES.get(type)?.places ?? {};
      const teller: Teller =
        type === 'tasks' || type === 'lists' ? 'poller' : server.startsWith('forgejo') ? 'forgejo' : 'gitea';
      for (const path of placesOf(body)) {
        const within = Object.entries(listed).find(
          ([place, { role }]) => path === place || (role !== 'own' && path.startsWith(`${place}.`)),
        );
        const inside = Object.keys(PLACES_IN_REPOSITORY).some((name) => new RegExp(`\\.${name}(\\.|$)`).test(path));
        if (!within && !inside) wrong.add(`${type} ${path} is not listed`);
        else if (within && !within[1].by.includes(teller)) wrong.add(`${type} ${path} is told by ${teller}`);
        if (within) told.add(`${type} ${within[0]} ${teller}`);
      }
    }
    // The selection lacks some acts.
    const untold = [...OWNER_PLACES].flatMap(([type, { places }]) =>
      Object.entries(places).flatMap(([path, { by }]) =>
        by
          .filter((teller) => teller !== 'unrecorded' && !told.has(`${type} ${path} ${teller}`))
          .map((teller) => `${type} ${path} ${teller}`),
      ),
    );

    expect([...wrong]).toEqual([]);
    if (hasFullSet) expect(untold).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    [
      'another owner',
      {
        repo: repositoryBy({
          id: VICTIM_ID,
          full_name: `${VICTIM}/vault`,
          name: 'vault',
          owner: { id: 900, login: VICTIM },
        }),
        repo_id: VICTIM_ID,
      },
    ],
    [
      'another owner and name, with the number that it had',
      { repo: repositoryBy({ full_name: `${VICTIM}/vault`, name: 'vault', owner: { id: 900, login: VICTIM } }) },
    ],
  ])('keeps the event of a row whose repository has %s by now, about no repository', (_title, change) => {
    const row = arrivals.find(
      ({ type, body }) => type === 'feed' && body.op_type === 'create_issue' && body.repo_id === 37,
    );
    const told = tell({ server: '', type: 'feed', body: { ...row?.body, ...change } });

    expect(told).toMatchObject([{ kind: 'issue.opened', repo: null, hasMoved: true, data: { number: 1 } }]);
  });

  it.each<[string, (body: JsonObject) => JsonObject]>([
    [
      'a fork by another organization',
      (body) => ({
        ...body,
        repository: {
          ...(body.repository as JsonObject),
          full_name: `${VICTIM}/app`,
          owner: { id: 900, login: VICTIM },
        },
      }),
    ],
    [
      'a fork of a fork',
      (body) => ({
        ...body,
        forkee: {
          ...(body.forkee as JsonObject),
          parent: { id: 1, full_name: `${VICTIM}/app`, owner: { login: VICTIM } },
        },
      }),
    ],
    [
      'a repository that is about to go to another organization',
      (body) => ({
        ...body,
        forkee: {
          ...(body.forkee as JsonObject),
          repo_transfer: { doer: { id: 1 }, recipient: { login: VICTIM }, teams: [{ organization: { name: VICTIM } }] },
        },
      }),
    ],
  ])('takes %s as ours, since another owner may stand there', (_title, change) => {
    const fork = arrivals.find(({ type }) => type === 'fork');

    expect(tell({ server: '', type: 'fork', body: change(fork?.body ?? {}) })).toMatchObject([
      { kind: 'repository.forked', repo: { owner: OURS } },
    ]);
  });

  it('names the place and the code, and no text of the body in its reason', () => {
    const push = arrivals.find(({ type }) => type === 'push');
    const told = tell({
      server: '',
      type: 'push',
      body: { ...push?.body, organization: { username: 'evil\u001b[31m' } },
    });

    expect(told).toBeInstanceOf(TenantMismatch);
    expect(told).toMatchObject({
      code: 'tenant_other_owner',
      place: 'organization',
      reason: expect.not.stringContaining('evil'),
      named: 'evil\u001b[31m',
    });
  });
});

function repositoryBy(change: JsonObject): JsonObject {
  return { id: 37, name: 'app', full_name: `${OURS}/app`, owner: { id: 32, login: OURS }, ...change };
}

/** A run of the victim with a repository of the sender beside it. */
function attackA(): ForeignBody {
  const repository = { id: VICTIM_ID, name: 'vault', full_name: `${VICTIM}/vault`, owner: { id: 900, login: VICTIM } };
  const run = { id: 1, commit_sha: 'a'.repeat(40), status: 'success', repository };
  return {
    server: 'made',
    type: 'action_run_success',
    title: 'attack A',
    isLoneNumber: false,
    body: { action: 'success', run, repository: repositoryBy({}) },
  };
}

/**
 * A reader as many programs have it, for the test of the test: the first place that names an owner says whose the body is, and the place that the event
 * type has says on what to act.
 */
function readOnePlace({ type, body }: ForeignBody) {
  if (misfitOf(type, body) !== null) return null;
  const at = (...path: string[]): unknown =>
    path.reduce<unknown>((here, key) => (isJsonObject(here) ? here[key] : undefined), body);
  const owners = [
    ...(type === 'fork' ? [at('forkee', 'owner')] : []),
    at('repository', 'owner'),
    at('package', 'owner'),
    at('run', 'repository', 'owner'),
    at('organization'),
  ];
  const names = owners
    .flatMap((owner) => (isJsonObject(owner) ? [owner.login, owner.username, owner.name] : []))
    .filter((name) => typeof name === 'string' && name !== '');
  if (String(names[0]).toLowerCase() !== OURS) return null;
  const main = OWNER_PLACES.get(type)?.main ?? 'repository';
  return repositoryOf(
    main.split('.').reduce<unknown>((here, key) => (isJsonObject(here) ? here[key] : undefined), body) as JsonObject,
  );
}
