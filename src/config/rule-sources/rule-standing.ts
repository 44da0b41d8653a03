import type { ActiveRevisions, RuleStanding, Standing } from '../../journal/rule-engine.js';
import type { RevisionStore } from '../revision-store.js';

const WANTED: Standing = { is: 'wanted' };

/**
 * A run keeps the revision that decided it, but what its rule has not sent yet is not sent any more once the rule is gone or does not
 * write any more (reliability K3, K4). Costs nothing for rules that stand; the store is asked about the others only.
 */
export class RevisionStanding implements RuleStanding {
  constructor(
    private readonly revisions: ActiveRevisions,
    private readonly store: Pick<RevisionStore, 'active'>,
  ) {}

  async of({ org, rule, mode, revisionId }: Parameters<RuleStanding['of']>[0]): Promise<Standing> {
    const active = await this.revisions.active(org);
    if (!active || active.id === revisionId) return WANTED;
    const found = [...active.revision.rules, ...active.revision.policies].find(({ id }) => id === rule);
    if (found && (mode === 'dry-run' || found.mode === 'live')) return WANTED;
    const reason = found ? `the rule is in mode ${found.mode} now` : 'the rule is not there any more';
    // Where processes read their own copies of the files, this one may be behind: the newest revision of all of them decides.
    const newest = await this.store.active(org);
    return newest && newest.id !== active.id ? { is: 'later', reason: `${reason}, in the revision of this process` } : { is: 'cancelled', reason };
  }
}
