import { subjectOf } from '../../core/event-subject.js';
import type { ForgeEvent } from '../../core/event.js';
import type { ObjectTrial } from './try-answers.js';

/** What every trial tells of its event. */
export function eventFacts(event: ForgeEvent): NonNullable<ObjectTrial['event']> {
  const { kind, repo, actor, factAt, data } = event;
  return {
    ...{ kind, factAt, data },
    repo: repo?.full_name ?? null,
    subject: subjectOf(event),
    actor: actor?.login ?? null,
  };
}
