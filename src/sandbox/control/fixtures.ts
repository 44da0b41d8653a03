import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { ok, Refusal } from '../answer.js';
import { resolveRef } from '../git/store.js';
import type { SandboxParts } from '../parts.js';
import { pushToBranch } from '../resources/commit.js';
import { makeIssue } from '../resources/issue.js';
import { makeLabel, readColor } from '../resources/label.js';
import { makeOrganization } from '../resources/organization.js';
import { uploadPackage } from '../resources/package.js';
import { firstReadme } from '../resources/repository-create.js';
import { archiveRepository } from '../resources/repository-edit.js';
import { makeRepository } from '../resources/repository.js';
import { createTag } from '../resources/tag.js';
import { makeTeam } from '../resources/team.js';
import { makeUser } from '../resources/user.js';
import { atLeast, type Mode, MODES, type Owner, type Unit, UNITS, type User, type Visibility } from '../world.js';
import { list, repoNamed, required, text, userNamed, type Fixture } from './read.js';
import type { ControlRoute } from './router.js';
import { runnerFixture, runsFixture } from './runner-route.js';

function contentOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (isJsonObject(value)) return text(value, 'repeat').repeat(Number(value.times ?? 0));
  throw new Refusal(422, 'content: a text or { repeat, times } is needed');
}

function contentsOf(value: Json | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(isJsonObject(value) ? value : {}).map(([path, content]) => [path, contentOf(content)]),
  );
}

/** The owner itself; of an organization the first member of a team that may write packages; else the site admin. */
function packageWriter({ world, admin }: SandboxParts, owner: Owner): User {
  if (owner.kind === 'user') return owner;
  const teams = [...world.teams.values()].filter((team) => team.orgId === owner.id && team.permission !== 'owner');
  const [first] =
    teams.find((team) => team.members.size > 0 && atLeast(team.units.get('repo.packages') ?? 'none', 'write'))
      ?.members ?? [];
  return first === undefined ? admin : world.user(first);
}

