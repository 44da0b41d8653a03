/** The environment in which the credentials of a forge's site administrator are looked for. */
export function adminEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}
