import { parseArgs } from 'node:util';

export interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: readonly number[];
  readonly servers: readonly string[];
  readonly queue: 'embedded' | 'redis';
  readonly build: boolean;
  /** Folder for a CPU profile of (a). */
  readonly profile: string | null;
  readonly json: boolean;
}

export const HELP = `npm run bench:ingest -- [options]

  --seconds N       counted seconds of each run (default 5; one more before it is not counted)
  --rounds N        rounds; ratios are taken within each and their median is told (default 3)
  --connections L   numbers of connections, by commas (default 32,128)
  --servers L       of a,b,c,d (default all)
  --queue Q         embedded: wake-ups stay in the process (default); redis: (a) also announces each delivery over Bull
  --profile DIR     write a CPU profile of (a) there
  --no-build        take dist/ as it is
  --json            figures as JSON on stdout, progress on stderr
`;

/** @returns null when help was asked for; throws with a message for people when an option makes no sense */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '3' },
      connections: { type: 'string', default: '32,128' },
      servers: { type: 'string', default: 'a,b,c,d' },
      queue: { type: 'string', default: 'embedded' },
      profile: { type: 'string' },
      'no-build': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return null;
  const { queue } = values;
  if (queue !== 'embedded' && queue !== 'redis') throw new Error('--queue is embedded or redis');
  const servers = values.servers.split(',');
  if (servers.some((key) => !/^[abcd]$/.test(key))) throw new Error('--servers are of a,b,c,d');
  return {
    seconds: positive('seconds', values.seconds),
    rounds: positive('rounds', values.rounds),
    connections: values.connections.split(',').map((text) => positive('connections', text)),
    servers,
    queue,
    profile: values.profile ?? null,
    build: !values['no-build'],
    json: values.json,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes whole numbers from 1`);
  return value;
}
