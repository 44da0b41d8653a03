import { confirmedFields, showsAuthor } from '../../../core/act-fields.js';
import type { EventKind } from '../../../core/event-kinds.js';
import { EVENT_TYPES } from '../../../core/event-types.js';
import { needsProof, readsOf } from '../propose/rests-on.js';
import type { FileContext } from './file-context.js';
import { itemKey } from './item-positions.js';
import type { RuleProgram } from './program.js';

/**
 * A rule that depends on who acted may only read what a read of the forge confirms: everything else in a delivery is written by whoever knows the secret of
 * the hook. Events that polling read need no confirmation.
 */
export function checkProvable({ file }: FileContext, on: readonly EventKind[], program: RuleProgram): void {
  const { where } = program;
  if (!needsProof(program) || (where.source && !where.source.includes('webhook'))) return;
  const kinds = on.filter((kind) => (EVENT_TYPES.get(kind)?.webhook.length ?? 0) > 0);
  const isBotAlone = where.actor === null && (where.actorIsBot || where.botRules !== null);
  for (const kind of kinds) {
    const at = where.positions[itemKey('on', kind)] ?? where.positions['on'] ?? null;
    if (at && !showsAuthor(kind) && !isBotAlone)
      file.newProblemAt(
        at,
        `the forge does not show who did it (${kind}), and this rule depends on that: it would never fire`,
        'make a rule of it that does not look at people, or take the event out',
      );
  }
  for (const { path, position } of readsOf(program)) {
    const untold = kinds.filter((kind) => TEXT_OF_EDITED[kind] === path);
    if (position && untold.length > 0)
      file.warnAt(
        position,
        `the forge does not tell who changed event.${path} (${untold.join(', ')}): this rule depends on who acted, and takes a change of the title alone`,
        'make a rule of it that does not look at people; or read what it needs beside a change of the title',
      );
    const unproven = kinds.filter(
      (kind) => showsAuthor(kind) && hasField(kind, path) && !confirmedFields(kind, path).length,
    );
    if (position && path !== '' && unproven.length > 0)
      file.newProblemAt(
        position,
        `no read of the forge confirms event.${path} of ${unproven.join(', ')}, and this rule depends on who acted`,
        'read it by a lookup, or make it a rule that does not look at people',
      );
  }
}

/** Of these the history shows who gave a new title, and nothing of the text: no source tells who wrote it. */
const TEXT_OF_EDITED: Readonly<Partial<Record<EventKind, string>>> = {
  'issue.edited': 'issue.body',
  'pull_request.edited': 'pull_request.body',
};

function hasField(kind: EventKind, path: string): boolean {
  return Object.hasOwn(EVENT_TYPES.get(kind)?.type.fields ?? {}, path.split('.')[0] ?? '');
}
