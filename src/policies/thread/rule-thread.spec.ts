import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { boundedRulesSuite } from '../../../test/builders/bounded-rules-suite.js';

boundedRulesSuite('policies/thread, from the sources', () => ({
  url: pathToFileURL(resolve('src/policies/thread/rule-thread-program.ts')),
  execArgv: ['--import', pathToFileURL(resolve('test/register-swc.mjs')).href],
}));
