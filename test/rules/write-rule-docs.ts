import { writeFileSync } from 'node:fs';
import { ruleDocs } from './rule-docs.js';

/** `npm run docs -- rules`. */
for (const [name, text] of ruleDocs()) {
  writeFileSync(`docs/${name}`, text);
  console.log(`docs/${name}`);
}
