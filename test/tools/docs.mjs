// npm run docs -- NAME: writes the pages of docs/ that are made from definitions, or from recordings.
import { runProgram } from './run-program.mjs';

runProgram('docs', {
  rules: { file: 'test/rules/write-rule-docs.ts' },
  operator: { file: 'test/operator/write-operator-docs.ts' },
  forges: { file: 'test/contract/write-forges-doc.ts' },
  feed: { file: 'test/recordings-tool/write-feed-doc.ts' },
});
