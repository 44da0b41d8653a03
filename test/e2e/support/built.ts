import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../services/with-services.mjs';

/** Built command line of the bot; `npm test` builds it when a source is newer. */
export const FORGEHAND = join(ROOT, 'dist/cli/forgehand.js');

/** @throws Error with what to do, in place of a hundred processes that cannot start */
export function requireBuild(): void {
  if (!existsSync(FORGEHAND)) throw new Error(`${FORGEHAND} is not there: npm run build`);
}
