/** Variable of the environment file that holds the token which steers the sandbox. */
export const SANDBOX_TOKEN = 'FORGEHAND_SANDBOX_TOKEN';

/** The bot's account there. */
export const SANDBOX_BOT = 'forgehand';
