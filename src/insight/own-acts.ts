import { Inject, Injectable } from '@nestjs/common';
import type { ForgeEvent } from '../core/event.js';
import { JournalStore } from '../pipeline/journal-store.port.js';
import type { BotSelf } from '../pipeline/rule-engine.port.js';
import { rulesNotAsked } from '../rules/language/match/matcher.js';
import { isBot, type MatchContext } from '../rules/language/match/where-filter.js';
import { BotSelves } from './bot-self.js';
import { StoredRevisions } from './revisions.js';

/** What the rules missed of what the bot itself did. */
@Injectable()
export class OwnActs {
  constructor(
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'decidedBy'>,
    @Inject(StoredRevisions) private readonly revisions: Pick<StoredRevisions, 'compiled'>,
    @Inject(BotSelves) private readonly self: Pick<BotSelves, 'of'>,
  ) {}

  /** Ids of the rules, of the revision that decided the event, that would take it from anybody else; empty for events of others. */
  async notAsked(event: ForgeEvent): Promise<string[]> {
    // Most events are of people: only for the others it is read who decided them.
    if (!isBot(event, contextOf(this.self.of(event.forge, event.org)))) return [];
    const by = await this.journal.decidedBy(event.id);
    const revision = by && (await this.revisions.compiled(event.org, by.revisionId));
    return revision ? rulesNotAsked(revision, event, contextOf(by.bot)).map(({ id }) => id) : [];
  }
}

function contextOf(bot: BotSelf | null): MatchContext {
  return { botLogin: bot?.login ?? null, botId: bot?.id ?? null, others: bot?.others ?? [] };
}
