import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { variable } from './environment-file.js';

/** Of this folder: `forgehand init` writes it, and messages name it where no config is found. */
export const OWN_CONFIG = 'config/forgehand.yaml';

const OF_USER = 'forgehand/forgehand.yaml';
const OF_MACHINE = '/etc/forgehand/forgehand.yaml';

/** The places as texts name them, the same for every user. */
export const CONFIG_PLACES = [OWN_CONFIG, `$XDG_CONFIG_HOME/${OF_USER} (~/.config)`, OF_MACHINE];

/**
 * Where the operator config is looked for when neither a flag nor FORGEHAND_CONFIG names it, first to last: this folder, that of the user, that of the machine.
 * @param read Default: the environment of the process
 */
export function configPlaces(read = variable, home = homedir()): readonly string[] {
  const xdgFolder = read('XDG_CONFIG_HOME');
  // The specification of XDG asks to ignore a relative path.
  const folder = xdgFolder !== null && isAbsolute(xdgFolder) ? xdgFolder : join(home, '.config');
  return [OWN_CONFIG, join(folder, OF_USER), OF_MACHINE];
}

/** The first that is there; that of this folder where none is. */
export function findConfig(places = configPlaces(), isThere = existsSync): string {
  return places.find((path) => isThere(path)) ?? OWN_CONFIG;
}
