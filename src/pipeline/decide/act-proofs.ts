import type { Clock } from '../../core/clock.js';
import { ForgeError } from '../../core/errors.js';
import { isClaimed } from '../../core/event-knowledge.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { ForgeEvent } from '../../core/event.js';
import type { RepositoryHomes } from '../../core/repository-home.js';
import type { Forges } from '../execute/forge-access.js';
import type { RecoveryStore } from '../recovery-store.port.js';
import type { ActProof, ActProver } from './act-proof.js';
import {
  isSame,
  otherAuthor,
  personAt,
  proven,
  readIssue,
  readsOf,
  unproven,
  type ActContext,
  type ClaimedPerson,
  type ReadRow,
} from './act-reads.js';

interface ActProofsDeps {
  readonly forges: Forges;
  /** Whose a repository is, and its name of now: the names in a body are claims as well. */
  readonly homes: RepositoryHomes;
  readonly recovery: Pick<RecoveryStore, 'echoOf'>;
  readonly readRow: ReadRow;
  readonly clock: Clock;
}

const KEPT_MS = 600_000;
const KEPT_AT_MOST = 5_000;

/**
 * The body of a delivery is a claim: whoever holds the secret of a hook can write any sender into it. What gives power is therefore read
 * from the forge: the comment, the review or the act, and its author. What the forge cannot tell is not proven. Answers are kept for a while.
 */
export class ActProofs implements ActProver {
  private readonly kept = new Map<string, { readonly atMs: number; readonly proof: Promise<ActProof> }>();

  constructor(private readonly deps: ActProofsDeps) {}

  prove(event: ForgeEvent, people: readonly string[] = []): Promise<ActProof> {
    const nowMs = this.deps.clock.monotonicMs();
    const key = [event.id, ...people].join(' ');
    const known = this.kept.get(key);
    if (known && nowMs - known.atMs < KEPT_MS) return known.proof;
    if (this.kept.size >= KEPT_AT_MOST) this.kept.clear();
    const proof = this.ask(event, people).catch((error: unknown) => {
      if (!(error instanceof ForgeError) || !isAnswer(error)) throw error;
      return unproven('act.unreadable', `the forge cannot confirm it: ${error.message}`);
    });
    this.kept.set(key, { atMs: nowMs, proof });
    // That the forge could not be asked is its asker's alone.
    proof.catch(() => this.kept.get(key)?.proof === proof && this.kept.delete(key));
    return proof;
  }

  private async ask(event: ForgeEvent, people: readonly string[]): Promise<ActProof> {
    // What polling read, the forge itself said.
    if (!isClaimed(event)) return { proven: true, by: event.source, actor: event.actor };
    const { actor, repo } = event;
    if (!actor) return unproven('act.unreadable', 'the delivery does not say who did it');
    const others = people.flatMap((path) => {
      const claimed = path === 'actor' ? undefined : personAt(event.data, path);
      const isKnown = claimed !== undefined && isSame(claimed, actor) && !isAuthor(path, event.kind);
      return claimed === undefined || isKnown ? [] : [{ path, claimed }];
    });
    // The journal knows of the call that led to it, and nothing of what others did or of words.
    const isEcho = !hasWords(event.kind) && (await this.deps.recovery.echoOf(event.id)) !== null;
    if (isEcho && others.length === 0) return proven('journal', actor);
    const access = this.deps.forges.get(event.forge, event.org);
    if (!access || !repo) return unproven('act.unreadable', 'the delivery names no repository');
    const home = await this.deps.homes.of({ forge: event.forge, org: event.org, id: repo.id, name: repo.name });
    if (home.is === 'refused') return unproven('act.unreadable', `the repository cannot be read (${home.code})`);
    const { owner, name } = home.repository;
    const context: ActContext = { access, event, actor, repo: { ...repo, owner, name }, readRow: this.deps.readRow };
    const proof = isEcho ? proven('journal', actor) : await readAct(context);
    return proof.proven ? ((await contradictionOf(context, others)) ?? proof) : proof;
  }
}

/** An answer that will be the same when the forge is asked again: a refusal, or a list without end. */
function isAnswer({ kind, facts }: ForgeError): boolean {
  return kind === 'refused' || kind === 'moved' || facts.detail === 'pages';
}

async function readAct(context: ActContext): Promise<ActProof> {
  const { kind } = context.event;
  for (const read of readsOf(kind)) {
    const proof = await read(context);
    if (proof !== undefined) return proof;
  }
  return unproven('act.unreadable', `this forge has no read that shows who did it (${kind})`);
}

/** Why one of the people beside the actor is not as the delivery says; null = the forge confirms them all. */
async function contradictionOf(
  context: ActContext,
  others: ReadonlyArray<{ path: string; claimed: ClaimedPerson }>,
): Promise<ActProof | null> {
  for (const { path, claimed } of others) {
    if (path !== 'issue.user' && path !== 'pull_request.user')
      return unproven('act.unreadable', `no read shows who event.${path} is`);
    const found = await readIssue(context);
    if (found === undefined) return unproven('act.unreadable', 'this forge has no read that shows who wrote it');
    if (!isSame(claimed, found?.user)) return otherAuthor(claimed, found?.user, `event.${path}`);
  }
  return null;
}

/** Who wrote an issue or pull request that somebody acts on: that they are one person is a claim of its own. */
function isAuthor(path: string, kind: EventKind): boolean {
  return /^(?:issue|pull_request)\.user$/.test(path) && !kind.endsWith('.opened');
}

function hasWords(kind: EventKind): boolean {
  return kind === 'comment.created' || kind.startsWith('review.');
}
