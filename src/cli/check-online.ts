import type { AppConfig, OrgConfig } from '../config/app-config.js';
import { credentialsOf } from '../config/credentials.js';
import { systemClock } from '../core/clock.js';
import type { Problem } from '../core/problem.js';
import { readVersion } from '../forge/connected-forges.js';
import { createForgeClient } from '../forge/http/create-forge-client.js';
import { literalNames } from '../rules/language/literal-names.js';
import type { Revision } from '../rules/language/revision.js';
import { cureOfUnknown, sayUnknown, sayUnread, unknownNames } from '../rules/requirements/unknown-names.js';

/**
 * Asks the forge whether it has what the rules name literally; nothing is written there.
 * @throws ForgeError when the forge cannot be asked at all
 */
export async function checkNames(
  config: AppConfig,
  { key, name, forge }: OrgConfig,
  { rules, policies }: Revision,
): Promise<{ warnings: Problem[]; notChecked: string[]; hasFailed: boolean }> {
  const ours = credentialsOf(config).filter((one) => one.forge.id === forge);
  const credential = ours.find(({ org }) => org === key) ?? ours.find(({ org }) => org === null);
  if (!credential) throw new Error(`the config has no forge ${forge}`);
  const { proxy, ...access } = credential.forge;
  const client = createForgeClient({ ...access, proxy: proxy?.reveal() ?? null, auth: credential.auth });
  await readVersion(client, systemClock);
  const { unknown, unread, hasFailed } = await unknownNames(client, name, literalNames(rules, policies, name));
  return {
    warnings: unknown.map(({ one, near }) => ({
      ...one.position,
      message: sayUnknown(one.kind, one.name),
      hint: cureOfUnknown(one.kind, near),
      level: 'warning',
    })),
    notChecked: unread.map(sayUnread),
    hasFailed,
  };
}
