import { oneOf, type OptionsOf, someOf } from '../support/options.js';

export const HELP = `npm run bench -- ingest [options]

  --seconds N       counted seconds of each run (default 10; one more before it is not counted)
  --rounds N        rounds; ratios are taken within each and their median is printed (default 6)
  --connections L   numbers of connections, by commas (default 32,128)
  --servers L       of a,b,c,d (default all)
  --queue Q         embedded: wake-ups stay in the process (default); redis: (a) also announces each delivery over Bull
  --profile DIR     write a CPU profile of (a) there
  --no-build        take dist/ as it is
  --json            figures as JSON on stdout, progress on stderr
`;

export const KINDS = {
  seconds: 10,
  rounds: 6,
  connections: [32, 128],
  servers: someOf(['a', 'b', 'c', 'd']),
  queue: oneOf('embedded', 'redis'),
  /** Folder for a CPU profile of (a). */
  profile: null,
  'no-build': false,
  json: false,
} as const;

export type Options = OptionsOf<typeof KINDS>;
