// node archive-all.mjs DIST DIR FOLDER: what the bot's daily pass does forty days later: bodies go into the archive, then from the store.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [dist, dir, folder] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(dist, file)).href);
const { openStores } = await load('store/open-stores.js');
const { ArchiveInbox } = await load('housekeeping/archive-inbox.js');
const { silentLogger } = await load('core/logger.js');

const stores = await openStores({ kind: 'embedded', dir });
await stores.migrate();
const clock = { now: () => new Date(Date.now() + 40 * 24 * 3_600_000) };
const retention = { archive: folder, inboxDays: 30 };
const archive = new ArchiveInbox({ retention }, {}, stores.inbox, stores.archive, clock, silentLogger);
const archived = await archive.run();
await stores.close();
console.log(JSON.stringify({ archived }));
