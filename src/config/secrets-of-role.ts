import type { Role } from './app-config.js';

/** Secrets of the operator's file, by what they are for. */
export type SecretGroup =
  | 'hooks'
  | 'store'
  | 'queue'
  | 'forges'
  | 'login'
  | 'orgs'
  | 'data key'
  | 'alerts'
  | 'control'
  | 'metrics';

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
  web: {
    hooks: 'needed',
    store: 'needed',
    queue: 'optional',
    forges: 'withheld',
    login: 'withheld',
    orgs: 'withheld',
    'data key': 'withheld',
    alerts: 'optional',
    control: 'optional',
    metrics: 'optional',
  },
  worker: everything({ hooks: 'optional', login: 'withheld' }),
  scheduler: everything({ hooks: 'optional', login: 'withheld' }),
  console: everything({ hooks: 'optional' }),
  all: everything({}),
  command: {
    hooks: 'optional',
    store: 'optional',
    queue: 'optional',
    forges: 'optional',
    login: 'optional',
    orgs: 'optional',
    'data key': 'optional',
    alerts: 'optional',
    control: 'optional',
    metrics: 'optional',
  },
};

function everything(but: Partial<Record<SecretGroup, SecretNeed>>): Record<SecretGroup, SecretNeed> {
  return {
    hooks: 'needed',
    store: 'needed',
    queue: 'needed',
    forges: 'needed',
    login: 'needed',
    orgs: 'needed',
    'data key': 'needed',
    alerts: 'needed',
    control: 'needed',
    metrics: 'needed',
    ...but,
  };
}
