import type { Answer } from '../answer.js';
import { badRequest, conflict, created, forbidden, Refusal, serverError, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, onOrganization, onOwner, siteAdminOnly } from '../guards.js';
import type { Call } from '../handler.js';
import { makeLabel } from '../make/label.js';
import { DEFAULT_BRANCH, firstReadme, makeRepository } from '../make/repository.js';
import type { Handlers } from '../registry.js';
import { renderRepository } from '../render/repository.js';
import { alphaDashDot, brokenRepositoryName } from '../repository-name.js';
import { ignoreTemplates, labelTemplates, licenseTemplates, readmeTemplates } from '../templates.js';
import type { Owner } from '../world.js';
import { mayMakeRepositories } from './organizations.js';

function checkUsable({ profile }: Call, name: string): void {
  const broken = brokenRepositoryName(name);
  if (broken) throw new Refusal(broken.hasDots ? profile.repositories.dots : 422, broken.message);
}

interface FirstFiles {
  name: string;
  description: string;
  license: string;
  gitignores: string;
}

/** What `auto_init` puts into a new repository. @throws Refusal 500 for templates that are not there */
function firstFiles({ name, description, license, gitignores }: FirstFiles): Record<string, string> {
  const files: Record<string, string> = { 'README.md': firstReadme(name, description) };
  const ignores = gitignores
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  for (const ignore of ignores) {
    const text = ignoreTemplates.get(ignore);
    if (text === undefined) throw serverError(`initRepository: prepareRepoCommit: GetRepoInitFile[${ignore}]: file does not exist`);
    files['.gitignore'] = (files['.gitignore'] ?? '') + text;
  }
  if (license === '') return files;
  const text = licenseTemplates.get(license);
  if (text === undefined) throw serverError(`initRepository: prepareRepoCommit: getLicense[${license}]: GetLicense[${license}]: file does not exist`);
  return { ...files, LICENSE: text };
}

/** Op 4, and its likes. */
function create(call: Call, owner: Owner): Answer {
  const { world } = call;
  const wish = bind(call, {
    name: field.text({ required: true, max: 100, rule: alphaDashDot }),
    description: field.text({ max: 2048 }),
    private: field.flag(),
    issue_labels: field.text(),
    auto_init: field.flag(),
    template: field.flag(),
    gitignores: field.text(),
    license: field.text(),
    readme: field.text(),
    default_branch: field.text({ max: 100 }),
    trust_model: field.text(),
    object_format_name: field.text({ max: 6 }),
  });
  const [name = '', description = ''] = [wish.name, wish.description];
  if (wish.auto_init && wish.readme && !readmeTemplates.has(wish.readme))
    throw badRequest(`readme template does not exist, available templates: [${[...readmeTemplates].join(' ')}]`);
  checkUsable(call, name);
  if (world.repoByName(owner.id, name)) throw conflict('The repository with the same name already exists.');
  const labels = wish.issue_labels ? labelTemplates.get(wish.issue_labels) : [];
  if (!labels) throw unprocessable(`failed to load label template file "${wish.issue_labels}": label template "${wish.issue_labels}" not found`);
  if (wish.object_format_name && !['sha1', 'sha256'].includes(wish.object_format_name))
    throw serverError(`unsupported object format: ${wish.object_format_name}`);
  const files = firstFiles({ name, description, license: wish.license ?? '', gitignores: wish.gitignores ?? '' });
  const repo = makeRepository(world, doer(call), {
    owner,
    name,
    description,
    private: wish.private ?? false,
    template: wish.template ?? false,
    defaultBranch: wish.default_branch ?? DEFAULT_BRANCH,
    objectFormat: wish.object_format_name ?? '',
    trustModel: wish.trust_model ?? 'default',
    ...(wish.auto_init ? { files, licenses: wish.license ? [wish.license] : [] } : {}),
  });
  for (const label of labels) makeLabel(world, doer(call), { of: repo, ...label });
  return created(renderRepository(call.view, repo));
}

export const repositoryCreateHandlers: Handlers = {
  adminCreateRepo: siteAdminOnly(onOwner((call) => create(call, call.owner))),
  createOrgRepo: onOrganization(
    'visible',
    (call) => {
      if (!mayMakeRepositories(call)) throw forbidden('Given user is not allowed to create repository in organization.');
      return create(call, call.org);
    },
    true,
  ),
};
