import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventActor, ForgeEvent } from '../../src/core/event.js';
import { newId } from '../../src/core/ids.js';
import { stringifyJson, type Json, type JsonObject } from '../../src/core/json.js';
import { Secret } from '../../src/core/secret.js';
import { Misfit, type EventFact } from '../../src/events/event-fact.js';
import { normalizeDelivery } from '../builders/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { ActProofs } from '../../src/pipeline/decide/act-proofs.js';
import type { ForgeAccess } from '../../src/pipeline/execute/forge-access.js';
import { connectForge } from '../../src/forge/connected-forges.js';
import { createForgeClient } from '../../src/forge/http/create-forge-client.js';
import type { ActProof } from '../../src/pipeline/decide/act-proof.js';
import { performAct } from '../../src/sandbox/acts/perform-act.js';
import type { ProfileName } from '../../src/sandbox/profiles.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { aWorld, EVERY_ACT, furnish } from '../deliveries/every-act.js';
import { ManualClock } from '../fakes/manual-clock.js';
import { everyRepositoryIsOurs } from '../fakes/repository-owners.js';
import { confirmedFields } from '../../src/core/act-fields.js';
import type { EventKind } from '../../src/core/event-kinds.js';
import type { AskedRepository, Ownership } from '../../src/core/repository-owner.js';
import { wrapForgeClient } from '../../src/forge/forge-client.js';
import { viewOf } from '../../src/rules/language/propose/bindings.js';

/** Somebody else than whoever did it. */
const DORA = 'dora';

/**
 * Kinds whose acts these forges confirm, with the read that does. A kind that is not here is told by nobody: who edited a comment, deleted an
 * issue, changed a wiki page, uploaded a package or changed a release.
 */
const CONFIRMED: Readonly<Record<string, string>> = {
  'branch.created': 'feed',
  'branch.deleted': 'feed',
  'comment.created': 'comment',
  'issue.assigned': 'timeline',
  'issue.closed': 'timeline',
  'issue.labeled': 'timeline',
  'issue.milestoned': 'timeline',
  'issue.opened': 'issue',
  'issue.reopened': 'timeline',
  'pull_request.closed': 'timeline',
  'pull_request.labeled': 'timeline',
  'pull_request.merged': 'pull_request',
  'pull_request.opened': 'issue',
  'pull_request.reopened': 'timeline',
  'pull_request.review_requested': 'timeline',
  push: 'feed',
  'release.published': 'feed',
  'repository.created': 'feed',
  'review.approved': 'review',
  'review.commented': 'review',
  'review.rejected': 'review',
  'status.set': 'status',
  'tag.created': 'feed',
  'tag.deleted': 'feed',
};
/** With the twenty operations alone the feed says what it says, and no more. */
const CONFIRMED_BY_FEED = Object.keys(CONFIRMED).filter(
  (kind) => !/assigned|labeled|milestoned|review_requested|review\.commented|status\.set/.test(kind),
);
const UNCONFIRMED = [
  'comment.edited',
  'comment.deleted',
  'issue.deleted',
  'release.updated',
  'release.deleted',
  'wiki.created',
];

/** What goes on by itself, what the bot's account sees and a hook does not, and "unset" times that deliveries write as 1970. */
const MOVES =
  /\.(?:archived_at|mirror_\w+|started_at|completed_at|updated_at|last_login|email|verification|branch_count)$|^pull_request\.merged pull_request\.head\.ref$|^task\.\w+ task\.(?:html_url|created_at)$/;

interface Asked {
  readonly kind: string;
  readonly honest: ActProof;
  readonly forged: ActProof;
}

/** One field of one delivery with another value than the forge has. */
interface ForgedField {
  readonly kind: string;
  readonly path: string;
  /** Asked about the delivery as it came. */
  readonly honest: ActProof;
  readonly forged: ActProof;
  readonly value: Json;
}

/** Deeper than this, an object is told by these of its fields. */
const DEPTH = 2;
const DEEP = new Set(['id', 'login', 'name', 'title', 'ref', 'sha', 'message', 'color', '0']);

/** Paths of the values in an event that are no objects. */
function leavesOf(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null || value instanceof Date)
    return path.length > 0 ? [path.join('.')] : [];
  return Object.entries(value).flatMap(([name, inner]) =>
    path.length < DEPTH || DEEP.has(name) ? leavesOf(inner, [...path, name]) : [],
  );
}

function valueAt(from: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) => (typeof value === 'object' && value !== null ? (value as JsonObject)[name] : undefined),
      from,
    );
}

/** The same with another value there. */
function withForged<From>(from: From, path: readonly string[], value: Json): From {
  const [name, ...below] = path;
  if (name === undefined) return value as From;
  const copy = (Array.isArray(from) ? [...(from as unknown[])] : { ...from }) as Record<string, unknown>;
  copy[name] = withForged(copy[name], below, value);
  return copy as From;
}

