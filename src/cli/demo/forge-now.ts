import type { RunReport } from '../../api/operations/answers.js';
import type { JsonObject } from '../../core/json.js';
import type { SandboxClient } from './sandbox-client.js';

type Intent = RunReport['intents'][number];

/** Says what the forge holds after effects of one kind, asking the forge and not the bot. */
export class ForgeNow {
  constructor(
    private readonly client: Pick<SandboxClient, 'get'>,
    private readonly adminToken: string,
    private readonly botToken: string,
    private readonly org: string,
  ) {}

  async after(intents: readonly [Intent, ...Intent[]]): Promise<string> {
    const places = new Set(
      intents.map(({ target, effectKey }) =>
        target.kind === 'repository' ? `${target.owner}/${target.name}` : effectKey,
      ),
    ).size;
    const one = await this.afterOne(intents[0]);
    const noun = intents.every(({ target }) => target.kind === 'repository') ? 'repositories' : 'places';
    return places > 1 ? `${places} ${noun}, e.g. ${one}` : one;
  }

  private async afterOne(first: Intent): Promise<string> {
    const { params, target } = first;
    const repo = target.kind === 'repository' ? `${target.owner}/${target.name}` : '';
    switch (first.action) {
      case 'label.ensure':
        return `${repo} has ${(await this.list(`/repos/${repo}/labels?limit=50`)).length} labels`;
      case 'milestone.ensure': {
        const titles = (await this.list(`/repos/${repo}/milestones?state=open`)).map(({ title }) => String(title));
        return `open milestones of ${repo}: ${titles.join(', ') || 'none'}`;
      }
      case 'push_mirror.ensure':
        return `${repo} -> ${(await this.list(`/repos/${repo}/push_mirrors`)).map(({ remote_address }) => String(remote_address)).join(', ') || 'no mirror'}`;
      case 'branch.create': {
        const branch = (await this.one(
          `/repos/${repo}/branches/${encodeURIComponent(String(params.new_branch_name))}`,
        )) as {
          name?: string;
          commit?: { id?: string };
        } | null;
        return branch ? `branch ${branch.name} at ${branch.commit?.id?.slice(0, 10)}` : 'no such branch';
      }
      case 'release.update': {
        const release = await this.one(
          params.id === undefined
            ? `/repos/${repo}/releases/tags/${encodeURIComponent(String(params.tag))}`
            : `/repos/${repo}/releases/${String(params.id)}`,
        );
        return release ? `notes of ${String(release.tag_name)}: ${firstLine(String(release.body))}` : 'no such release';
      }
      case 'org_variable.set': {
        const variable = await this.one(`/orgs/${this.org}/actions/variables/${String(params.name)}`);
        return variable ? `${String(variable.name)} = ${firstLine(String(variable.data))}` : 'no such variable';
      }
      case 'user_variable.create': {
        const variable = await this.one(`/user/actions/variables/${String(params.name)}`, this.botToken);
        return variable
          ? `account variable ${String(variable.name)} = ${firstLine(String(variable.data))}`
          : 'no such variable';
      }
      case 'user_settings.update': {
        const settings = await this.one('/user/settings', this.botToken);
        return settings
          ? Object.keys(params)
              .map((name) => `${name} = ${String(settings[name])}`)
              .join(', ')
          : 'no settings';
      }
      case 'repo.create_for_user': {
        const wanted = `${String(params.username)}/${String(params.name)}`;
        return (await this.one(`/repos/${wanted}`)) ? `repository ${wanted} is there` : `no repository ${wanted}`;
      }
      default:
        return first.effectKey;
    }
  }

  private async one(path: string, token = this.adminToken): Promise<JsonObject | null> {
    return (await this.client.get(path, token)) as JsonObject | null;
  }

  private async list(path: string): Promise<JsonObject[]> {
    return ((await this.client.get(path, this.adminToken)) ?? []) as JsonObject[];
  }
}

function firstLine(text: string): string {
  const [line = '', ...rest] = text.trim().split('\n');
  return rest.length > 0 ? `${line} …` : line;
}
