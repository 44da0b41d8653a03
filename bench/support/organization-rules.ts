import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../test/services/with-services.mjs';

/** The rules that we ship for a whole organization. */
export const ORGANIZATION_RULES = join(ROOT, 'config/rules/organization');

/** Their files by name, without the tests beside them. */
export function organizationRules(): Array<readonly [name: string, text: string]> {
  return readdirSync(ORGANIZATION_RULES)
    .filter((name) => !name.endsWith('.test.yaml'))
    .map((name) => [name, readFileSync(join(ORGANIZATION_RULES, name), 'utf8')]);
}
