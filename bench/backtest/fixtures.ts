// npm run bench -- fixtures: how long 500 fixtures take, rules and fixtures read and compiled from text.
import { FolderSource } from '../../src/rules/sources/folder-source.js';
import { makeTrial } from '../../src/insight/trial.js';

const WANTED = 500;
const GOAL_S = 5;

const acme = new FolderSource('config/rules/acme');
const [rules, [tests]] = await Promise.all([acme.read(), acme.readTests()]);
if (!tests) throw new Error('no fixtures in config/rules/acme');
const trial = makeTrial();
const each = trial.fixtures(rules, [tests]).results.length;
const files = Array.from({ length: Math.ceil(WANTED / each) }, (_, n) => ({
  path: `copy-${n}.test.yaml`,
  text: tests.text,
}));
const began = performance.now();
const report = trial.fixtures(rules, files);
const seconds = (performance.now() - began) / 1000;
console.log(
  `${report.results.length} fixtures in ${files.length} files, ${report.failed} failed, ${seconds.toFixed(2)} s`,
);
console.log(
  `goal fixtures: wanted ${GOAL_S} s, measured ${seconds.toFixed(2)} s, ${seconds <= GOAL_S && report.failed === 0 ? 'met' : 'missed'}`,
);
