import type { Role } from './app-config.js';

/** Secrets of the operator's file, by what they are for. */
const GROUPS = [
  'hooks',
  'store',
  'queue',
  'forges',
  'login',
  'orgs',
  'data key',
  'alerts',
  'control',
  'metrics',
] as const;
export type SecretGroup = (typeof GROUPS)[number];

/**
 * `needed`: the start is refused without it. `optional`: used where it is given; without it the part that needs it stays off.
 * `withheld`: never read, even where it is given.
 */
export type SecretNeed = 'needed' | 'optional' | 'withheld';

/** Who reads a config: a process of the bot, or a command that may only want to reach one. */
export type ConfigReader = Role | 'command';

/**
 * Which secrets each role reads. `web` faces the network, so it gets no secret that acts at a forge or opens sealed values. The other roles do not
 * verify deliveries; they use a hook's secret only to install the hook.
 */
export const SECRETS_OF_ROLE: Readonly<Record<ConfigReader, Readonly<Record<SecretGroup, SecretNeed>>>> = {
  web: all('optional', {
    hooks: 'needed',
    store: 'needed',
    forges: 'withheld',
    login: 'withheld',
    orgs: 'withheld',
    'data key': 'withheld',
  }),
  worker: all('needed', { hooks: 'optional', login: 'withheld' }),
  scheduler: all('needed', { hooks: 'optional', login: 'withheld' }),
  console: all('needed', { hooks: 'optional' }),
  all: all('needed'),
  command: all('optional'),
};

function all(need: SecretNeed, but: Partial<Record<SecretGroup, SecretNeed>> = {}): Record<SecretGroup, SecretNeed> {
  return { ...(Object.fromEntries(GROUPS.map((group) => [group, need])) as Record<SecretGroup, SecretNeed>), ...but };
}
