import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OrgConfig } from '../../src/config/app-config.js';
import { stringifyJson } from '../../src/core/json.js';
import { silentLogger } from '../../src/core/logger.js';
import { Secret } from '../../src/core/secret.js';
import { makeRuleLoader } from '../../src/policies/rule-loader.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import type { RuleFile } from '../../src/rules/language/revision.js';
import { Proposals, type JudgedProposal } from '../../src/rules/revisions/proposals.js';
import { RevisionKeeper } from '../../src/rules/revisions/revision-keeper.js';
import { readShared } from '../../src/rules/sources/shared-files.js';
import { anEvent } from '../builders/arrivals.js';
import { ManualClock } from '../fakes/manual-clock.js';

/** Stands in everything on the host that a proposal must not be told. */
const HOST = /hidden/i;
const SHARED: Readonly<Record<string, string>> = {
  'base.yaml':
    'version: 1\norg: acme\nvars: {hue: hidden-hue, hidden_name: 1}\n' +
    'rules: [{id: release-hidden, on: release.published, do: {milestone.ensure: {title: a}}}, {id: known, on: push, do: {milestone.ensure: {title: hidden}}}]\n',
  'other.yaml': 'version: 1\norg: acme\nvars: {hue: red}\nrules: []\n',
  'accounts.yaml': 'hidden_user: root\nhidden_password: [hidden, words]\n',
  'rules.yaml': 'version: hidden\norg: hidden-org\nrules: [{id: Hidden Rule, on: hidden.kind, do: {hidden: 1}}]\n',
  'policies.yaml': 'version: 1\npolicies: [{id: p, hidden_key: 1}]\nsecrets: [HIDDEN]\n',
};

const rule = (text: string): string =>
  `rules: [{id: one, on: push, ${text || 'do: {milestone.ensure: {title: a}}'}}]\n`;

/** What somebody proposes who wants to read the host. */
const HOSTILE: Readonly<Record<string, string>> = {
  'a file of another kind': `extends: accounts.yaml\n${rule('')}`,
  'a file with mistakes': `extends: rules.yaml\n${rule('')}`,
  'a file with a policy': `extends: policies.yaml\n${rule('')}`,
  'a value of a shared file as a colour': `extends: base.yaml\n${rule(`do: {label.ensure: {name: a, color: "\${{ vars.hue }}"}}`)}`,
  'a value of a shared file as a name': `extends: base.yaml\n${rule(`do: {branch.ensure: {name: "\${{ vars.hue }}..", from: main}}`)}`,
  'a misspelt name of a shared value': `extends: base.yaml\n${rule(`if: "vars.hiden_name == 1", do: {milestone.ensure: {title: a}}`)}`,
  'a misspelt name of a shared rule': `extends: base.yaml\n${rule(`where: {actor: ["bot:release-hiden"]}, do: {milestone.ensure: {title: a}}`)}`,
  'a rule of the name of a shared one': `extends: base.yaml\n${rule('').replace('id: one', 'id: known')}`,
  'a shared rule to override': `extends: base.yaml\n${rule('override: true, do: {milestone.ensure: {title: a}}')}`,
  'a misspelt secret': `secrets: [HIDEN_TOKEN]\n${rule('')}`,
  'a path that leads out and in again': `extends: sub/../base.yaml\n${rule('')}`,
  'a path of the host': `extends: /etc/hostname\n${rule('')}`,
  'a file that is too large': `extends: large.yaml\n${rule('')}`,
};
/** Without a mistake. */
const GOOD: readonly string[] = [rule(''), `extends: base.yaml\n${rule('')}`];

