import { Inject, Injectable } from '@nestjs/common';
import { AppConfig, type OrgConfig } from '../../config/app-config.js';
import { orgsByKey } from '../../config/live-config.js';
import { webAddress } from '../../config/safe-address.js';
import { BotError, InvalidFile, UserError } from '../../core/errors.js';
import { cannotLoad, loadLimit } from '../../policies/thread/bounded-rules.js';
import type { RuleFile } from '../../rules/language/revision.js';
import type { RuleOrigin } from '../../rules/sources/rule-repository.port.js';
import { missingSets } from '../../rules/sources/shared-files.js';
import { RevisionStore, type StoredRevision } from '../../rules/revisions/revision-store.port.js';
import type { RecordedFixture } from '../fixtures/record-fixture.js';
import { secretsOf } from '../fixtures/remove-secrets.js';
import type { HistoryAnswer } from '../history-store.port.js';
import { describeLanguage } from './rule-language.js';
import type { DraftCheck, EventTrial, RuleLanguage } from './try-answers.js';
import type { Draft, ObjectRound, TryAnswer, TryOrder } from './try-orders.js';
import type { TryThread } from './try-thread.js';
import { TryThreads } from './try-threads.js';

/** A file as somebody would have it; without a text it is gone. */
interface EditedFile {
  readonly path: string;
  readonly text: string | null;
}

interface DraftFiles {
  readonly revision: string | null;
  readonly state: StoredRevision['state'] | null;
  readonly loadedAt: Date | null;
  readonly files: ReadonlyArray<{
    readonly path: string;
    readonly text: string;
    readonly isShared: boolean;
    readonly editUrl: string | null;
  }>;
  readonly newFileUrl: string | null;
}

/** Longest that one event may take, beside loading the draft. */
const EVENT_MS = 5_000;
const MAX_FILES = 50;

/** Rule files of an organization with the edits of somebody, tried on stored events. Nothing of them is kept. */
@Injectable()
export class Drafts {
  private readonly orgs: () => ReadonlyMap<string, OrgConfig>;
  #language: RuleLanguage | null = null;

  readonly #thread: TryThread;

  constructor(
    private readonly config: AppConfig,
    @Inject(RevisionStore) private readonly revisions: Pick<RevisionStore, 'active' | 'list'>,
    @Inject(TryThreads) threads: Pick<TryThreads, 'make'>,
  ) {
    this.#thread = threads.make();
    this.orgs = orgsByKey(config);
  }

