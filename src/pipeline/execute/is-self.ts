import type { EventActor } from '../../core/event.js';
import type { BotSelf } from '../rule-engine.port.js';

/** Whether one of the bot's accounts on the forge did it: that of this organization, or that of another one of the config. */
export function isSelf(actor: EventActor, self: BotSelf): boolean {
  return [self, ...(self.others ?? [])].some(
    ({ id, login }) => (id !== null && id === actor.id) || login.toLowerCase() === actor.login.toLowerCase(),
  );
}
