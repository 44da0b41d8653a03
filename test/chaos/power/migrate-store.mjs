// node migrate-store.mjs DIST DIR: a store that was made with the first half of the tables, holds something, and is brought up to date.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [dist, dir] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(dist, file)).href);
const { openEmbedded } = await load('store/embedded/open-embedded.js');
const { embeddedDataSource } = await load('store/data-source.js');
const { openStores } = await load('store/open-stores.js');
const { MIGRATIONS } = await load('store/migrations/index.js');
const { silentLogger } = await load('core/logger.js');

const embedded = await openEmbedded(dir, { template: false });
const dataSource = embeddedDataSource(embedded, silentLogger);
dataSource.setOptions({ migrations: MIGRATIONS.slice(0, MIGRATIONS.length / 2) });
await dataSource.initialize();
await dataSource.runMigrations({ transaction: 'each' });
await dataSource.destroy();
await embedded.close();

const stores = await openStores({ kind: 'embedded', dir });
await stores.cursors.write('main', 'acme', 'feed', { n: 'kept' });
const keptAt = Date.now();
await stores.migrate();
await stores.close();
console.log(JSON.stringify({ keptAt, migrations: MIGRATIONS.length }));