  /** What an editor of rule files offers and explains. */
  language(): RuleLanguage {
    return (this.#language ??= describeLanguage());
  }

  /** The revision that drafts begin with: the active one, else the newest one that was read. Null = no files were ever read. */
  async base(org: string): Promise<StoredRevision | null> {
    const { revisions } = this;
    return (await revisions.active(org)) ?? (await revisions.list(org, 1))[0] ?? null;
  }

  /** The files as they were read, with the place where the forge has an editor for each. */
  async filesOf(org: string): Promise<DraftFiles> {
    const base = await this.base(org);
    const editor = base?.origin && this.#editorOf(org, base.origin);
    const files: readonly RuleFile[] = base?.files ?? [];
    return {
      revision: base?.id ?? null,
      state: base?.state ?? null,
      loadedAt: base?.loadedAt ?? null,
      files: files.map(({ path, name = path, text, shared }) => ({
        path,
        text,
        isShared: shared !== undefined,
        editUrl: editor && shared === undefined ? `${editor.edit}/${encoded(name)}` : null,
      })),
      newFileUrl: editor?.create ?? null,
    };
  }

  /**
   * @param isAlone without the organization's own files: the edited ones, and the shared ones that they may extend
   * @throws UserError TOO_MANY_RULE_FILES
   */
  async draft(org: string, edits: readonly EditedFile[], { isAlone = false } = {}): Promise<Draft> {
    const { name, powers, secrets, mirrorHosts, notifyHosts, limits, rules } = this.configOf(org);
    const base: readonly RuleFile[] = (await this.base(org))?.files ?? [];
    const edited = merge(isAlone ? base.filter(({ shared }) => shared !== undefined) : base, edits);
    const files = [...edited, ...missingSets(edited, rules)];
    if (files.length > MAX_FILES)
      throw new UserError('TOO_MANY_RULE_FILES', `the draft has ${files.length} files; ${MAX_FILES} is the limit`);
    return { org, name, files, powers: [...powers], secrets: Object.keys(secrets), mirrorHosts, notifyHosts, limits };
  }

  async check(draft: Draft): Promise<DraftCheck> {
    const outcome = await this.#thread.order({ kind: 'check', draft }, loadLimit(draft.files));
    if (outcome.is === 'ended')
      return { ok: false, problems: [cannotLoad(draft, outcome.why)], warnings: [], rules: [] };
    return expected(outcome.answer, 'checked').check;
  }

  /** @throws InvalidFile when the draft does not load @throws UserError TRY_TOO_LONG */
  async onEvent(draft: Draft, history: HistoryAnswer, rule: string | null): Promise<EventTrial> {
    return expected(await this.#ask(draft, { kind: 'event', draft, history, rule }), 'tried').trial;
  }

  /** One round of a trial on an object. @throws InvalidFile when the draft does not load @throws UserError TRY_TOO_MUCH */
  async onObject(
    draft: Draft,
    round: Pick<Extract<TryOrder, { kind: 'object' }>, 'event' | 'bot' | 'answers'>,
  ): Promise<ObjectRound> {
    return expected(await this.#ask(draft, { kind: 'object', draft, ...round }), 'object-tried').round;
  }

  /** @throws InvalidFile when the draft does not load @throws BotError when no rule takes the event */
  async fixture(draft: Draft, history: HistoryAnswer): Promise<RecordedFixture> {
    const secrets = secretsOf(this.configOf(draft.org))
      .filter(({ isWithheld }) => !isWithheld)
      .map((secret) => secret.reveal());
    const answer = await this.#ask(draft, { kind: 'fixture', draft, history, secrets });
    if (answer.kind === 'not-recorded') throw new UserError(answer.code, answer.message);
    return expected(answer, 'recorded').fixture;
  }

  stop(): Promise<void> {
    return this.#thread.stop();
  }

  async #ask(draft: Draft, order: TryOrder): Promise<TryAnswer> {
    const outcome = await this.#thread.order(order, loadLimit(draft.files) + EVENT_MS);
    if (outcome.is === 'ended') throw tookTooMuch(outcome.why);
    if (outcome.answer.kind === 'refused') throw new InvalidFile(outcome.answer.problems);
    return outcome.answer;
  }

  /** Gitea and Forgejo alike. */
  #editorOf(org: string, { repository, branch }: RuleOrigin): { edit: string; create: string } | null {
    const { forge } = this.configOf(org);
    const baseUrl = this.config.forges.find(({ id }) => id === forge)?.baseUrl;
    if (baseUrl === undefined) return null;
    const web = `${webAddress(baseUrl)}/${encoded(repository)}`;
    return { edit: `${web}/_edit/${encoded(branch)}`, create: `${web}/_new/${encoded(branch)}/` };
  }

  private configOf(org: string): OrgConfig {
    const config = this.orgs().get(org);
    if (!config) throw new UserError('NO_SUCH_ORG', `the config has no organization ${org}`);
    return config;
  }
}

export function tookTooMuch(why: 'late' | 'memory'): UserError {
  const what = why === 'late' ? 'takes too long' : 'takes more than 64 MB';
  return new UserError('TRY_TOO_MUCH', `trying the draft ${what}: make its conditions simpler, or the draft smaller`);
}

/** @throws BotError when the thread answered something else */
export function expected<Kind extends TryAnswer['kind']>(
  answer: TryAnswer,
  kind: Kind,
): Extract<TryAnswer, { kind: Kind }> {
  if (answer.kind === kind) return answer as Extract<TryAnswer, { kind: Kind }>;
  throw new BotError('TRY_FAILED', answer.kind === 'failed' ? answer.message : `the thread answered ${answer.kind}`);
}

function merge(files: readonly RuleFile[], edits: readonly EditedFile[]): RuleFile[] {
  const edited = new Map(edits.map(({ path, text }) => [path, text]));
  const existingFiles = files.flatMap((file): RuleFile[] => {
    const text = edited.get(file.path);
    edited.delete(file.path);
    if (text === null) return [];
    return [text === undefined ? file : { ...file, text }];
  });
  const newFiles = [...edited].flatMap(([path, text]) => (text === null ? [] : [{ path, text }]));
  return [...existingFiles, ...newFiles];
}

function encoded(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
