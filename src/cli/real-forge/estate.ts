import { randomBytes } from 'node:crypto';
import { messageOf } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { basic, ForgeApi, ForgeRefused, type Reply, saidIn } from './forge-api.js';

export interface Account {
  readonly login: string;
  readonly password: string;
  readonly isAdmin: boolean;
  /** In the account's own name. */
  readonly api: ForgeApi;
}

/** Names that were taken elsewhere may change while the estate stands. */
const MOVES = 3;

/** What we make on somebody else's forge, and take away again: accounts and organizations, with all that is in them. */
export class Estate {
  private readonly accounts: Account[] = [];
  private readonly orgs = new Map<string, Account>();

  constructor(private readonly admin: ForgeApi) {}

  account(login: string): Account | undefined {
    return this.accounts.find((one) => one.login === login);
  }

  /** Whoever an organization of ours was made for. */
  ownerOf(org: string): Account | undefined {
    return this.orgs.get(org);
  }

  async isFree(name: string): Promise<boolean> {
    const [user, org] = await Promise.all([
      this.admin.call('GET', `/users/${name}`),
      this.admin.call('GET', `/orgs/${name}`),
    ]);
    return user.status === 404 && org.status === 404;
  }

  /** An account that can sign in at once, whatever the server's policy for passwords. */
  async makeAccount(login: string, wish: { fullName?: string; isAdmin?: boolean } = {}): Promise<Account> {
    const password = `Fh1-${randomBytes(18).toString('hex')}-Z!`;
    const account: Account = {
      login,
      password,
      isAdmin: wish.isAdmin === true,
      api: this.admin.as(basic(login, password)),
    };
    this.accounts.push(account);
    const isNew = await this.made(
      this.admin.call('POST', '/admin/users', {
        username: login,
        email: `${login}@example.org`,
        password,
        full_name: wish.fullName ?? '',
        must_change_password: false,
        restricted: false,
        visibility: 'public',
      }),
      `POST /admin/users (${login})`,
      () => this.accounts.splice(this.accounts.indexOf(account), 1),
    );
    if (isNew && account.isAdmin)
      await this.admin.ask('PATCH', `/admin/users/${login}`, { source_id: 0, login_name: login, admin: true });
    return account;
  }

  /** Where people may not make organizations, the administrator does it in the owner's name. */
  async makeOrg(name: string, owner: Account, wish: JsonObject = {}): Promise<void> {
    const body = { username: name, visibility: 'public', ...wish };
    this.orgs.set(name, owner);
    const call = async (): Promise<Reply> => {
      const answer = await owner.api.call('POST', '/orgs', body);
      return answer.status === 403 ? this.admin.call('POST', `/admin/users/${owner.login}/orgs`, body) : answer;
    };
    await this.made(call(), `POST /orgs (${name})`, () => this.orgs.delete(name));
  }

  /** @returns what could not be removed, a line each with the reason */
  async clear(): Promise<string[]> {
    const remains: string[] = [];
    const attempt = async (what: string, remove: () => Promise<Reply | null>): Promise<void> => {
      const answer = await remove().catch((error: unknown) => messageOf(error));
      if (typeof answer === 'string') remains.push(`${what}: ${answer}`);
      else if (answer && answer.status >= 300 && answer.status !== 404)
        remains.push(`${what}: ${answer.status} ${saidIn(answer.body)}`.trimEnd());
    };
    for (const org of this.orgs.keys()) await attempt(`organization ${org}`, () => this.removeOrg(org));
    this.orgs.clear();
    for (const { login } of this.accounts.splice(0))
      await attempt(`user ${login}`, () => this.remove(`/admin/users/${login}?purge=true`));
    return remains;
  }

  /** An organization goes only when nothing is in it. */
  private async removeOrg(name: string): Promise<Reply | null> {
    const org = await this.nameNow(name);
    if (org === null) return null;
    for (const repo of await this.admin.list(`/orgs/${org}/repos`))
      await this.admin.call('DELETE', `/repos/${String(repo.full_name)}`);
    for (const one of await this.admin.list(`/packages/${org}`).catch(() => [])) {
      const [type, packageName, version] = [one.type, one.name, one.version].map((part) =>
        encodeURIComponent(String(part)),
      );
      await this.admin.call('DELETE', `/packages/${org}/${type}/${packageName}/${version}`);
    }
    return this.remove(`/orgs/${org}`);
  }

  private async nameNow(org: string): Promise<string | null> {
    const answer = await this.follow('GET', `/orgs/${org}`);
    if (answer.status === 404) return null;
    const { username, name } = answer.body as JsonObject;
    return String(username ?? name ?? org);
  }

  private remove(path: string): Promise<Reply> {
    return this.follow('DELETE', path);
  }

  /** Renamed ones are found under the name they have now; never beyond the API of this forge. */
  private async follow(method: string, path: string): Promise<Reply> {
    let answer = await this.admin.call(method, path);
    const query = /\?.*$/.exec(path)?.[0] ?? '';
    for (let move = 0; move < MOVES && (answer.status === 301 || answer.status === 307); move += 1) {
      const location = new URL(String(answer.headers.location ?? ''), this.admin.origin).pathname;
      if (!location.startsWith('/api/v1/')) return answer;
      answer = await this.admin.call(method, location + query);
    }
    return answer;
  }

  /** A call that came to nothing leaves nothing to remove; one whose end is unknown is tried to be removed all the same. */
  private async made(call: Promise<Reply>, what: string, forget: () => void): Promise<boolean> {
    const { status, body } = await call;
    if (status < 300) return true;
    forget();
    throw new ForgeRefused(status, what, saidIn(body));
  }
}
