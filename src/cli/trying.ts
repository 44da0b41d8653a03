/** What trying rules takes, which is half of the bot: loaded (`await import`) by the commands that try them, when they do. */
export { FolderSource } from '../config/rule-sources/folder-source.js';
export { junitOf } from '../history/fixtures/junit.js';
export { recordFixture } from '../history/fixtures/record-fixture.js';
export { readHistory } from '../history/read-history.js';
export { makeTrial } from '../wiring/wire-trial.js';
