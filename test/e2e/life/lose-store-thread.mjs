// node lose-store-thread.mjs DIST DIR: open the embedded store as built in DIR, end its thread from outside while it is used, and tell what was seen.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [dist, dir] = process.argv.slice(2);
const threads = [];
process.on('worker', (worker) => threads.push(worker));

const { openStores } = await import(pathToFileURL(join(dist, 'store/open-stores.js')).href);
const stores = await openStores({ kind: 'embedded', dir });
await stores.migrate();

async function keep(n) {
  try {
    await stores.cursors.write('main', 'acme', 'feed', { n });
    return 'kept';
  } catch (error) {
    return error.code;
  }
}

const told = [];
for (let n = 0; n < 3; n += 1) {
  told.push(await keep(`${n}`));
  const underWay = [keep(`${n} under way`), keep(`${n} behind it`)];
  await threads.at(-1).terminate();
  told.push(...(await Promise.all(underWay)));
}
let end = await keep('last');
for (let tries = 0; end !== 'kept' && tries < 5; tries += 1) end = await keep('last');
console.log(
  JSON.stringify({ told, end, read: await stores.cursors.read('main', 'acme', 'feed'), threads: threads.length }),
);
await stores.close();
