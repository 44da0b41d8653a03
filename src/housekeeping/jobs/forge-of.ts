import { UserError } from '../../core/errors.js';
import type { JobForge, JobTurn } from './job.js';

/** The forge of a turn. @throws UserError while it was not reached */
export function forgeOf({ forge, org, tools }: JobTurn): JobForge {
  const found = tools.forges.get(forge, org === '' ? null : org);
  if (!found?.capabilities)
    throw new UserError('NOT_CONNECTED', `the bot has not reached forge ${forge} yet: run forgehand doctor`);
  return found;
}
