import { Module } from '@nestjs/common';
import { Draining } from '../platform/draining.js';
import { ForgeModule } from '../forge/forge.module.js';
import { RulesModule } from '../rules/rules.module.js';
import { GapKeeper } from './gaps/gap-keeper.js';
import { HookHistory } from './gaps/hook-history.js';
import { OwnHooks } from './gaps/own-hooks.js';
import { PollLeases } from './poll-leases.js';
import { PollLoop } from './poll-loop.js';
import { PollPaces } from './poll-paces.js';
import { Pollers } from './pollers.js';

/** The second way in: what never arrived is read from the feed, the tasks and the lists; and what is missing is known. */
@Module({
  imports: [ForgeModule, RulesModule],
  providers: [HookHistory, OwnHooks, GapKeeper, Pollers, PollLeases, PollPaces, PollLoop],
  exports: [HookHistory, GapKeeper, PollLoop],
})
export class PollingModule extends Draining {
  constructor(private readonly loop: PollLoop) {
    super();
  }

  protected drain(): Promise<void> {
    return this.loop.stop();
  }
}
