import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { confirmedFields, overlaps, type ActRead } from '../../core/act-fields.js';
import { isClaimed, OF_SUBJECT } from '../../core/event-knowledge.js';
import { canonicalJson } from '../../core/canonical-json.js';
import { Clock } from '../../core/clock.js';
import { ForgeError } from '../../core/errors.js';
import type { EventKind } from '../../core/event-kinds.js';
import { EVENT_TYPES } from '../../core/event-types.js';
import type { EventActor, EventRepository, ForgeEvent } from '../../core/event.js';
import { stringifyJson, type Json, type JsonObject } from '../../core/json.js';
import type { OwnRepository, RepositoryOwners } from '../../core/repository-owner.js';
import { TOLD_BEFORE, toldBefore } from '../../core/told-acts.js';
import { deletionsOf } from '../../events/gone.js';
import { ForgeOwners } from '../../forge/forge-owners.js';
import { viewOf } from '../../rules/language/propose/bindings.js';
import { Forges } from '../execute/forge-access.js';
import { InboxStore } from '../inbox-store.port.js';
import { JournalStore } from '../journal-store.port.js';
import { RecoveryStore } from '../recovery-store.port.js';
import { readContents, readRepository } from './act-contents.js';
import { ActContext, objectAt, type ToldActs } from './act-context.js';
import { GONE, type ActProof, type ActProver } from './act-proof.js';
import { hasEntries } from './act-entries.js';
import { feedFactOf, findAct, proven, unproven, type ActFound } from './act-reads.js';
import { EventReader } from './event-reader.js';

const NONE: ReadonlyMap<string, string> = new Map();
const KEPT_MS = 600_000;
const KEPT_AT_MOST = 1_000;

/**
 * The body of a delivery is a claim: whoever holds the secret of a hook can write anything into it. What gives power is therefore read from the forge: that
 * the act happened, who did it, and everything that the rule reads of it. Where somebody changed it since, the newest value counts. What the
 * forge cannot tell is not proven. Answers are kept for a while.
 */
@Injectable()
export class ActProofs implements ActProver {
  private readonly proofs = new LRUCache<string, { readonly atMs: number; readonly proof: Promise<ActProof> }>({
    max: KEPT_AT_MOST,
  });

  constructor(
    private readonly forges: Forges,
    /** Whose a repository is, and its name of now: the names in a body are claims as well. */
    @Inject(ForgeOwners) private readonly owners: RepositoryOwners,
    @Inject(RecoveryStore) private readonly recovery: Pick<RecoveryStore, 'echoOf'>,
    /** Knows what was deleted, and what was told before. */
    @Inject(InboxStore) private readonly inbox: Pick<InboxStore, 'isStoredSince' | 'toldEarlier'>,
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'toldActs'>,
    @Inject(EventReader) private readonly events: Pick<EventReader, 'normalizeEntry'>,
    private readonly clock: Clock,
  ) {}

  async prove(event: ForgeEvent, reads: readonly string[] = [], rule?: string): Promise<ActProof> {
    const toldActs: ToldActs = (acts) => this.toldActs(event, acts, rule);
    const nowMs = this.clock.monotonicMs();
    const key = [event.id, rule ?? '', ...reads].join(' ');
    const cachedProof = this.proofs.get(key);
    if (cachedProof && nowMs - cachedProof.atMs < KEPT_MS) {
      const proof = await cachedProof.proof;
      // Meanwhile another event may have told the same act.
      if (!proof.proven || (await toldActs(proof.acts)).size === 0) return proof;
    }
    const answer = this.askOrFollow(event, reads, rule, toldActs).then((proof) => this.orGone(event, proof));
    const proof = answer.catch((error: unknown) => {
      if (!(error instanceof ForgeError) || !isAnswer(error)) throw error;
      return unproven('act.unreadable', `the forge cannot confirm it: ${error.message}`);
    });
    this.proofs.set(key, { atMs: nowMs, proof });
    // That the forge could not be asked is its asker's alone.
    proof.catch(() => this.proofs.get(key)?.proof === proof && this.proofs.delete(key));
    return proof;
  }

  /** What was deleted since, the forge cannot confirm: nobody lied. A deletion that was told before its object is no excuse. */
  private async orGone(event: ForgeEvent, proof: ActProof): Promise<ActProof> {
    if (proof.proven || !/^act\.(?:not_found|unreadable)$/.test(proof.code)) return proof;
    const isGone = await this.inbox.isStoredSince(event, deletionsOf(event));
    return isGone ? unproven(GONE, `${proof.reason}; it was deleted`) : proof;
  }

