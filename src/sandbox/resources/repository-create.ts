import {
  type Answer,
  badRequest,
  conflict,
  created,
  forbidden,
  Refusal,
  serverError,
  unprocessable,
} from '../answer.js';
import { bind, field } from '../body.js';
import { doer, onOrganization, onOwner, siteAdminOnly } from '../guards.js';
import type { Call, Handlers } from '../handler.js';
import type { Owner } from '../world.js';
import { ignoreTemplates } from './ignore-templates.js';
import { makeLabel } from './label.js';
import { mayMakeRepositories } from './organization.js';
import { DEFAULT_BRANCH, makeRepository, renderRepository } from './repository.js';

/** The rule on the letters of a name; its own name when it is broken. */
export function alphaDashDot(text: string): string | undefined {
  return /^[A-Za-z0-9\-_.]+$/.test(text) ? undefined : 'AlphaDashDot';
}

const RESERVED = ['.', '..', '-'];
const ENDINGS = ['.git', '.wiki', '.rss', '.atom'];

/** Why a name of the right letters is no repository name; `hasDots` where servers differ in their answer. */
export function brokenRepositoryName(name: string): { message: string; hasDots: boolean } | undefined {
  if (name.includes('..'))
    return {
      message: `name is invalid [${name}]: must be valid alpha or numeric or dash(-_) or dot characters`,
      hasDots: true,
    };
  if (RESERVED.includes(name)) return { message: `name is reserved [name: ${name}]`, hasDots: false };
  const ending = ENDINGS.find((one) => name.toLowerCase().endsWith(one));
  return ending === undefined
    ? undefined
    : { message: `name pattern is not allowed [pattern: *${ending}]`, hasDots: false };
}

/** What a new repository can be made from: a few of the templates that a stock server carries, by the same names. */

interface LabelTemplate {
  name: string;
  color: string;
  description: string;
}

const DEFAULT_LABELS: readonly LabelTemplate[] = [
  { name: 'bug', color: 'ee0701', description: 'Something is not working' },
  { name: 'duplicate', color: 'cccccc', description: 'This issue or pull request already exists' },
  { name: 'enhancement', color: '84b6eb', description: 'New feature' },
  { name: 'help wanted', color: '128a0c', description: 'Need some help' },
  { name: 'invalid', color: 'e6e6e6', description: 'Something is wrong' },
  { name: 'question', color: 'cc317c', description: 'More information is needed' },
  { name: 'wontfix', color: 'ffffff', description: "This won't be fixed" },
];

const labelTemplates: ReadonlyMap<string, readonly LabelTemplate[]> = new Map([['Default', DEFAULT_LABELS]]);

/** Names of the licences that a stock Gitea carries, and of those that Forgejo calls otherwise. */
const LICENSES = `
  0BSD AGPL-3.0 Apache-2.0 BSD-2-Clause BSD-3-Clause BSD-3-Clause-Clear BSL-1.0 CC-BY-4.0 CC-BY-SA-4.0 CC0-1.0 EPL-1.0 EPL-2.0
  EUPL-1.2 GPL-2.0 GPL-3.0 ISC LGPL-2.1 LGPL-3.0 MIT MIT-0 MPL-2.0 MulanPSL-2.0 OFL-1.1 OSL-3.0 UPL-1.0 Unlicense WTFPL Zlib
  AGPL-3.0-only GPL-2.0-only GPL-3.0-only LGPL-2.1-only LGPL-3.0-only AGPL-3.0-or-later GPL-2.0-or-later GPL-3.0-or-later
  LGPL-2.1-or-later LGPL-3.0-or-later
`;

/** The sandbox keeps the name of the licence, not its text. */
const licenseTemplates: ReadonlyMap<string, string> = new Map(
  LICENSES.trim()
    .split(/\s+/)
    .map((name) => [name, `SPDX-License-Identifier: ${name}\n`]),
);

const readmeTemplates: ReadonlySet<string> = new Set(['Default']);

/** What the readme of a new repository says. */
export function firstReadme(name: string, description: string): string {
  return `# ${name}\n\n${description}`;
}

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
    if (text === undefined)
      throw serverError(`initRepository: prepareRepoCommit: GetRepoInitFile[${ignore}]: file does not exist`);
    files['.gitignore'] = (files['.gitignore'] ?? '') + text;
  }
  if (license === '') return files;
  const text = licenseTemplates.get(license);
  if (text === undefined)
    throw serverError(
      `initRepository: prepareRepoCommit: getLicense[${license}]: GetLicense[${license}]: file does not exist`,
    );
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
  if (!labels)
    throw unprocessable(
      `failed to load label template file "${wish.issue_labels}": label template "${wish.issue_labels}" not found`,
    );
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
      if (!mayMakeRepositories(call))
        throw forbidden('Given user is not allowed to create repository in organization.');
      return create(call, call.org);
    },
    true,
  ),
};
