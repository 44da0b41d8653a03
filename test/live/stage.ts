import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { RealForge } from '../../src/cli/real-forge/connect.js';
import type { Account, Estate } from '../../src/cli/real-forge/estate.js';
import { ForgeRefused, saidIn } from '../../src/cli/real-forge/forge-api.js';
import type { Json, JsonObject } from '../../src/core/json.js';
import { isJsonObject } from '../../src/core/json.js';

/** The people of one run, with all names that it uses on the forge. */
export interface Stage {
  readonly forge: RealForge;
  readonly estate: Estate;
  /** Owns every organization. */
  readonly olga: Account;
  /** May write in every organization. */
  readonly wes: Account;
  /** Belongs to no organization. The bot allows a stranger five effects an hour. */
  readonly rita: Account;
  readonly orgs: readonly StageOrg[];
  readonly kinds: StageOrg;
  readonly house: StageOrg;
  readonly starters: StageOrg;
  readonly hasRunner: boolean;
}

export interface StageOrg {
  /** Changes when the organization is renamed. */
  name: string;
  /** Id of its hook at the bot. */
  readonly hook: string;
  readonly secret: string;
  /** An account of the bot for this organization alone, and one of its owners. */
  readonly bot: Account;
  readonly token: string;
}

/** As narrow as the rules allow. */
const SCOPES = {
  kinds: ['write:issue', 'write:organization', 'read:repository', 'read:user'],
  house: ['write:repository', 'write:issue', 'read:organization', 'read:user'],
  starters: ['write:repository', 'write:issue', 'read:organization', 'read:user'],
};
const UNITS = ['repo.code', 'repo.issues', 'repo.pulls', 'repo.releases', 'repo.wiki', 'repo.packages', 'repo.actions'];

export async function setStage(forge: RealForge, estate: Estate): Promise<Stage> {
  const tail = randomBytes(3).toString('hex');
  const olga = await estate.makeAccount(`fh-olga-${tail}`);
  const wes = await estate.makeAccount(`fh-wes-${tail}`);
  const rita = await estate.makeAccount(`fh-rita-${tail}`);
  const make = async (what: keyof typeof SCOPES): Promise<StageOrg> => {
    const name = `fh-${what}-${tail}`;
    const bot = await estate.makeAccount(`fh-bot-${what}-${tail}`, { fullName: 'Forgehand' });
    await estate.makeOrg(name, olga);
    const teams = await olga.api.list(`/orgs/${name}/teams`);
    const owners = teams.find((team) => team.name === 'Owners');
    await olga.api.ask('PUT', `/teams/${String(owners?.id)}/members/${bot.login}`);
    const team = await olga.api.ask('POST', `/orgs/${name}/teams`, {
      name: 'writers',
      permission: 'write',
      units: UNITS,
      includes_all_repositories: true,
    });
    await olga.api.ask('PUT', `/teams/${String(team.id)}/members/${wes.login}`);
    const made = await bot.api.ask('POST', `/users/${bot.login}/tokens`, { name: 'forgehand', scopes: SCOPES[what] });
    return { name, hook: what, secret: randomBytes(24).toString('hex'), bot, token: String(made.sha1) };
  };
  const [kinds, house, starters] = [await make('kinds'), await make('house'), await make('starters')];
  return {
    forge,
    estate,
    olga,
    wes,
    rita,
    kinds,
    house,
    starters,
    orgs: [kinds, house, starters],
    hasRunner: await hasRunner(forge),
  };
}

/** Gitea answers an object, Forgejo a list. */
async function hasRunner({ admin }: RealForge): Promise<boolean> {
  const { status, body } = await admin.call('GET', '/admin/actions/runners');
  const rows = isJsonObject(body) ? body.runners : body;
  return status === 200 && Array.isArray(rows) && rows.some((row) => isJsonObject(row) && row.status !== 'offline');
}

/** A merge is refused for a while after a push: the check for conflicts runs in the background. */
const TRIES = 40;
/** A runner asks for work every few seconds. */
const RUN_TRIES = 120;
const AGAIN_MS = 250;

