/** What trying rules takes, which is half of the bot: loaded (`await import`) by the commands that try them, when they do. */
export { FolderSource } from '../rules/sources/folder-source.js';
export { junitOf } from '../insight/fixtures/junit.js';
export { recordFixture } from '../insight/fixtures/record-fixture.js';
export { secretsOf } from '../insight/fixtures/remove-secrets.js';
export { readHistory } from '../insight/read-history.js';
export { makeTrial } from '../insight/trial.js';
