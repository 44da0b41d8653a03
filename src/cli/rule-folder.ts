import type { OrgConfig } from '../config/app-config.js';
import { UserError } from '../core/errors.js';

/** The folder that is named, or the organization's own. @throws UserError when its rules come from a repository and none is named */
export function ruleFolder({ name, rules }: OrgConfig, named: string | undefined): string {
  const folder = named ?? rules.path;
  if (folder === null)
    throw new UserError(
      'WHICH_RULES',
      `the rules of ${name} come from ${rules.repository?.name ?? 'a repository'}: give a checkout of it with --rules DIR`,
    );
  return folder;
}
