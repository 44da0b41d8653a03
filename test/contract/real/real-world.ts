import { request } from 'undici';
import type { Json, JsonObject } from '../../../src/core/json.js';
import { isJsonObject } from '../../../src/core/json.js';
import type { Account, Estate } from '../../../src/cli/real-forge/estate.js';
import { basic, type ForgeApi, ForgeRefused, saidIn } from '../../../src/cli/real-forge/forge-api.js';
import { gitPush } from './git-push.js';
import { Skipped } from './skipped.js';

type Give = (entry: JsonObject) => Promise<void>;

/** Makes the entries of a `given` list by a server's own API, each in the name of whom the recordings name for it. */
export class RealWorld {
  constructor(
    private readonly estate: Estate,
    private readonly root: Account,
  ) {}

  /** @throws Skipped when the server refuses it */
  async give(entry: JsonObject): Promise<void> {
    const kind = ORDER.find((name) => Object.hasOwn(entry, name));
    const give = kind === undefined ? undefined : this.givens[kind];
    if (!give) throw new Skipped(`nothing is known here about a given ${Object.keys(entry).join(', ')}`);
    try {
      await give(entry);
    } catch (error) {
      if (error instanceof ForgeRefused) throw new Skipped(`the server refuses what the story needs: ${error.message}`);
      throw error;
    }
  }

  private readonly givens: Record<string, Give> = {
    user: async ({ user, full_name }) => {
      if (!this.estate.account(text(user))) await this.estate.makeAccount(text(user), { fullName: text(full_name) });
    },
    org: async ({ org, owner, visibility, full_name }) =>
      this.estate.makeOrg(text(org), this.account(owner), {
        visibility: text(visibility) || 'public',
        full_name: text(full_name),
      }),
    team: async ({ team, org, permission, units, members, includes_all_repositories }) => {
      const owner = this.ownerOf(text(org));
      const { id } = await owner.ask('POST', `/orgs/${text(org)}/teams`, {
        name: text(team),
        permission: text(permission) || 'read',
        units: units ?? [],
        includes_all_repositories: includes_all_repositories === true,
      });
      for (const member of texts(members)) await owner.ask('PUT', `/teams/${String(id)}/members/${member}`);
    },
    repo: async ({ repo, before_step: _, ...fields }) => {
      const [owner = '', name = ''] = text(repo).split('/');
      await this.root.api.ask('POST', `/admin/users/${owner}/repos`, { private: false, ...fields, name });
    },
    archived: async ({ archived }) =>
      void (await this.root.api.ask('PATCH', `/repos/${text(archived)}`, { archived: true })),
    file: async ({ file, repo, branch, content, message }) => {
      const at = `/repos/${text(repo)}/contents/${text(file).split('/').map(encodeURIComponent).join('/')}`;
      await this.root.api.ask('POST', at, {
        content: Buffer.from(contentOf(content)).toString('base64'),
        message: text(message) || `add ${text(file)}`,
        ...(text(branch) === '' ? {} : { branch: text(branch) }),
      });
    },
    tag: async ({ tag, repo, target, message }) =>
      void (await this.root.api.ask('POST', `/repos/${text(repo)}/tags`, {
        tag_name: text(tag),
        ...(text(target) === '' ? {} : { target: text(target) }),
        ...(text(message) === '' ? {} : { message: text(message) }),
      })),
    label: async ({ label, repo, color }) =>
      void (await this.root.api.ask('POST', `/repos/${text(repo)}/labels`, { name: text(label), color: text(color) })),
    issue: async ({ repo, title }) =>
      void (await this.root.api.ask('POST', `/repos/${text(repo)}/issues`, { title: text(title) })),
    package_upload: async ({ package_upload, owner, by, content }) => {
      const [type, ...path] = text(package_upload).split('/').map(encodeURIComponent);
      const { login, password } = this.account(by);
      const address = `${this.root.api.origin}/api/packages/${text(owner)}/${type ?? ''}/${path.join('/')}`;
      const answer = await request(address, {
        method: 'PUT',
        headers: { authorization: basic(login, password) },
        body: text(content) || 'hello',
      });
      const said = await answer.body.text();
      if (answer.statusCode >= 300)
        throw new ForgeRefused(answer.statusCode, `PUT ${new URL(address).pathname}`, saidIn(said));
    },
    git_push: async ({ git_push, repo, by, from, commits }) => {
      const { login, password } = this.account(by);
      const remote = `${this.root.api.origin}/${text(repo)}.git`;
      const offer = await request(`${remote}/info/refs?service=git-receive-pack`, {
        headers: { authorization: basic(login, password) },
      });
      await offer.body.dump();
      if (offer.statusCode !== 200) throw new Skipped(`the server takes no git over HTTP (${offer.statusCode})`);
      await gitPush({
        remote,
        authorization: basic(login, password),
        author: login,
        branch: text(git_push),
        from: text(from),
        commits: (Array.isArray(commits) ? commits.filter(isJsonObject) : []).map((one) => ({
          message: text(one.message),
          files: Object.fromEntries(
            Object.entries(isJsonObject(one.files) ? one.files : {}).map(([path, content]) => [
              path,
              contentOf(content),
            ]),
          ),
          removed: texts(one.removed),
        })),
      });
    },
  };

  private account(login: Json | undefined): Account {
    const found = this.estate.account(text(login));
    if (!found) throw new Error(`the story gave no user ${text(login)}`);
    return found;
  }

  /** Whoever made it may do everything in it; the site administrator may too. */
  private ownerOf(org: string): ForgeApi {
    return this.estate.ownerOf(org)?.api ?? this.root.api;
  }
}

/** Telling keys first: `repo` and `org` are fields of other entries too. */
const ORDER = [
  'archived',
  'file',
  'tag',
  'package_upload',
  'git_push',
  'label',
  'issue',
  'team',
  'repo',
  'org',
  'user',
];

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(text) : [];
}

function contentOf(value: Json | undefined): string {
  return isJsonObject(value) ? text(value.repeat).repeat(Number(value.times ?? 0)) : text(value);
}
