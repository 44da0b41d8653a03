import { UserError } from '../../core/errors.js';
import type { JobForge, JobTurn } from './job.js';

/** The forge of a turn. @throws UserError while it was not reached */
export function forgeOf({ forge, org, tools }: JobTurn): JobForge {
  const found = tools.forges.get(forge, org === '' ? null : org);
  if (!found?.capabilities) throw new UserError('NOT_CONNECTED', `forge ${forge} was not reached yet`);
  return found;
}
