import { makeTemplate } from './make-template.js';

// Last step of the build: `node dist/store/embedded/build-template.js`.
const { file, bytes } = await makeTemplate();
console.log(`template of the embedded store: ${file} (${Math.round(bytes / 1024)} kB)`);
