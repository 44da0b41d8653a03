// node migrate-store.mjs DIST DIR: a store that holds something is brought up to the tables of the next version.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NEXT } from './next-version.mjs';

const [dist, dir] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(dist, file)).href);
const { openStores } = await load('store/open-stores.js');
const { openWhole } = await load('store/whole-store.js');
const { MIGRATIONS } = await load('store/migrations/index.js');

const stores = await openStores({ kind: 'embedded', dir });
await stores.migrate();
await stores.cursors.write('main', 'acme', 'feed', { n: 'kept' });
await stores.close();

const keptAt = Date.now();
const next = await openWhole({ kind: 'embedded', dir }, { migrations: [...MIGRATIONS, ...NEXT] });
await next.migrate();
await next.close();
console.log(JSON.stringify({ keptAt }));
