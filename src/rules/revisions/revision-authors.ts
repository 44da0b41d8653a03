import { Injectable } from '@nestjs/common';
import { authorsOf } from '../sources/rule-repository.port.js';
import { RevisionStore } from './revision-store.port.js';

/** Who wrote a revision of the rules. */
@Injectable()
export class RevisionAuthors {
  constructor(private readonly revisions: RevisionStore) {}

  /** Their forge accounts; empty where they are not known. */
  async of(revisionId: string): Promise<readonly string[]> {
    const origin = (await this.revisions.byId(revisionId))?.origin;
    return origin ? authorsOf(origin) : [];
  }
}