  private async toldActs({ id, forge, org }: ForgeEvent, acts: readonly string[], rule: string | undefined) {
    const eventsOfActs = rule === undefined ? NONE : await this.journal.toldActs({ forge, org, rule, acts });
    return new Map([...eventsOfActs].filter(([, eventId]) => eventId !== id));
  }

  /** A repository that was renamed is looked for again; a redirect of its new name too would be an answer. */
  private async askOrFollow(...question: Parameters<ActProofs['ask']>): Promise<ActProof> {
    const [{ forge, repo }] = question;
    try {
      return await this.ask(...question);
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind !== 'moved' || !repo) throw error;
      this.owners.forget(forge, repo.id);
      return this.ask(...question);
    }
  }

  private async ask(
    event: ForgeEvent,
    reads: readonly string[],
    rule: string | undefined,
    toldActs: ToldActs,
  ): Promise<ActProof> {
    if (!isClaimed(event)) return this.ofPolled(event, toldActs);
    const { actor } = event;
    if (!actor) return unproven('act.unreadable', 'the delivery does not say who did it');
    // The journal knows of the call that led to it, and nothing of what others did or of words.
    const echo = hasWords(event.kind) ? null : await this.recovery.echoOf(event.id);
    const byJournal = echo && (await this.byJournal(event, actor, echo.intentId, toldActs));
    // One effect may be several acts (two people assigned), which the history tells apart.
    const isInHistory = rule !== undefined && hasEntries(event.kind);
    if (byJournal && !isInHistory && (!byJournal.proven || reads.length === 0))
      return byJournal.proven ? { ...byJournal, event, newer: [] } : byJournal;
    const context = await this.contextOf(event, actor, toldActs, rule);
    if ('proven' in context) return context;
    const actOfForge = byJournal && !isInHistory ? byJournal : await findAct(context.context);
    const act = byJournal && !actOfForge.proven && actOfForge.code !== TOLD_BEFORE ? byJournal : actOfForge;
    return act.proven ? this.withContents(context.context, act, context.repository, reads) : act;
  }

  /** What polling read, the forge itself said; its entry is only looked for so that no delivery tells it once more. */
  private async ofPolled(event: ForgeEvent, toldActs: ToldActs): Promise<ActProof> {
    const proof: ActProof = { proven: true, by: event.source, actor: event.actor, event, newer: [], acts: [] };
    if (!event.actor) return proof;
    const context = await this.contextOf(event, event.actor, toldActs);
    if ('proven' in context) return proof;
    const act = await findAct(context.context);
    if (act.proven) return { ...proof, acts: act.acts };
    return act.code === TOLD_BEFORE ? act : proof;
  }

  /** One effect of the bot is one act of each kind. */
  private async byJournal(
    event: ForgeEvent,
    actor: EventActor,
    intentId: string,
    toldActs: ToldActs,
  ): Promise<ActFound> {
    const act = `effect ${event.kind} ${intentId}`;
    const [first] = (await toldActs([act])).values();
    return first === undefined ? proven('journal', actor, null, [act]) : unproven(TOLD_BEFORE, toldBefore(first));
  }

  private async contextOf(
    event: ForgeEvent,
    actor: EventActor,
    toldActs: ToldActs,
    rule?: string,
  ): Promise<{ context: ActContext; repository: OwnRepository } | Extract<ActFound, { proven: false }>> {
    const { repo } = event;
    const access = this.forges.get(event.forge, event.org);
    if (!access || !repo) return unproven('act.unreadable', 'the delivery names no repository');
    const ownership = await this.owners.of({ forge: event.forge, org: event.org, id: repo.id, name: repo.name });
    if (ownership.is === 'refused')
      return unproven('act.unreadable', `the repository cannot be read (${ownership.code})`);
    const { owner, name } = ownership.repository;
    const context = new ActContext({
      access,
      event,
      actor,
      repo: { ...repo, owner, name },
      readRow: (row, org) => {
        const text = stringifyJson(row as Json);
        const facts = this.events.normalizeEntry({ org, source: 'feed', text, textHash: '' });
        return Array.isArray(facts) ? facts : [];
      },
      toldActs,
      earlier: async (after) => (rule === undefined ? [] : this.inbox.toldEarlier(event.id, rule, after)),
    });
    return { context, repository: ownership.repository };
  }

  /** The event with what the forge says of all that is read of it, and with nothing else that the delivery says. */
  private async withContents(
    context: ActContext,
    act: Extract<ActFound, { proven: true }>,
    repository: OwnRepository,
    reads: readonly string[],
  ): Promise<ActProof> {
    const { event } = context;
    const needed = new Map<string, ActRead>();
    for (const path of reads) {
      const fields = confirmedFields(event.kind, path);
      if (fields.length === 0 && isField(event.kind, path)) return unconfirmed(path);
      for (const [field, read] of fields) needed.set(field, read);
    }
    // Files are known to rules only with the word that they are all.
    if (needed.has('files') || needed.has('files_complete'))
      for (const field of ['files', 'files_complete']) needed.set(field, 'commits');
    const data: JsonObject = {};
    const numbered = act.by === 'feed' ? await feedFactOf(context) : event;
    put(data, 'number', numbered?.data['number']);
    let repo = eventRepositoryOf(repository);
    for (const [field, read] of needed) {
      const path = reads.find((one) => one !== '' && overlaps(one, field));
      if (read === 'repository') {
        const fullRepo = isEnough(repo, reads) ? repo : await readRepository(context);
        if (!fullRepo && path !== undefined) return unconfirmed(path);
        repo = fullRepo ?? repo;
      } else if (read === 'event') put(data, field, valueAt(event.data, field));
      else if (read !== 'act') {
        const contents = await readContents(context, read);
        if (!contents && path !== undefined) return unconfirmed(path);
        // What the bot itself makes of an object (`event.labels`, `event.command`) it makes of the one that was read.
        const source = VIEWS.has(field) ? read : field;
        put(data, source, valueAt(contents ?? {}, source));
      }
    }
    const factAt = needed.has('fact_at') ? dateOf(act.at) : event.factAt;
    const confirmed: ForgeEvent = { ...event, factAt, repo, data };
    const [claimedView, view] = [viewOf(event), viewOf(confirmed)];
    // What only the delivery has is not shown by any read, as where the feed alone tells of an issue.
    const unshown = reads.find((path) => valueAt(claimedView, path) !== undefined && valueAt(view, path) === undefined);
    if (unshown !== undefined && unshown !== '') return unconfirmed(unshown);
    const newer = reads.filter((path) => path === '' || textAt(claimedView, path) !== textAt(view, path));
    return { proven: true, by: act.by, actor: act.actor, event: confirmed, newer, acts: act.acts };
  }
}

