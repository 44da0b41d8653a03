import { StoredRevisions } from '../../../src/insight/revisions.js';
import { AN_ENCRYPTOR } from '../../builders/an-encryptor.js';
import type { ForgeEvent } from '../../../src/core/event.js';
import { newId } from '../../../src/core/ids.js';
import { parseJson, stringifyJson } from '../../../src/core/json.js';
import type { JsonObject } from '../../../src/core/json.js';
import { actionCatalogue } from '../../../src/actions/index.js';
import { lookupCatalogue } from '../../../src/actions/lookups/index.js';
import { Explainer } from '../../../src/insight/explainer.js';
import { PureRuleEngine } from '../../../src/policies/pure-rule-engine.js';
import type { BotSelf } from '../../../src/pipeline/rule-engine.port.js';
import type { Run } from '../../../src/core/run.js';
import { CelEngine } from '../../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../../src/rules/language/load/load-rules.js';
import type {
  Evaluation,
  LoadResult,
  LookupAnswers,
  Revision,
  RuleFile,
} from '../../../src/rules/language/revision.js';

import { aRun } from '../../builders/journal.js';
import { storeEvent } from '../../builders/store-event.js';
import { InMemoryInboxStore } from '../../fakes/in-memory-inbox-store.js';
import { InMemoryJournalStore } from '../../fakes/in-memory-journal-store.js';
import { InMemoryRevisionStore } from '../../fakes/in-memory-revision-store.js';
import { ManualClock } from '../../fakes/manual-clock.js';

const BOT: BotSelf = { id: '99', login: 'forgehand' };

export type Decided = Extract<Evaluation, { kind: 'decided' }>;

/** Made once: it keeps nothing of what it evaluates. */
const ENGINE = new CelEngine();
const CATALOGUES = { actions: actionCatalogue(), lookups: lookupCatalogue() };

/** Equal files load to equal revisions, which nothing changes. */
const loaded = new Map<string, LoadResult>();

/** Stores with a history, and the explainer over them; decisions are made by the same functions as in the bot. */
export class HistoryRig {
  readonly clock = new ManualClock();
  readonly inbox = new InMemoryInboxStore();
  readonly journal = new InMemoryJournalStore(this.clock);
  readonly revisions = new InMemoryRevisionStore();
  readonly engine = ENGINE;
  readonly rules = new PureRuleEngine(this.engine);
  /** The rule whose effect an event is, by the event's id. */
  readonly behind = new Map<string, string>();
  readonly explainer: Explainer;

  constructor(self: BotSelf | null = BOT) {
    this.explainer = new Explainer(
      this.journal,
      this.inbox,
      new StoredRevisions(this.revisions, { active: async () => null }, { load: (_org, files) => this.load(files) }),
      this.engine,
      this.rules,
      { of: async ({ id }) => this.behind.get(id) ?? null },
      AN_ENCRYPTOR,
      { now: () => new Date('2026-11-20T12:00:00Z') },
      { waiting: async () => [] },
      { of: () => self },
    );
  }

  load(files: readonly RuleFile[]): LoadResult {
    const key = JSON.stringify(files);
    let result = loaded.get(key);
    if (!result) {
      result = loadRules(files, {
        org: 'acme',
        ...CATALOGUES,
        powers: new Set(),
        secrets: new Set(['mirror_token']),
        engine: this.engine,
      });
      loaded.set(key, result);
    }
    return result;
  }

  async keepEvent(event: ForgeEvent): Promise<void> {
    await storeEvent(this.inbox, event);
  }

  async activate(
    text: string,
    loadedAt = new Date('2026-11-01T00:00:00Z'),
    path = 'rules/a.yaml',
  ): Promise<{ id: string; revision: Revision }> {
    const files = [{ path, text }];
    const result = this.load(files);
    if (!result.ok) throw new Error(result.problems.map(({ line, message }) => `${line}: ${message}`).join('\n'));
    const { hash } = result.revision;
    const id = hash.slice(0, 12);
    await this.revisions.save({ id, org: 'acme', hash, files, state: 'active', problems: [], loadedAt });
    return { id, revision: result.revision };
  }

  isCandidate(revision: Revision, event: ForgeEvent, rule: string): boolean {
    return this.rules.candidates(revision, event, BOT).some(({ id }) => id === rule);
  }

  /** Decide as the flow does, asking one read after the other. */
  decide(
    revision: Revision,
    event: ForgeEvent,
    rule: string,
    world: LookupAnswers,
  ): Decided & { answers: LookupAnswers } {
    const candidate = this.rules.find(revision, rule);
    if (!candidate) throw new Error(`no rule ${rule}`);
    const answers: Record<string, LookupAnswers[string]> = {};
    for (;;) {
      const evaluation = this.rules.evaluate(
        revision,
        candidate,
        { org: 'acme', event, repo: event.repo, bot: BOT, now: event.storedAt },
        answers,
      );
      if (evaluation.kind === 'decided') return { ...evaluation, answers };
      const { as } = evaluation.request;
      const answer = world[as];
      if (!answer) throw new Error(`the world holds no answer for ${as}`);
      answers[as] = answer;
    }
  }

  /** What the bot would have stored about this decision, through JSON as a database keeps it. */
  async keepRun(
    revisionId: string,
    event: ForgeEvent,
    { report, answers }: Decided & { answers: LookupAnswers },
    over: Partial<Run> = {},
  ): Promise<Run> {
    const run = aRun({
      id: newId(),
      rule: report.rule,
      revisionId,
      cause: { kind: 'event', eventId: event.id },
      state: report.verdict === 'fired' ? 'done' : report.verdict,
      reason: report.reason,
      trace: parseJson(stringifyJson(report.trace)),
      lookups: parseJson(stringifyJson(answers)) as JsonObject,
      decidedAt: event.storedAt,
      ...over,
    });
    await this.journal.recordDecision({ eventId: event.id }, [{ run, intents: [] }]);
    const stored = await this.journal.run(run.id);
    if (!stored) throw new Error('the run was not stored');
    return stored;
  }
}
