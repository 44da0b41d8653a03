import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type StoredRevision, RevisionStore } from '../rules/revisions/revision-store.port.js';
import { RevisionKeeper, type KeptRevision } from '../rules/revisions/revision-keeper.js';
import { PastRules } from './past-rules.js';
import type { Revision } from '../rules/language/revision.js';
import type { Look, Place, RevisionFacts } from './explanation.js';
import { fileOf } from './source-text.js';

/** Compiled revisions kept at hand; the ones of now and of just before are asked about most. */
const KEPT = 8;
/** How far back the revision is looked for that was active at a moment. */
const LOOK_BACK = 100;
const MAX_LINE = 200;

/** A stored revision, compiled again; `revision` is null when it does not load with the actions, lookups and powers of now. */
export interface OpenedRevision {
  readonly stored: StoredRevision;
  readonly revision: Revision | null;
  /** The first reason why it does not load. */
  readonly problem: string | null;
}

/** Revisions as they were stored, opened for explaining. */
@Injectable()
export class StoredRevisions {
  private readonly opened = new LRUCache<string, OpenedRevision>({ max: KEPT });

  constructor(
    @Inject(RevisionStore) private readonly store: Pick<RevisionStore, 'active' | 'byId' | 'list'>,
    /** The active revision as this process runs it need not be compiled again. */
    @Inject(RevisionKeeper)
    private readonly running: { active(org: string): Promise<Pick<KeptRevision, 'id' | 'revision'> | null> },
    @Inject(PastRules) private readonly rules: Pick<PastRules, 'load'>,
  ) {}

  stored(id: string): Promise<StoredRevision | null> {
    return this.store.byId(id);
  }

  async byId(id: string): Promise<OpenedRevision | null> {
    const stored = await this.stored(id);
    return stored && this.open(stored);
  }

  /** What a revision says, which never changes; null = it is not kept, or does not load any more. */
  async compiled(org: string, id: string): Promise<Revision | null> {
    const running = await this.running.active(org);
    if (running?.id === id) return running.revision;
    return (this.opened.get(id) ?? (await this.byId(id)))?.revision ?? null;
  }

  async active(org: string): Promise<OpenedRevision | null> {
    const stored = await this.store.active(org);
    return stored && this.open(stored);
  }

  /** The newest one that was loaded before; null when none was. */
  async before(org: string, at: Date): Promise<OpenedRevision | null> {
    const stored = (await this.store.list(org, LOOK_BACK)).find(
      ({ state, loadedAt }) => state !== 'broken' && loadedAt <= at,
    );
    return stored ? this.open(stored) : null;
  }

  private async open(stored: StoredRevision): Promise<OpenedRevision> {
    const running = await this.running.active(stored.org);
    if (running?.id === stored.id) return { stored, revision: running.revision, problem: null };
    const cached = this.opened.get(stored.id);
    if (cached) return { ...cached, stored };
    const opened = { stored, ...this.compile(stored) };
    this.opened.set(stored.id, opened);
    return opened;
  }

  private compile({ org, files }: StoredRevision): Omit<OpenedRevision, 'stored'> {
    const loaded = this.rules.load(org, files);
    if (loaded.ok) return { revision: loaded.revision, problem: null };
    const [first] = loaded.problems;
    return {
      revision: null,
      problem: first ? `${first.file}:${first.line}:${first.col}: ${first.message}` : 'it is empty',
    };
  }
}

export function factsOf({ id, state, loadedAt, origin }: StoredRevision): RevisionFacts {
  return { id, state, loadedAt, ...(origin ? { origin } : {}) };
}

/** A place with its line. */
export function lineAt(files: StoredRevision['files'] | null, place: Place): Look {
  const text = files === null ? null : (fileOf(files, place.file)?.split('\n', place.line)[place.line - 1] ?? null);
  return { ...place, text: text === null ? null : text.trim().slice(0, MAX_LINE) };
}
