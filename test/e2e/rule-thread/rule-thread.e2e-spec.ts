import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { boundedRulesSuite } from '../../builders/bounded-rules-suite.js';

boundedRulesSuite('policies/thread, as built', () => ({
  url: pathToFileURL(resolve('dist/policies/thread/rule-thread-program.js')),
}));
