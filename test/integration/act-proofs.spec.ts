import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventActor, ForgeEvent } from '../../src/core/event.js';
import { newId } from '../../src/core/ids.js';
import { stringifyJson, type Json } from '../../src/core/json.js';
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
import { everyHomeIsOurs } from '../fakes/repository-homes.js';

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

interface Asked {
  readonly kind: string;
  readonly honest: ActProof;
  readonly forged: ActProof;
}

describe.each<[ProfileName]>([['gitea'], ['forgejo'], ['core']])('integration/act-proofs (%s)', (profile) => {
  let sandbox: Sandbox;
  let asked: Asked[];
  let access: ForgeAccess;
  let dora: EventActor;

  const proofs = (): ActProofs =>
    new ActProofs({
      forges: { get: () => access },
      homes: everyHomeIsOurs,
      recovery: { echoOf: async () => null },
      readRow: (row, org) => {
        const facts = normalizeEntry({ org, source: 'feed', text: stringifyJson(row as Json), textHash: '' });
        return facts instanceof Misfit ? [] : facts;
      },
      clock: new ManualClock(),
    });

  const eventOf = (fact: EventFact): ForgeEvent => ({
    ...fact,
    id: newId(),
    forge: 'main',
    org: 'acme',
    source: 'webhook',
    storedAt: new Date(),
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
    access = { client: connected.client, offers: (name) => connected.capabilities.offers(name) };
    const owner = parts.world.ownerByName(DORA);
    dora = { id: String(owner?.id), login: DORA };
    asked = [];
    for (const [as, act, params = {}] of EVERY_ACT) {
      const before = parts.deliveries.history().length;
      await performAct(parts, {
        as,
        act,
        params: 'owner' in params && act.startsWith('package') ? params : { repo: 'acme/app', ...params },
      });
      if (act === 'repository.create' && params['repo'] === 'acme/app') furnish(parts);
      // The forge is asked while the act is the newest there, as when a delivery has just come.
      for (const { text } of parts.deliveries.history().slice(before)) {
        const fact = normalizeDelivery({ org: 'acme', eventType: text.type, text: text.json });
        if (fact instanceof Misfit || !fact.actor || !fact.repo || as === DORA) continue;
        asked.push({
          kind: fact.kind,
          honest: await proofs().prove(eventOf(fact)),
          forged: await proofs().prove(eventOf(asDora(fact))),
        });
      }
    }
  }, 120_000);

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
});
