import type { EnvironmentFile } from '../../config/environment-file.js';
import { webAddress } from '../../config/safe-address.js';
import { UserError } from '../../core/errors.js';
import { seedAcme } from '../../sandbox/seed/seed-acme.js';
import { startSandbox } from '../../sandbox/start-sandbox.js';
import { SandboxClient } from '../demo/sandbox-client.js';
import { BOT_SCOPES } from './look-at-forge.js';
import type { Places } from './operator-files.js';
import { freePort } from './own-address.js';
import { SANDBOX_BOT, SANDBOX_TOKEN } from './sandbox-names.js';

const ORG = 'acme';
const FIRST_PORT = 4000;

/** The forge in a box that `init --sandbox` works on. */
export interface SandboxForge {
  readonly baseUrl: string;
  readonly org: string;
  /** Steers the forge; kept in the environment file for `forgehand sandbox act`. */
  readonly controlToken: string;
  /** Whether another process runs it. */
  readonly isElsewhere: boolean;
  /** A token of the bot's account, which is made when it is not there. */
  botToken(): Promise<string>;
  /** A person does something, so that a delivery comes. */
  act(): Promise<void>;
  close(): Promise<void>;
}

/** Uses the sandbox that runs at the address of the config, else starts one that keeps its state in a file. */
export async function openSandboxForge(
  places: Places,
  environment: EnvironmentFile,
  baseUrl: string | null,
): Promise<SandboxForge> {
  const existingToken = environment.get(SANDBOX_TOKEN);
  if (baseUrl !== null && existingToken !== undefined && (await answers(baseUrl, existingToken)))
    return steered(baseUrl, existingToken, true, () => Promise.resolve());
  const port = baseUrl === null ? await freePort(FIRST_PORT) : Number(new URL(baseUrl).port);
  const sandbox = await startSandbox({
    port,
    stateFile: places.sandbox,
    populate: (parts) => seedAcme(parts, 1),
    ...(existingToken === undefined ? {} : { controlToken: existingToken }),
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new UserError(
      'PORT_TAKEN',
      `port ${port} of the sandbox in ${places.config} is taken by another program: stop that one, or write another port there`,
    );
  });
  return steered(sandbox.apiUrl, sandbox.controlToken, false, () => sandbox.close());
}

async function answers(baseUrl: string, token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${webAddress(baseUrl)}/_sandbox/world`, { headers }).catch(() => null);
  await answer?.body?.cancel();
  return answer?.ok === true;
}

function steered(
  baseUrl: string,
  controlToken: string,
  isElsewhere: boolean,
  close: () => Promise<void>,
): SandboxForge {
  const client = new SandboxClient({ url: webAddress(baseUrl), apiUrl: baseUrl, controlToken });
  return {
    baseUrl,
    org: ORG,
    controlToken,
    isElsewhere,
    botToken: async () =>
      (
        await client.account({
          login: SANDBOX_BOT,
          full_name: 'Forgehand',
          org: ORG,
          team: 'Owners',
          token: 'forgehand init',
          scopes: BOT_SCOPES,
        })
      ).token,
    act: async () => {
      const { person, repo } = await client.somebody(ORG, SANDBOX_BOT);
      await client.act(person, 'issue.open', { repo, title: 'Does the bot hear this?' });
    },
    close,
  };
}
