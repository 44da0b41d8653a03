import type { AnyAction } from '../../actions/define-action.js';
import type { ForgeEvent } from '../../core/event.js';
import type { Echo, RecoveryStore } from '../recovery-store.port.js';

/**
 * The rule or policy whose effect the event tells of. Null where that is not known: an echo may also show an object (a label of an issue, say)
 * that an effect made, while another effect raised the event.
 */
export async function ruleBehind(
  recovery: Pick<RecoveryStore, 'echoOf' | 'intentOf'>,
  actions: ReadonlyMap<string, AnyAction>,
  { id, kind }: Pick<ForgeEvent, 'id' | 'kind'>,
): Promise<string | null> {
  return ruleOfEcho(recovery, actions, kind, await recovery.echoOf(id));
}

/** The same where the echo is known. */
export async function ruleOfEcho(
  recovery: Pick<RecoveryStore, 'intentOf'>,
  actions: ReadonlyMap<string, AnyAction>,
  kind: ForgeEvent['kind'],
  echo: Pick<Echo, 'intentId'> | null,
): Promise<string | null> {
  const intent = echo && (await recovery.intentOf(echo.intentId));
  const echoes = intent && actions.get(intent.action)?.recover?.matcher?.echoes;
  return intent && echoes?.includes(kind) ? intent.rule : null;
}
