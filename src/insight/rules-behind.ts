import { Injectable } from '@nestjs/common';
import { actions } from '../actions/index.js';
import type { ForgeEvent } from '../core/event.js';
import { ruleBehind } from '../pipeline/decide/rule-behind.js';
import { RecoveryStore } from '../pipeline/recovery-store.port.js';
import type { RuleBehind } from './rule-behind.js';

/** The rules behind events, as the deciding side finds them. */
@Injectable()
export class RulesBehind implements RuleBehind {
  constructor(private readonly recovery: RecoveryStore) {}

  of(event: ForgeEvent): Promise<string | null> {
    return ruleBehind(this.recovery, actions, event);
  }
}
