import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../../services/with-services.mjs';
import { requireBuild } from '../support/built.js';
import { forgehand, type CommandResult } from '../support/forgehand.js';
import { chooseSeed } from '../support/seed.js';
import { omit, OMISSIONS, writeText } from './omissions.js';
import { RecordedDemo, type Verdict } from './recorded-demo.js';

const RULES = join(ROOT, 'config/rules/acme');
const FILES = readdirSync(RULES).filter((name) => name.endsWith('.yaml') && !name.endsWith('.test.yaml'));
const KEEP_READINGS = pathToFileURL(join(ROOT, 'test/e2e/demo/keep-readings.mjs')).href;
/** A rule that only the bot of the second demo was given. */
const ADDED = `version: 1
org: acme
rules:
  - id: added
    schedule: { cron: "0 3 * * *" }
    do: { org_variable.set: { name: ADDED, value: "yes" } }
    limits: { effects_per_run: 1 }
`;
const SEED = chooseSeed();

describe('demo', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fh-e2e-demo-'));
  const more = join(folder, 'more-rules');
  const readings = (name: string): string => join(folder, `${name}.json`);
  let first: Promise<CommandResult>;
  let second: Promise<CommandResult>;

  const demo = (name: string, ...args: string[]): Promise<CommandResult> =>
    forgehand(
      { dir: folder, env: { NODE_OPTIONS: `--import=${KEEP_READINGS}`, FORGEHAND_TEST_READINGS: readings(name) } },
      'demo',
      '--exit',
      '--json',
      ...args,
    );

  beforeAll(() => {
    requireBuild();
    cpSync(RULES, more, { recursive: true });
    writeFileSync(join(more, 'added.yaml'), ADDED);
    first = demo('first', '--seed', '1');
    second = demo('second', '--seed', String(SEED), '--rules', more);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('finds at the forge exactly what the rules ask for (seed 1)', async () => {
    const { code, stdout, stderr } = await first;

    expect({ code, wrong: code === 3 ? stderr : (JSON.parse(stdout) as Verdict).wrong }).toEqual({
      code: 0,
      wrong: [],
    });
  });

  it('shows a forged delivery refused, one that came twice, and one that polling found', async () => {
    const { stderr } = await first;

    expect(stderr).toMatch(/forges a delivery.*refused with 401/);
    expect(stderr).toMatch(/is refused: signature or Authorization header is not that of this hook/);
    expect(stderr).toMatch(/policies of the demo are trusted/);
    // The events of an act are decided side by side, so that any of their rules may stand in its first line.
    expect(stderr).toMatch(
      /publishes v2\.1\.0 .*duplicates?\)[^]*?-> release-branch *-> branch\.create done *-> branch release\/2\.1 /,
    );
    expect(stderr).toMatch(/deliveries lost *found in the feed \(2 lost\) *-> release-branch/);
  });

  describe(`with a rule too many (seed ${SEED})`, () => {
    it('finds everything that the rules ask for, and beside it only what the bot was given to do besides', async () => {
      const { code, stdout, stderr } = await second;

      expect({ code, wrong: code === 1 ? (JSON.parse(stdout) as Verdict).wrong : stderr }).toEqual({
        code: 1,
        wrong: [
          { what: 'organization variables', by: '-', verdict: 'extra', item: 'ADDED = yes' },
          { what: 'writes of the bot', by: '-', verdict: 'extra', item: 'POST /orgs/acme/actions/variables/ADDED' },
        ],
      });
    });

    it('finds exactly what all the rules ask for that the bot was given', async () => {
      await second;

      expect(await new RecordedDemo(readings('second')).verify({ rules: more })).toMatchObject({
        code: 0,
        verdict: { wrong: [] },
      });
    });
  });

  describe('handed over again', () => {
    let recorded: RecordedDemo;

    beforeAll(async () => {
      await first;
      recorded = new RecordedDemo(readings('first'));
    });

    it('is equal as it was', async () => {
      expect(await recorded.verify()).toMatchObject({ code: 0, stderr: '', verdict: { equal: true, wrong: [] } });
    });

    it('has writes of each rule file, and each write belongs to one', () => {
      const owners = recorded
        .writes()
        .map((write) => FILES.filter((file) => OMISSIONS[file]?.writes.test(writeText(write))));

      expect(owners.filter(({ length }) => length !== 1)).toEqual([]);
      expect([...new Set(owners.flat())].sort()).toEqual([...FILES].sort());
    });

    it.each(FILES)('shows that the bot was not given %s', async (file) => {
      const altered = recorded.copy();
      const left = omit(altered, file);

      const { code, stderr, verdict } = await altered.verify();

      expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
      const missing = verdict?.wrong.filter((one) => one.verdict === 'missing') ?? [];
      expect(
        missing
          .filter(({ what }) => what === 'writes of the bot')
          .map(({ item }) => item)
          .sort(),
      ).toEqual(left);
      // Not by the ledger alone: the forge itself is not as the rules ask for.
      expect(missing.filter(({ what }) => what !== 'writes of the bot').length).toBeGreaterThan(0);
    });

    it('shows that one write was left out, or made twice', async () => {
      const index = Math.floor(recorded.writes().length / 2);
      const text = writeText(recorded.writes()[index]!);
      const [less, more] = [recorded.copy(), recorded.copy()];
      less.keepWrites((_, n) => (n === index ? 0 : 1));
      more.keepWrites((_, n) => (n === index ? 2 : 1));

      const told = await Promise.all([less.verify(), more.verify()]);

      expect(
        told.map(({ code, verdict }) => [
          code,
          verdict?.wrong.map(({ what, verdict: is, item }) => `${is} ${what}: ${item}`),
        ]),
      ).toEqual([
        [1, [`missing writes of the bot: ${text}`]],
        [1, [`extra writes of the bot: ${text}`]],
      ]);
    });

    it('shows that the bot took something for an act that nobody did', async () => {
      const { acts } = recorded.handover;
      const tagged = acts.findIndex(({ act, isDropped }) => act === 'tag.create' && !isDropped);

      const { code, verdict } = await recorded.verify({ acts: acts.filter((_, n) => n !== tagged) });

      expect(code).toBe(1);
      expect(verdict?.wrong).toContainEqual(
        expect.objectContaining({
          what: 'writes of the bot',
          verdict: 'extra',
          item: expect.stringMatching(/branches$/),
        }),
      );
    });
  });
});