/** What people do in one organization, by the forge's own API. Each answers what an event of it can be told by. */
export class People {
  private no = 0;

  constructor(
    private readonly stage: Stage,
    private readonly place: StageOrg,
  ) {}

  get org(): string {
    return this.place.name;
  }

  /** A name that nothing else has. */
  fresh(word: string): string {
    this.no += 1;
    return `${word}-${this.no}`;
  }

  at(repo: string, rest = ''): string {
    return `/repos/${this.org}/${repo}${rest}`;
  }

  async repository(name: string, wish: JsonObject = {}): Promise<string> {
    await this.stage.olga.api.ask('POST', `/orgs/${this.org}/repos`, {
      name,
      auto_init: true,
      default_branch: 'main',
      private: false,
      ...wish,
    });
    return name;
  }

  /**
   * A pull mirror of a repository of the same server. Of a migration the feed has no row, so nobody can confirm who made it: the administrator does it, about whom
   * no rule asks.
   */
  async mirror(of: string, name: string): Promise<string> {
    await this.stage.forge.admin.ask('POST', '/repos/migrate', {
      clone_addr: `${this.stage.forge.origin}/${this.org}/${of}.git`,
      mirror: true,
      mirror_interval: '8h0m0s',
      private: false,
      repo_name: name,
      repo_owner: this.org,
      service: 'git',
    });
    return name;
  }

  /** Syncs, which run in the background, until the branches of the mirror are those of its source: a sync that is asked for while one runs is dropped. */
  async sync(mirror: string, source: string): Promise<void> {
    const heads = async (repo: string): Promise<string> => {
      const list = await this.stage.olga.api.list(this.at(repo, '/branches'));
      return list
        .map(({ name, commit }) => `${String(name)} ${String((commit as JsonObject).id)}`)
        .sort()
        .join();
    };
    for (let tries = 1; tries <= TRIES; tries += 1) {
      await this.stage.olga.api.ask('POST', this.at(mirror, '/mirror-sync'));
      await wait(AGAIN_MS * 4);
      if ((await heads(mirror)) === (await heads(source))) return;
    }
    throw new Error(`${mirror} did not follow ${source}`);
  }

  /** One new file. @returns the commit */
  async push(repo: string, file: string, text: string, branch = 'main', by = this.stage.wes): Promise<string> {
    const path = this.at(repo, `/contents/${file.split('/').map(encodeURIComponent).join('/')}`);
    const here = await by.api.call('GET', `${path}?ref=${encodeURIComponent(branch)}`);
    const body = {
      content: Buffer.from(text).toString('base64'),
      message: `docs: ${file}`,
      branch,
      ...(here.status === 200 && isJsonObject(here.body) ? { sha: here.body.sha ?? '' } : {}),
    };
    const { commit } = await by.api.ask('sha' in body ? 'PUT' : 'POST', path, body);
    return String((commit as JsonObject).sha);
  }

  async branch(repo: string, name = this.fresh('branch'), from = 'main'): Promise<string> {
    await this.stage.wes.api.ask('POST', this.at(repo, '/branches'), { new_branch_name: name, old_branch_name: from });
    return name;
  }

  async tag(repo: string, name = this.fresh('t')): Promise<string> {
    await this.stage.wes.api.ask('POST', this.at(repo, '/tags'), { tag_name: name, target: 'main' });
    return name;
  }

  async issue(repo: string, by = this.stage.wes, wish: JsonObject = {}): Promise<string> {
    const { number } = await by.api.ask('POST', this.at(repo, '/issues'), { title: this.fresh('Issue'), ...wish });
    return String(number);
  }

  async edit(repo: string, number: string, wish: JsonObject, by = this.stage.wes): Promise<string> {
    await by.api.ask('PATCH', this.at(repo, `/issues/${number}`), wish);
    return number;
  }

  async comment(repo: string, number: string, body: string, by = this.stage.wes): Promise<string> {
    return String((await by.api.ask('POST', this.at(repo, `/issues/${number}/comments`), { body })).id);
  }