/** Entries of a given world by their leading key. */
const fixtures: Record<string, Fixture> = {
  /** Who is there already stays; `password` and `admin` may be told for a new one. */
  user: ({ world }, entry) => {
    const login = required(entry, 'user');
    const user =
      world.userByName(login) ??
      makeUser(world, {
        login,
        fullName: text(entry, 'full_name'),
        isAdmin: entry.admin === true,
        ...(typeof entry.password === 'string' ? { password: entry.password } : {}),
      });
    return { login: user.login, password: user.password };
  },

  org: (parts, entry) => {
    const org = makeOrganization(parts.world, {
      name: required(entry, 'org'),
      owner: userNamed(parts, required(entry, 'owner')),
      fullName: text(entry, 'full_name'),
      visibility: (text(entry, 'visibility') || 'public') as Visibility,
    });
    return { id: org.id };
  },

  team: (parts, entry) => {
    const org = parts.world.orgByName(required(entry, 'org'));
    if (!org) throw new Refusal(404, `no organization ${text(entry, 'org')}`);
    const permission = text(entry, 'permission') || 'read';
    if (!(MODES as readonly string[]).includes(permission))
      throw new Refusal(422, `permission: one of ${MODES.join(', ')}`);
    const team = makeTeam(parts.world, {
      org,
      name: required(entry, 'team'),
      permission: permission as Mode,
      members: list(entry, 'members').map((name) => userNamed(parts, name)),
      includesAllRepositories: entry.includes_all_repositories === true,
      ...(entry.units === undefined
        ? {}
        : { units: list(entry, 'units').filter((unit): unit is Unit => (UNITS as readonly string[]).includes(unit)) }),
    });
    return { id: team.id };
  },

  repo: (parts, entry) => {
    const [ownerName = '', name = ''] = required(entry, 'repo').split('/');
    const owner = parts.world.ownerByName(ownerName);
    if (!owner) throw new Refusal(404, `no owner ${ownerName}`);
    const description = text(entry, 'description');
    const repo = makeRepository(parts.world, parts.admin, {
      owner,
      name,
      description,
      private: entry.private === true,
      template: entry.template === true,
      defaultBranch: text(entry, 'default_branch'),
      ...(entry.auto_init === true ? { files: { 'README.md': firstReadme(name, description) } } : {}),
    });
    return { id: repo.id };
  },

  archived: (parts, entry) => {
    archiveRepository(parts.world, repoNamed(parts, required(entry, 'archived')), true);
    return {};
  },

  /** One commit by the site admin. */
  file: (parts, entry) => {
    const path = required(entry, 'file');
    const repo = repoNamed(parts, required(entry, 'repo'));
    const branch = text(entry, 'branch') || repo.defaultBranch;
    const message = text(entry, 'message') || `add ${path}`;
    return {
      sha: pushToBranch(parts.world, parts.admin, repo, branch, [
        { message, files: { [path]: contentOf(entry.content) } },
      ]),
    };
  },

  tag: (parts, entry) => {
    const repo = repoNamed(parts, required(entry, 'repo'));
    const target = resolveRef(repo.git, text(entry, 'target') || repo.defaultBranch);
    if (!target) throw new Refusal(404, `no target ${text(entry, 'target')}`);
    createTag(parts.world, parts.admin, repo, required(entry, 'tag'), target.commit.sha, text(entry, 'message'));
    return { sha: target.commit.sha };
  },

  label: (parts, entry) => {
    const color = readColor(required(entry, 'color'));
    if (color === undefined) throw new Refusal(422, 'color: six hex digits are needed');
    const of = repoNamed(parts, required(entry, 'repo'));
    return { id: makeLabel(parts.world, parts.admin, { of, name: required(entry, 'label'), color }).id };
  },

  /** The number told is the one that the next issue gets anyway. */
  issue: (parts, entry) => {
    const issue = makeIssue(parts.world, parts.admin, repoNamed(parts, required(entry, 'repo')), {
      title: required(entry, 'title'),
    });
    return { id: issue.id, number: issue.number };
  },

  /** `type/name/version/file`; `by` (default: a writer of the owner's packages) and `content` (default `hello`) may be told. */
  package_upload: (parts, entry) => {
    const [type = '', name = '', version = '', fileName = ''] = required(entry, 'package_upload').split('/');
    const owner = parts.world.ownerByName(required(entry, 'owner'));
    if (!owner) throw new Refusal(404, `no owner ${text(entry, 'owner')}`);
    const uploaded = uploadPackage(parts.world, {
      ownerId: owner.id,
      creator: entry.by === undefined ? packageWriter(parts, owner) : userNamed(parts, required(entry, 'by')),
      type,
      name,
      version,
      fileName,
      content: Buffer.from(text(entry, 'content') || 'hello'),
    });
    return { id: uploaded.id };
  },

  git_push: (parts, entry) => {
    const commits = Array.isArray(entry.commits) ? entry.commits.filter(isJsonObject) : [];
    const wishes = commits.map((one) => ({
      message: required(one, 'message'),
      files: contentsOf(one.files),
      removed: list(one, 'removed'),
    }));
    const from = text(entry, 'from');
    const repo = repoNamed(parts, required(entry, 'repo'));
    const by = userNamed(parts, required(entry, 'by'));
    return {
      sha: pushToBranch(parts.world, by, repo, required(entry, 'git_push'), wishes, from === '' ? undefined : from),
    };
  },

  runner: runnerFixture,
  runs: runsFixture,
};

/** Takes one entry in the format of the recordings' `given` lists. */
export const fixtureRoute: ControlRoute = {
  method: 'POST',
  path: '/_sandbox/given',
  run: ({ parts, body }) => {
    const kind = kindOf(body);
    const make = kind === undefined ? undefined : fixtures[kind];
    if (!make) throw new Refusal(422, `what is given must have one of the keys ${Object.keys(fixtures).join(', ')}`);
    return ok(make(parts, body));
  },
};

/** Some kinds are fields of others (`repo` of a file, `org` of a team): these count last, in this order. */
const ALSO_FIELDS = ['label', 'issue', 'team', 'repo', 'org', 'user'];

function kindOf(body: JsonObject): string | undefined {
  const telling = Object.keys(fixtures).filter((name) => !ALSO_FIELDS.includes(name));
  return [...telling, ...ALSO_FIELDS].find((name) => Object.hasOwn(body, name));
}
