import { Command, Option } from 'commander';
import { EnvironmentFile, environmentFileOf } from '../config/environment-file.js';
import { webAddress } from '../config/safe-address.js';
import { UserError } from '../core/errors.js';
import type { Json, JsonObject } from '../core/json.js';
import { configOption, jsonOption } from './command-options.js';
import { SandboxClient, type ActAnswer } from './demo/sandbox-client.js';
import { SANDBOX_BOT, SANDBOX_TOKEN } from './init/sandbox-names.js';
import { plain, print, table } from './print.js';
import { counted } from '../api/words.js';

interface ActOptions {
  readonly config: string;
  readonly json: boolean;
  readonly as?: string;
  readonly controlToken?: string;
}

/** People of the sandbox do something, as its API and its web pages would let them. */
export function sandboxActCommand(): Command {
  return new Command('act')
    .description('perform an act of a person in the sandbox of `init --sandbox`; without an act, list the acts')
    .argument('[act]', 'name of the act, such as issue.open')
    .argument('[parameters...]', "name=value, where valid JSON is read as JSON: 'title=It crashes'")
    .addOption(configOption())
    .option('--as <login>', 'person who acts. Default: a member of the organization')
    .addOption(
      new Option('--control-token <text>', 'bearer token of /_sandbox. Default: from the environment file').env(
        SANDBOX_TOKEN,
      ),
    )
    .addOption(jsonOption())
    .action(async (act: string | undefined, parameters: string[], options: ActOptions) => {
      const { readConfig } = await import('../config/read-config.js');
      const config = readConfig(options.config, { reader: 'command' });
      const [forge, org] = [config.forges[0], config.orgs[0]];
      const controlToken =
        options.controlToken ?? new EnvironmentFile(environmentFileOf(config.file)).get(SANDBOX_TOKEN);
      if (!forge || !org || controlToken === undefined)
        throw new UserError(
          'NO_SANDBOX',
          `${config.file} belongs to no sandbox: set one up with forgehand init --sandbox`,
        );
      const apiUrl = forge.baseUrl;
      const client = new SandboxClient({ url: webAddress(apiUrl), apiUrl, controlToken });
      if (act === undefined) {
        const acts = await client.acts();
        return print(options.json, acts, () =>
          table(
            ['act', 'does', 'example'],
            acts.map(({ act: name, summary, example }) => [name, summary, exampleOf(example)]),
            'none',
          ),
        );
      }
      const values = Object.fromEntries(parameters.map(readParameter));
      const knownAct = (await client.acts()).find((one) => one.act === act);
      const { person, repo } = await client.somebody(org.name, SANDBOX_BOT);
      // The example has every parameter that there is.
      const where = knownAct && 'repo' in knownAct.example && values.repo === undefined ? { repo } : {};
      const as = options.as ?? person;
      const answer = await client.act(as, act, { ...where, ...values });
      print(options.json, { as, act, ...where, ...values, ...answer }, () =>
        line(as, act, { ...where, ...values }, answer),
      );
    });
}

function readParameter(text: string): [string, Json] {
  const cut = text.indexOf('=');
  if (cut < 1) throw new UserError('ACT_PARAMETER', `${text}: write parameters as name=value`);
  const value = text.slice(cut + 1);
  try {
    return [text.slice(0, cut), JSON.parse(value) as Json];
  } catch {
    return [text.slice(0, cut), value];
  }
}

function exampleOf({ as: _as, act: _act, ...parameters }: JsonObject): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .map((text) => (/[\s"'{}[\]]/.test(text) ? `'${text}'` : text))
    .join(' ');
}

function line(as: string, act: string, parameters: JsonObject, { happened, deliveries, result }: ActAnswer): string {
  const number = (result as { number?: unknown } | null)?.number;
  const where = typeof parameters.repo === 'string' ? ` in ${parameters.repo}` : '';
  const deliveryText = counted(deliveries.length, 'delivery', 'deliveries');
  return plain(
    `${as} did ${act}${where}${number === undefined ? '' : ` (#${String(number)})`}: ${happened.join(', ')}; ${deliveryText}`,
  );
}
