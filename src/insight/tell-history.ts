import type { AppConfig } from '../config/app-config.js';
import type { Encryptor } from '../core/encryptor.js';
import { openReads } from '../pipeline/decide/answer-lookups.js';
import type { BotSelves } from './bot-self.js';
import type { HistoryPage, HistoryAnswer } from './history-store.port.js';
import { withRules, type RuleBehind } from './rule-behind.js';

interface HistoryTelling {
  readonly config: Pick<AppConfig, 'orgs'>;
  readonly self: Pick<BotSelves, 'of'>;
  readonly ruleBehind: RuleBehind;
  readonly encryptor: Encryptor;
}

/**
 * A page of stored history as the deciding side saw it. Events of an organization that left the config are told all the same.
 * @param isOpen what is sealed is opened (`opensSealed`)
 */
export async function tellHistory(
  { config, self, ruleBehind, encryptor }: HistoryTelling,
  org: string,
  page: HistoryPage,
  isOpen: boolean,
): Promise<HistoryAnswer> {
  const forge = config.orgs.find(({ key }) => key === org)?.forge;
  return {
    ...page,
    events: await withRules(page.events, ruleBehind),
    runs: isOpen ? page.runs.map((run) => openReads(run, encryptor)) : page.runs,
    bot: forge === undefined ? null : self.of(forge, org),
  };
}
