import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { Encryptor } from '../core/encryptor.js';
import { BotSelves } from './bot-self.js';
import { HistoryStore, type HistoryQuery, type HistoryAnswer } from './history-store.port.js';
import { RulesBehind } from './rules-behind.js';
import { tellHistory } from './tell-history.js';

/** Stored history, page by page, as the deciding side saw it. */
@Injectable()
export class HistoryReader {
  constructor(
    private readonly history: HistoryStore,
    readonly config: AppConfig,
    readonly self: BotSelves,
    readonly ruleBehind: RulesBehind,
    readonly encryptor: Encryptor,
  ) {}

  /** @param isOpen with what is sealed */
  async page(query: HistoryQuery, isOpen: boolean): Promise<HistoryAnswer> {
    return tellHistory(this, query.org, await this.history.page(query), isOpen);
  }
}
