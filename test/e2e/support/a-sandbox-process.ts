import { FORGEHAND } from './built.js';
import { Child } from './child.js';

/** A sandbox as a process of its own, known by its address and the credentials of its administrator. */
export interface SandboxProcess {
  readonly url: string;
  /** What a command needs in its environment to speak as the site administrator. */
  readonly env: Readonly<Record<string, string>>;
  /** Logins of everybody and names of all organizations. */
  owners(): Promise<string[]>;
  end(): Promise<unknown>;
}

interface Told {
  readonly url: string;
  readonly admin: { readonly login: string; readonly password: string };
  readonly control_token: string;
}

export async function aSandboxProcess(...options: string[]): Promise<SandboxProcess> {
  const child = new Child([FORGEHAND, 'sandbox', '--port', '0', '--json', ...options], {});
  const { url, admin, control_token } = await told(child);
  return {
    url,
    env: { FORGEHAND_ADMIN_USER: admin.login, FORGEHAND_ADMIN_PASSWORD: admin.password },
    owners: async () => {
      const answer = await fetch(`${url}/_sandbox/world`, { headers: { authorization: `Bearer ${control_token}` } });
      const world = (await answer.json()) as { users: Array<{ login: string }>; orgs: Array<{ name: string }> };
      return [...world.users.map(({ login }) => login), ...world.orgs.map(({ name }) => name)].sort();
    },
    end: () => child.end('SIGTERM'),
  };
}

/** Printed over several lines, one object. */
function told(child: Child): Promise<Told> {
  let text = '';
  return child.line((line) => {
    text += `${line}\n`;
    try {
      return JSON.parse(text) as Told;
    } catch {
      return undefined;
    }
  });
}
