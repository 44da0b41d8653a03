import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { checkCommand } from './check.command.js';

const RULE =
  'version: 1\norg: acme\nsecrets: [any]\nrules:\n  - {id: r, on: push, lookup: {x: labels.list}, do: {milestone.ensure: {title: x}}}\n';

const CONFIG = `
forges: [{ id: main, base_url: "http://127.0.0.1:4000/api/v1", auth: { type: token, token: { env: HOME } } }]
orgs: [{ name: acme, forge: main, hooks: [{ id: acme, secret: { env: HOME } }], rules: { path: rules } }]
store: { url: "embedded:./data" }
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forgehand-check-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The command as it is typed; what it prints and how it ends. */
async function check(...args: string[]): Promise<{ out: string; code: number }> {
  let [out, code] = ['', 0];
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
  try {
    await checkCommand((outcome) => (code = outcome)).parseAsync(args, { from: 'user' });
  } finally {
    write.mockRestore();
  }
  return { out, code };
}

describe('check DIR, without a config', () => {
  it('says what it did not check, and that a warning holds nothing back', async () => {
    writeFileSync(join(folder, 'r.yaml'), RULE);
    const { out, code } = await check(folder);

    expect(code).toBe(0);
    expect(out).toMatch(/^warning .*r\.yaml:5:\d+: the lookup "x" is read by nothing/m);
    expect(out).toMatch(/^ok acme: 1 rule and 0 policies in .*, 1 warning$/m);
    expect(out).toMatch(/^not checked: powers, limits, hosts, secrets$/m);
  });

  it('--strict counts warnings as errors, in every format', async () => {
    writeFileSync(join(folder, 'r.yaml'), RULE);
    const [text, json, sarif] = [
      await check(folder, '--strict'),
      await check(folder, '--strict', '--json'),
      await check(folder, '--strict', '--format', 'sarif'),
    ];

    expect([text.code, json.code, sarif.code]).toEqual([1, 1, 1]);
    expect(text.out).toMatch(/^error .*read by nothing/m);
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, orgs: [{ problems: [{ line: 5 }], warnings: [] }] });
    expect(sarif.out).toContain('"level": "error"');
  });

  it('a warning is one in JSON and in SARIF', async () => {
    writeFileSync(join(folder, 'r.yaml'), RULE);

    expect(JSON.parse((await check(folder, '--json')).out)).toMatchObject({
      ok: true,
      not_checked: ['powers', 'limits', 'hosts', 'secrets'],
      orgs: [{ problems: [], warnings: [{ line: 5, level: 'warning' }] }],
    });
    expect((await check(folder, '--format', 'sarif')).out).toContain('"level": "warning"');
  });

  it('--format github writes a line for each problem and warning, and nothing else', async () => {
    writeFileSync(join(folder, 'r.yaml'), RULE);
    const lines = /^::warning file=[^,]*r\.yaml,line=5,col=\d+::.*read by nothing.*\n$/;

    const { out, code } = await check(folder, '--format', 'github');
    const missing = await check(join(folder, 'nowhere'), '--format', 'github');

    expect([out, code]).toEqual([expect.stringMatching(lines), 0]);
    expect([missing.out, missing.code]).toEqual([expect.stringMatching(/^::error file=.*does not exist.*\n$/), 1]);
  });

  it.each([
    ['a missing folder', (): string => join(folder, 'nowhere'), /does not exist/],
    [
      'a file that is too large',
      (): string => (writeFileSync(join(folder, 'a.yaml'), '#'.repeat(300_000)), folder),
      /262144/,
    ],
    [
      '51 files',
      (): string => {
        for (let n = 0; n < 51; n += 1) writeFileSync(join(folder, `${n}.yaml`), RULE);
        return folder;
      },
      /51 rule files/,
    ],
  ])('%s is told in the format asked for', async (_what, place, says) => {
    const where = place();
    const [json, sarif] = [await check(where, '--json'), await check(where, '--format', 'sarif')];
    const { ok, orgs } = JSON.parse(json.out) as { ok: boolean; orgs: Array<{ problems: Array<{ message: string }> }> };

    expect([json.code, sarif.code, ok]).toEqual([1, 1, false]);
    expect(orgs[0]?.problems[0]?.message).toMatch(says);
    expect((JSON.parse(sarif.out) as { runs: Array<{ results: unknown[] }> }).runs[0]?.results).toHaveLength(1);
  });

  it('one file is checked alone', async () => {
    writeFileSync(join(folder, 'r.yaml'), RULE);
    writeFileSync(join(folder, 'other.yaml'), 'version: 2\n');

    expect((await check(join(folder, 'r.yaml'))).code).toBe(0);
    expect((await check(folder)).code).toBe(1);
  });

  it('says which acts can be repeated when texts of deliveries are forgotten', async () => {
    mkdirSync(join(folder, 'rules'));
    writeFileSync(
      join(folder, 'rules', 'r.yaml'),
      'version: 1\norg: acme\nrules:\n  - {id: r, on: push, do: {milestone.ensure: {title: x}}}\n',
    );
    const config = (retention: string): string => {
      const path = join(folder, 'forgehand.yaml');
      writeFileSync(path, `${CONFIG}retention: ${retention}\n`);
      return path;
    };
    const forgetting = await check('--config', config('{ max_age: 7d, repeat_days: 30 }'));
    const remembering = await check('--config', config('{ max_age: 7d }'));

    expect(forgetting.out).toMatch(/^warning .*retention\.repeat_days \(30\).* push, branch\.created, .*label/m);
    expect(forgetting.out).not.toContain('issue.closed');
    expect(remembering.out).not.toContain('repeat_days');
    expect([forgetting.code, remembering.code]).toEqual([0, 0]);
  });

  it('warns of mail for which the operator names no server', async () => {
    mkdirSync(join(folder, 'rules'));
    const notify = 'notify: {to: "${{ secrets.people }}", format: mail, text: x}';
    writeFileSync(
      join(folder, 'rules', 'r.yaml'),
      `version: 1\norg: acme\nsecrets: [people]\nrules:\n  - {id: r, on: push, do: {${notify}}}\n`,
    );
    const config = (more: string): string => {
      const path = join(folder, 'forgehand.yaml');
      writeFileSync(path, CONFIG.replace('name: acme,', `name: acme, secrets: { people: { env: HOME } }, ${more}`));
      return path;
    };
    const server = 'mail: { host: mail.example.org, from: bot@example.org, recipients: [example.org] }, ';

    expect((await check('--config', config(''))).out).toMatch(
      /^warning .*r\.yaml:5:\d+: mail has no server here: .*orgs\[\]\.mail/m,
    );
    expect((await check('--config', config(server))).out).not.toContain('mail has no server');
  });

  it('a config that is not there is told in the format asked for', async () => {
    const { out, code } = await check('--config', join(folder, 'none.yaml'), '--json');

    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ ok: false, problems: [{ line: 1, col: 1 }] });
  });
});
