import type { Handover, Json, JsonObject, RepoState, Row, Snapshot, Variable } from './handover.js';

type Place = Pick<Handover, 'api' | 'org' | 'bot' | 'adminToken'>;

const PAGE = 50;

/** Reads the forge over HTTP, and nothing else. */
export class ForgeReader {
  constructor(private readonly place: Place) {}

  /**
   * Everything that rules can change, as it is now.
   * @param elsewhere full names of repositories outside the organization to look at too
   */
  async snapshot(elsewhere: readonly string[] = []): Promise<Snapshot> {
    const { org, bot } = this.place;
    const repos = await this.list(`/orgs/${org}/repos`);
    for (const name of elsewhere) {
      const repo = await this.find(`/repos/${name}`);
      if (repo) repos.push(repo as JsonObject);
    }
    const states: RepoState[] = [];
    for (const repo of repos) states.push(await this.repoState(repo));
    return {
      repos: states,
      orgVariables: variables(await this.list(`/orgs/${org}/actions/variables`)),
      accountVariables: variables(await this.list('/user/actions/variables', bot.token)),
      accountSettings: (await this.get('/user/settings', bot.token)) as JsonObject,
    };
  }

  /** @returns null for 404 */
  async find(path: string, token = this.place.adminToken): Promise<Json> {
    const answer = await this.ask(path, token);
    return answer.status === 404 ? null : body(answer, path);
  }

  async get(path: string, token = this.place.adminToken): Promise<Json> {
    return body(await this.ask(path, token), path);
  }

  async list(path: string, token = this.place.adminToken): Promise<JsonObject[]> {
    const all: JsonObject[] = [];
    for (let page = 1; ; page += 1) {
      const answer = await this.ask(`${path}${path.includes('?') ? '&' : '?'}limit=${PAGE}&page=${page}`, token);
      // Forks have no issues, milestones and releases of their own: the part is switched off.
      if (page === 1 && (answer.status === 403 || answer.status === 404)) return [];
      // Servers answer an empty page with null.
      const rows = ((await body(answer, path)) ?? []) as JsonObject[];
      all.push(...rows);
      if (rows.length < PAGE) return all;
    }
  }

  private async repoState(repo: JsonObject): Promise<RepoState> {
    const at = `/repos/${String(repo.full_name)}`;
    const [labels, milestones, mirrors, branches, releases] = await Promise.all([
      this.list(`${at}/labels`),
      this.list(`${at}/milestones?state=all`),
      this.list(`${at}/push_mirrors`),
      this.list(`${at}/branches`),
      this.list(`${at}/releases`),
    ]);
    return {
      repo,
      labels: labels.map(labelRow),
      milestones: milestones.map(milestoneRow),
      mirrors: mirrors.map(mirrorRow),
      branches: Object.fromEntries(
        branches.map((branch) => [String(branch.name), String((branch.commit as JsonObject | null)?.id ?? '') || null]),
      ),
      releases,
    };
  }

  private async ask(path: string, token: string): Promise<Response> {
    return fetch(`${this.place.api}${path}`, { headers: { authorization: `token ${token}` } });
  }
}

async function body(answer: Response, path: string): Promise<Json> {
  if (!answer.ok) throw new Error(`GET ${path} was answered with ${answer.status}`);
  return (await answer.json()) as Json;
}

function labelRow(label: JsonObject): Row {
  return {
    name: String(label.name),
    color: String(label.color).replace(/^#/, '').toLowerCase(),
    description: String(label.description ?? ''),
    exclusive: label.exclusive === true,
  };
}

function milestoneRow(milestone: JsonObject): Row {
  return {
    title: String(milestone.title),
    state: String(milestone.state ?? 'open'),
    description: String(milestone.description ?? ''),
    due: day(milestone.due_on),
  };
}

function mirrorRow(mirror: JsonObject): Row {
  return {
    address: String(mirror.remote_address),
    interval: seconds(String(mirror.interval ?? '')),
    onCommit: mirror.sync_on_commit === true,
  };
}

const UNIT_S: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 };

/** `8h`, `8h0m0s` and `480m` are the same. */
export function seconds(duration: string): string {
  return String(
    [...duration.matchAll(/(\d+)([hms])/g)].reduce(
      (sum, [, n, unit]) => sum + Number(n) * (UNIT_S[unit ?? ''] ?? 0),
      0,
    ),
  );
}

/** Due dates are kept by the day; times before 1971 mean none. */
export function day(time: Json | undefined): string | null {
  if (typeof time !== 'string' || time === '') return null;
  const date = time.slice(0, 10);
  return date < '1971' ? null : date;
}

function variables(rows: readonly JsonObject[]): Record<string, Variable> {
  return Object.fromEntries(
    rows.map((row) => [
      String(row.name),
      { value: String(row.data ?? ''), description: 'description' in row ? String(row.description ?? '') : null },
    ]),
  );
}