/** Fields that are no part of an event's data; they are made of another one. */
const VIEWS: ReadonlySet<string> = new Set([...OF_SUBJECT.keys(), 'command']);

function unconfirmed(path: string): ActProof {
  return unproven('act.unreadable', `no read of this forge shows event.${path}`);
}

/** Whether an event of this kind has such a field: what it never has, nobody can have written into it. */
function isField(kind: EventKind, path: string): boolean {
  return Object.hasOwn(EVENT_TYPES.get(kind)?.type.fields ?? {}, path.split('.')[0] ?? '');
}

function textAt(view: object, path: string): string {
  return canonicalJson(valueAt(view, path) ?? null);
}

/** Whose a repository is, and under which name, is known already. */
function eventRepositoryOf({ id, owner, name, ...flags }: OwnRepository): EventRepository {
  return { id, owner, name, full_name: `${owner}/${name}`, ...flags };
}

function isEnough(repo: EventRepository, reads: readonly string[]): boolean {
  return reads.every(
    (path) => !overlaps(path, 'repo') || (path.startsWith('repo.') && valueAt({ repo }, path) !== undefined),
  );
}

/** Undefined = there is no such value. */
function valueAt(from: unknown, path: string): Json | undefined {
  return path.split('.').reduce<unknown>((value, name) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    const inner: unknown = (value as Record<string, unknown>)[name];
    return inner instanceof Date ? inner.toISOString() : inner;
  }, from) as Json | undefined;
}

function put(into: JsonObject, path: string, value: Json | undefined): void {
  if (value === undefined) return;
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at = into;
  for (const name of names) {
    const inner: JsonObject = { ...objectAt(at, name) };
    at[name] = inner;
    at = inner;
  }
  at[last] = value;
}

function dateOf(time: string | null): Date | null {
  return time === null || Number.isNaN(Date.parse(time)) ? null : new Date(time);
}

/** An answer that will be the same when the forge is asked again: a refusal, or a list without end. */
function isAnswer({ kind, facts }: ForgeError): boolean {
  return kind === 'refused' || kind === 'moved' || facts.detail === 'pages';
}

function hasWords(kind: EventKind): boolean {
  return kind === 'comment.created' || kind.startsWith('review.');
}
