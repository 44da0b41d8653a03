import { Injectable } from '@nestjs/common';
import { actions } from '../../actions/index.js';
import { Clock } from '../../core/clock.js';
import { Encryptor } from '../../core/encryptor.js';
import { Messenger } from '../../core/message.js';
import { JournalStore } from '../journal-store.port.js';
import { RecoveryStore } from '../recovery-store.port.js';
import { Forges, OrgDirectory } from './forge-access.js';
import { TargetResolver } from './prepare-effect.js';

/** What it takes to do an intent, to rehearse it, or to find out what became of it. */
@Injectable()
export class EffectTools {
  readonly actions = actions;

  constructor(
    readonly journal: JournalStore,
    readonly recovery: RecoveryStore,
    readonly forges: Forges,
    readonly orgs: OrgDirectory,
    readonly encryptor: Encryptor,
    readonly targets: TargetResolver,
    readonly clock: Clock,
    readonly messenger: Messenger,
  ) {}
}