describe('reliability: what a proposal is told', () => {
  let place: string;
  let proposals: Proposals;
  let proposed: string;

  beforeAll(() => {
    place = realpathSync(mkdtempSync(join(tmpdir(), 'forgehand-hidden-')));
    for (const [name, text] of Object.entries(SHARED)) writeFileSync(join(place, name), text);
    writeFileSync(join(place, 'large.yaml'), 'x'.repeat(256 * 1024 + 1));
    const org = {
      key: 'acme',
      name: 'acme',
      powers: [],
      secrets: { HIDDEN_TOKEN: new Secret('hidden') },
      mirrorHosts: ['hidden.example'],
      limits: { merges: false, approveAndMerge: false, privateMirrors: false, privateReads: false },
    } as unknown as OrgConfig;
    const clock = new ManualClock();
    const loader = makeRuleLoader(new CelEngine(), { orgs: [org] }, { list: async () => [] }, clock, null);
    const source = {
      read: async (): Promise<RuleFile[]> => [],
      watch: () => undefined,
      close: () => undefined,
      liesIn: async () => true,
      proposed: async () => {
        const own = [{ path: 'a.yaml', name: 'a.yaml', text: `version: 1\norg: acme\n${proposed}` }];
        return [...own, ...(await readShared(own, { extendsFrom: [place], builtInSets: true }))];
      },
    };
    const keeper = new RevisionKeeper(
      { all: [{ name: 'acme', source }] },
      loader,
      { list: async () => [] },
      {} as never,
      clock,
      silentLogger,
      { raise: () => undefined, resolve: () => undefined },
    );
    proposals = new Proposals(keeper, { onHistory: async () => null });
  });

  afterAll(() => rmSync(place, { recursive: true }));

  /** @param from the repository of the branch */
  async function judge(text: string, from: 'fork' | 'same' = 'same'): Promise<JudgedProposal> {
    proposed = text;
    const { repo } = anEvent();
    const id = from === 'same' ? (repo?.id ?? '') : '99';
    const event = anEvent({ kind: 'pull_request.opened', data: { pull_request: { head: { repo: { id } } } } });
    const judged = await proposals.judge(event, 'a'.repeat(40));
    if (!judged) throw new Error('not judged');
    return judged;
  }

  it.each(Object.keys(HOSTILE))('tells nothing of the host: %s', async (name) => {
    for (const from of ['same', 'fork'] as const) {
      const judged = await judge(HOSTILE[name] ?? '', from);

      expect(judged.status.state).toBe('failure');
      expect(stringifyJson({ ...judged })).not.toMatch(HOST);
    }
  });

  // Each is taken or not, or has one mistake more or less, by what the shared file holds.
  it.each([
    [
      'a constant of one value',
      `do: {label.ensure: {name: a, color: "\${{ vars.hue == 'hidden-hue' ? '#112233' : 'no' }}"}}`,
    ],
    [
      'a constant of the beginning',
      `do: {label.ensure: {name: a, color: "\${{ vars.hue.startsWith('hid') ? '#112233' : 'no' }}"}}`,
    ],
    ['a name of a value', `if: "vars.hidden_name == 1", do: {milestone.ensure: {title: a}}`],
    [
      'a rule to override',
      `override: true, do: {milestone.ensure: {title: a}}}, {id: known, override: true, on: push, do: {milestone.ensure: {title: a}}`,
    ],
    ['a path', ''],
  ])('says the same to a fork whatever a shared file holds: %s', async (name, text) => {
    const told: JudgedProposal[] = [];
    for (const ref of name === 'a path' ? ['base.yaml', 'none.yaml', '../x.yaml'] : ['base.yaml', 'other.yaml'])
      told.push(await judge(`extends: ${ref}\n${rule(text)}`, 'fork'));

    expect(told).toEqual(told.map(() => told[0]));
    expect(told[0]?.status).toMatchObject({
      state: 'failure',
      description: 'Not checked: they extend shared files, which no fork may try: push the branch to this repository',
    });
  });

  it('says the same of a shared file that is not there and of one that has other words than rules', async () => {
    const [absent, other] = [
      await judge(`extends: none.yaml\n${rule('')}`),
      await judge(HOSTILE['a file of another kind'] ?? ''),
    ];

    expect(absent).toEqual(other);
  });

  it('tells what is wrong in the proposed files, also where they extend shared ones', async () => {
    const { problems } = await judge(`extends: base.yaml\n${rule('wen: "true", do: {milestone.ensure: {title: a}}')}`);

    expect(problems).toEqual([expect.stringMatching(/^a\.yaml:4:\d+: .*"wen".*it may have/)]);
  });

  it('judges what a fork extends of the built-in sets, which everybody may read', async () => {
    const good = await judge('extends: forgehand/stale@1\nvars: {stale_days: 30}\n', 'fork');
    const [wrongKind, unknown] = [
      await judge('extends: forgehand/stale@1\nvars: {stale_days: many}\n', 'fork'),
      await judge('extends: forgehand/stael@1\n', 'fork'),
    ];
    const beside = await judge('extends: [forgehand/stale@1, base.yaml]\n', 'fork');

    expect([good.isTried, good.problems]).toEqual([true, []]);
    expect(wrongKind.problems).toEqual([
      'a.yaml:4:20: vars.stale_days is a number in forgehand/stale@1, this is a text',
    ]);
    expect(unknown.problems).toEqual([
      expect.stringContaining('did you mean "forgehand/stale@1"? There are: forgehand/'),
    ]);
    expect(beside.isTried).toBe(false);
  });

  it('still judges by all of them', async () => {
    const states = [];
    for (const text of GOOD) states.push((await judge(text)).status.state);

    expect(states).toEqual(['success', 'success']);
  });
});
