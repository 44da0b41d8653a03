import { writeFileSync } from 'node:fs';
import { operatorDocs } from './operator-docs.js';

/** `npm run docs -- operator`. */
for (const [name, text] of operatorDocs()) {
  writeFileSync(`docs/${name}`, text);
  console.log(`docs/${name}`);
}
