import { Injectable } from '@nestjs/common';
import { actions } from '../../actions/index.js';
import { Encryptor } from '../../core/encryptor.js';
import { newId } from '../../core/ids.js';

/** What turns a decision into intents. */
@Injectable()
export class PlanningTools {
  readonly actions = actions;
  readonly newId = newId;

  constructor(readonly encryptor: Encryptor) {}
}
