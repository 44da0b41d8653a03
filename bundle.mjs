// Second step of the build: what rolldown.config.mjs describes, with one line in place of the names of all chunks.
import { build } from 'rolldown';
import configs from './rolldown.config.mjs';

const outputs = await build(configs);
console.log(`bundled into ${outputs.reduce((sum, { output }) => sum + output.length, 0)} files`);