  /** Wes opens it, so that others may review it. */
  async pull(repo: string, wish: JsonObject = {}, files = [this.fresh('file')], base = 'main'): Promise<string> {
    const head = await this.branch(repo, this.fresh('pull'), base);
    for (const file of files) await this.noted(await this.push(repo, file, `${file}\n`, head));
    const body = { head, base, title: this.fresh('Pull'), ...wish };
    const number = String((await this.stage.wes.api.ask('POST', this.at(repo, '/pulls'), body)).number);
    await this.looked(repo, number);
    return number;
  }

  /** Pushes wait in a queue of the server: one that it works off after an approval takes the approval back, though it was made before. */
  private async noted(sha: string): Promise<void> {
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const { body } = await this.stage.olga.api.call('GET', `/orgs/${this.org}/activities/feeds?limit=50`);
      const rows = Array.isArray(body) ? body.filter(isJsonObject) : [];
      if (rows.some(({ content }) => String(content).includes(sha))) return;
      await wait(AGAIN_MS);
    }
  }

  /** Until a run of this commit is over, as the list of tasks shows it. */
  async ran(repo: string, sha: string): Promise<void> {
    for (let tries = 1; tries <= RUN_TRIES; tries += 1) {
      const { workflow_runs: tasks } = await this.stage.olga.api.ask('GET', this.at(repo, '/actions/tasks'));
      const own = Array.isArray(tasks) ? tasks.filter(isJsonObject).filter(({ head_sha }) => head_sha === sha) : [];
      if (own.some(({ status }) => status === 'failure' || status === 'success')) return;
      await wait(AGAIN_MS);
    }
    throw new Error(`no run of ${sha} is over`);
  }

  /** The server looks at a new pull request in the background, and takes approvals back that came before. */
  private async looked(repo: string, number: string): Promise<void> {
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const { mergeable } = await this.stage.wes.api.ask('GET', this.at(repo, `/pulls/${number}`));
      if (mergeable === true) return;
      await wait(AGAIN_MS);
    }
  }

  async headOf(repo: string, number: string): Promise<{ branch: string; sha: string }> {
    const { head } = await this.stage.wes.api.ask('GET', this.at(repo, `/pulls/${number}`));
    const { ref, sha } = head as JsonObject;
    return { branch: String(ref), sha: String(sha) };
  }

  async review(repo: string, number: string, event: string, by = this.stage.olga): Promise<string> {
    const { id } = await by.api.ask('POST', this.at(repo, `/pulls/${number}/reviews`), { event, body: 'Looked at.' });
    return String(id);
  }

  async merge(repo: string, number: string, how = 'merge'): Promise<string> {
    for (let tries = 1; ; tries += 1) {
      const path = this.at(repo, `/pulls/${number}/merge`);
      const { status, body } = await this.stage.olga.api.call('POST', path, { Do: how });
      if (status < 300) return number;
      if (status !== 405 || tries === TRIES) throw new ForgeRefused(status, `POST ${path}`, saidIn(body));
      await wait(AGAIN_MS);
    }
  }

  async label(repo: string, name = this.fresh('mine')): Promise<Json> {
    const { id } = await this.stage.olga.api.ask('POST', this.at(repo, '/labels'), { name, color: '#00aabb' });
    return id ?? null;
  }

  async putLabel(repo: string, number: string, label?: Json): Promise<string> {
    const labels = [label ?? (await this.label(repo))];
    await this.stage.wes.api.ask('POST', this.at(repo, `/issues/${number}/labels`), { labels });
    return number;
  }

  async milestone(repo: string, title = this.fresh('milestone')): Promise<Json> {
    return (await this.stage.olga.api.ask('POST', this.at(repo, '/milestones'), { title })).id ?? null;
  }

  async release(repo: string, tag = this.fresh('r')): Promise<{ id: string; tag: string }> {
    const { id } = await this.stage.olga.api.ask('POST', this.at(repo, '/releases'), {
      tag_name: tag,
      target_commitish: 'main',
      name: tag,
    });
    return { id: String(id), tag };
  }
}
