import { Module, type OnModuleInit } from '@nestjs/common';
import { ThisProcess } from '../config/this-process.js';
import { callingAs } from '../core/caller.js';
import { Draining } from '../platform/draining.js';
import { OperatorStore } from '../core/operator-store.port.js';
import { TwoPeople } from '../core/two-people.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { ForgeModule } from '../forge/forge.module.js';
import { CapabilityCheck } from './requirements/capability-check.js';
import { ActiveRevisions } from './revisions/active-revisions.port.js';
import { ConnectedRevisions } from './revisions/connected-revisions.js';
import { Proposals } from './revisions/proposals.js';
import { RevisionAuthors } from './revisions/revision-authors.js';
import { RevisionKeeper } from './revisions/revision-keeper.js';
import { RuleSources } from './sources/rule-sources.js';
import { RuleVerdicts } from './sources/rule-verdicts.js';

const PROVIDERS = [
  RuleVerdicts,
  RuleSources,
  RevisionKeeper,
  Proposals,
  { provide: ActiveRevisions, useClass: ConnectedRevisions },
  CapabilityCheck,
  RevisionAuthors,
  {
    provide: TwoPeople,
    inject: [OperatorStore, RevisionAuthors],
    useFactory: (operators: OperatorStore, authors: RevisionAuthors) => new TwoPeople(operators, authors),
  },
];

/** The rules of each organization: where they come from, which revision runs, and what it needs of the forge. */
@Module({
  imports: [ForgeModule],
  providers: PROVIDERS,
  exports: [Proposals, RuleVerdicts, RevisionKeeper, ActiveRevisions, CapabilityCheck, TwoPeople],
})
export class RulesModule extends Draining implements OnModuleInit {
  constructor(
    private readonly keeper: RevisionKeeper,
    private readonly check: CapabilityCheck,
    private readonly verdicts: RuleVerdicts,
    private readonly self: ThisProcess,
    forges: ConnectedForges,
  ) {
    super();
    const inBackground = (look: () => Promise<void>): void =>
      void callingAs({ priority: 'housekeeping', org: null }, look);
    forges.onConnected((credential) => {
      for (const org of check.usersOf(credential)) keeper.nudge(org, null);
      inBackground(() => check.connected(credential));
    });
    forges.onAnswered((credential, name, is) => check.answered(credential, name, is));
    keeper.onActivated((org) => inBackground(() => check.activated(org)));
  }

  /** After the forges, which this module imports: rules may lie in a repository. */
  async onModuleInit(): Promise<void> {
    if (this.self.role !== 'web') await this.keeper.start();
  }

  protected drain(): Promise<unknown> {
    this.check.stop();
    return Promise.all([this.keeper.stop(), this.verdicts.stop()]);
  }
}