function forgedValue(value: unknown): Json {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 7;
  return typeof value === 'string' && /^[0-9a-f]{40}$/.test(value) ? 'f'.repeat(40) : 'forged';
}

describe.each<[ProfileName]>([['gitea'], ['forgejo'], ['core']])('integration/act-proofs (%s)', (profile) => {
  let sandbox: Sandbox;
  let asked: Asked[];
  let fields: ForgedField[];
  /** Answers of the forge since the last act: each of the many fields of a delivery needs the same. */
  let answers: Map<string, Promise<unknown>>;
  /** One time for all deliveries of an act, so that all ask the same questions. */
  let toldAt: Date;
  let access: ForgeAccess;
  let dora: EventActor;

  /** The repositories as the forge has them. */
  const ownershipOf = ({ id }: AskedRepository): Ownership => {
    const found = [...sandbox.parts.world.repos.values()].find((one) => String(one.id) === id);
    return found
      ? { is: 'ours', repository: { id, owner: 'acme', name: found.name } }
      : { is: 'refused', code: 'repository_gone' };
  };

  /** By their text: each row is asked about many times. */
  const rows = new Map<string, ReturnType<typeof normalizeEntry>>();
  const readOnce: typeof normalizeEntry = (entry) => {
    const facts = rows.get(entry.text) ?? normalizeEntry(entry);
    rows.set(entry.text, facts);
    return facts;
  };

  const proofs = (): ActProofs =>
    new ActProofs(
      { get: () => access },
      { ...everyRepositoryIsOurs, of: async (about) => ownershipOf(about) },
      { echoOf: async () => null },
      { isStoredSince: async () => false, toldEarlier: async () => [] },
      { toldActs: async () => new Map() },
      { normalizeEntry: readOnce },
      new ManualClock(),
    );

  const eventOf = (fact: EventFact): ForgeEvent => ({
    ...fact,
    id: newId(),
    forge: 'main',
    org: 'acme',
    source: 'webhook',
    storedAt: toldAt,
  });

  /** As somebody would write it who wants the act to be dora's: whoever did it is replaced wherever the body names them. */
  function asDora(fact: EventFact): EventFact {
    const text = stringifyJson({ ...fact, repo: null } as unknown as Json);
    const { actor } = fact;
    if (!actor) return fact;
    const forged = JSON.parse(
      text
        .replaceAll(`"id":"${actor.id}","login":"${actor.login}"`, `"id":"${dora.id}","login":"${dora.login}"`)
        .replaceAll(`"login":"${actor.login}"`, `"login":"${dora.login}"`),
    ) as EventFact;
    return { ...forged, actor: dora, repo: fact.repo, factAt: fact.factAt };
  }

  /** The first delivery of each kind; of Forgejo those that differ from Gitea's. */
  const isWalked = (kind: string): boolean =>
    !fields.some((field) => field.kind === kind) &&
    (profile !== 'forgejo' || /^(?:push|release|workflow|task)/.test(kind));

  /** Every field of a delivery but who did it, one after another. */
  async function forgeEach(fact: EventFact): Promise<ForgedField[]> {
    const view = { ...fact.data, ...labelNames(fact), repo: fact.repo };
    const all: ForgedField[] = [];
    // What the kind itself says (`action`) is no claim: another word is another kind, or none.
    const paths = leavesOf(view).filter((path) => confirmedFields(fact.kind, path)[0]?.[1] !== 'event');
    for (const path of paths) {
      const value = forgedValue(valueAt(view, path));
      const [root = '', ...below] = path.split('.');
      const names =
        root === 'repo' ? path.split('.') : root === 'labels' ? labelPath(fact, below) : ['data', root, ...below];
      all.push({
        kind: fact.kind,
        path,
        value,
        honest: await proofs().prove(eventOf(fact), [path]),
        forged: await proofs().prove(eventOf(withForged(fact, names, value)), [path]),
      });
    }
    return all;
  }

  const labelPath = ({ data }: EventFact, below: readonly string[]): string[] => [
    ...['data', data['pull_request'] ? 'pull_request' : 'issue', 'labels', ...below, 'name'],
  ];
  const labelNames = (fact: EventFact): object => {
    const labels = valueAt(fact, labelPath(fact, []).slice(0, -1).join('.'));
    return Array.isArray(labels) ? { labels: labels.map((one: JsonObject) => one['name']) } : {};
  };

  beforeAll(async () => {
    sandbox = await startSandbox({ profile, populate: (parts) => aWorld(parts) });
    const { parts } = sandbox;
    parts.deliveries.faults.dropPercent(100, 1);
    const auth = {
      type: 'basic',
      username: sandbox.admin.login,
      password: new Secret(sandbox.admin.password),
    } as const;
    const connected = await connectForge(createForgeClient({ baseUrl: sandbox.apiUrl, auth, ratePerS: 1000 }), {
      username: sandbox.admin.login,
    });
    const client = wrapForgeClient(connected.client, (name, next, args) => {
      const key = stringifyJson([name, args]);
      const known = answers.get(key) ?? next(args);
      answers.set(key, known);
      return known;
    });
    access = { client, offers: (name) => connected.capabilities.offers(name) };
    const owner = parts.world.ownerByName(DORA);
    dora = { id: String(owner?.id), login: DORA };
    [asked, fields, answers] = [[], [], new Map()];
    for (const [as, act, params = {}] of EVERY_ACT) {
      const before = parts.deliveries.history().length;
      await performAct(parts, {
        as,
        act,
        params: 'owner' in params && act.startsWith('package') ? params : { repo: 'acme/app', ...params },
      });
      if (act === 'repository.create' && params['repo'] === 'acme/app') furnish(parts);
      answers.clear();
      toldAt = new Date();
      // The forge is asked while the act is the newest there, as when a delivery has just come.
      for (const { text } of parts.deliveries.history().slice(before)) {
        const fact = normalizeDelivery({ org: 'acme', eventType: text.type, text: text.json });
        if (fact instanceof Misfit || !fact.actor || !fact.repo || as === DORA) continue;
        asked.push({
          kind: fact.kind,
          honest: await proofs().prove(eventOf(fact)),
          forged: await proofs().prove(eventOf(asDora(fact))),
        });
        if (isWalked(fact.kind)) fields.push(...(await forgeEach(fact)));
      }
    }
  });

  afterAll(() => sandbox.close());

  /** Forgejo delivers no statuses. */
  const known = (): string[] =>
    profile === 'core'
      ? CONFIRMED_BY_FEED
      : Object.keys(CONFIRMED).filter((kind) => profile !== 'forgejo' || kind !== 'status.set');

  it('confirms who did what the forge can tell, by the read that tells it', () => {
    const by = (kind: string): string[] =>
      asked.flatMap(({ kind: told, honest }) => (told === kind && honest.proven && honest.actor ? [honest.by] : []));

    expect(known().filter((kind) => !by(kind).includes(profile === 'core' ? 'feed' : (CONFIRMED[kind] ?? '')))).toEqual(
      [],
    );
  });

  it('contradicts no honest delivery', () => {
    const contradicted = asked.flatMap(({ kind, honest }) =>
      !honest.proven && !/^act\.(unreadable|not_found)$/.test(honest.code) ? [{ kind, honest }] : [],
    );

    expect(contradicted).toEqual([]);
  });

  it('confirms nobody where somebody else did it', () => {
    const believed = asked.filter(({ forged }) => forged.proven && forged.actor !== null);

    expect(believed.map(({ kind, forged }) => ({ kind, forged }))).toEqual([]);
  });

  it('says that it cannot be read what no read tells', () => {
    const told = asked.filter(({ kind }) => UNCONFIRMED.includes(kind));

    expect(new Set(told.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(4);
    expect(told.filter(({ honest }) => honest.proven || honest.code !== 'act.unreadable')).toEqual([]);
  });

  it('lets no forged value through, whatever field of whatever kind it stands in', () => {
    const shown = (proof: ActProof, path: string): string | null =>
      proof.proven ? stringifyJson(valueAt(viewOf(proof.event), path)) : null;
    const believed = fields.filter(
      ({ honest, forged, path, value }) =>
        shown(forged, path) === stringifyJson(value) && shown(honest, path) !== stringifyJson(value),
    );

    expect(believed.map(({ kind, path }) => `${kind} ${path}`)).toEqual([]);
    expect(new Set(fields.map(({ kind }) => kind)).size).toBeGreaterThan(profile === 'forgejo' ? 2 : 25);
  });

  it('tells when a rule reads something else than the delivery says', () => {
    const silent = fields.filter(({ honest, forged, path, value }) => {
      const isForgery = !honest.proven || valueAt(viewOf(honest.event), path) !== value;
      // A list of files that is not complete is not known to rules, whoever says so.
      return isForgery && path !== 'files_complete' && forged.proven && !forged.newer.includes(path);
    });

    expect(silent.map(({ kind, path }) => `${kind} ${path}`)).toEqual([]);
  });

  it('finds in the forge what an honest delivery says, in every field that the table names', () => {
    const lost = fields.filter(
      ({ kind, path, honest }) =>
        honest.proven &&
        honest.newer.length > 0 &&
        confirmedFields(kind as EventKind, path).length > 0 &&
        !MOVES.test(`${kind} ${path}`),
    );

    expect(
      lost.map(
        ({ kind, path, honest }) =>
          `${kind} ${path} ${stringifyJson(honest.proven && valueAt(viewOf(honest.event), path))}`,
      ),
    ).toEqual([]);
  });
});
