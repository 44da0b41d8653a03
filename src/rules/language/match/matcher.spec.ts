import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anEvent } from '../../../../test/builders/arrivals.js';
import { aRule } from '../../../../test/builders/rule-environment.js';
import type { EventKind } from '../../../core/event-kinds.js';
import type { EventRepository, ForgeEvent } from '../../../core/event.js';
import { isStarted } from '../../../verifier/derive.js';
import { NO_FILTER } from '../compile/compile-where.js';
import type { CompiledRule } from '../revision.js';
import { explainRejections } from './explain-rejection.js';
import { compileGlob } from './glob.js';
import { createMatcher, rulesNotAsked, tickSubjects } from './matcher.js';
import { rejectEvent } from './where-filter.js';
import type { MatchContext, WhereFilter } from './where-filter.js';

const BOT: MatchContext = { botLogin: 'forgehand', botId: '99' };
const DO = 'do: {milestone.ensure: {title: a}}';

function rule(where: string, on = 'push'): CompiledRule {
  return aRule(`id: x\non: ${on}\nwhere: ${where}\n${DO}`);
}

function repo(over: Partial<EventRepository> = {}): EventRepository {
  return {
    id: '7',
    owner: 'acme',
    name: 'web',
    full_name: 'acme/web',
    private: false,
    fork: false,
    archived: false,
    topics: ['ui', 'Core'],
    ...over,
  };
}

function event(over: Partial<ForgeEvent> = {}): ForgeEvent {
  return anEvent({ repo: repo(), data: { branch: 'main' }, ...over });
}

function isMatch(where: string, happened: ForgeEvent): boolean {
  return createMatcher({ org: 'acme', rules: [rule(where)] }).match(happened, BOT).candidates.length === 1;
}

describe('rules/match, parts of push', () => {
  const branch = event();
  const tag = event({ data: { tag: 'v1' } });
  const words = fc.uniqueArray(fc.constantFrom('push', 'push.branch', 'push.tag', 'issue.opened'), { minLength: 1 });

  it.each([
    ['push.branch', true, false],
    ['push.tag', false, true],
    ['[push.branch, push.tag]', true, true],
    ['[push, push.tag]', true, true],
    ['[push.tag, issue.opened]', false, true],
  ])('on: %s', (on, takesBranch, takesTag) => {
    const matcher = createMatcher({ org: 'acme', rules: [rule('{}', on)] });

    expect([branch, tag].map((one) => matcher.match(one, BOT).candidates.length === 1)).toEqual([
      takesBranch,
      takesTag,
    ]);
    expect(rule('{}', on).on).toContain('push');
  });

  it('a rule that is disabled takes none, and says why', () => {
    const off = aRule(`id: x\non: push\ndisabled: until May\n${DO}`);

    expect(createMatcher({ org: 'acme', rules: [off] }).match(branch, BOT)).toEqual({ candidates: [], rejected: 1 });
    expect(explainRejections(off, branch, BOT)).toMatchObject([
      { filter: 'disabled', reason: 'the rule is disabled: until May', position: { line: 7 } },
    ]);
  });

  it('says which push it was, with the place of on', () => {
    const [rejection] = explainRejections(rule('{}', '[push.branch, issue.opened]'), tag, BOT);

    expect(rejection).toMatchObject({
      filter: 'on',
      wanted: ['push.branch', 'issue.opened'],
      seen: 'push',
      reason: 'it is a push of a tag',
    });
  });

  it('the verifier takes the same events', () => {
    fc.assert(
      fc.property(words, fc.constantFrom(branch, tag, event({ kind: 'issue.opened', data: {} })), (on, happened) => {
        const matcher = createMatcher({ org: 'acme', rules: [rule('{}', `[${on.join(', ')}]`)] });

        expect(isStarted({ on }, happened)).toBe(matcher.match(happened, BOT).candidates.length === 1);
      }),
    );
  });
});

describe('rules/match', () => {
  it.each([
    ['{}', true],
    ['{repo: acme/web}', true],
    ['{repo: ACME/Web}', true],
    ['{repo: web}', true],
    ['{repo: "acme/*"}', true],
    ['{repo: "w*"}', true],
    ['{repo: [api, web]}', true],
    ['{repo: api}', false],
    ['{repo: "*", not_repo: "we*"}', false],
    ['{not_repo: api}', true],
    ['{branch: main}', true],
    ['{branch: Main}', false],
    ['{branch: "ma**"}', true],
    ['{branch: "release/*"}', false],
    ['{tag: "*"}', false],
    ['{actor: ann}', true],
    ['{actor: ANN}', true],
    ['{actor: [bob, "a*"]}', true],
    ['{actor: bob}', false],
    ['{actor: bot}', false],
    ['{actor: [bot, ann]}', true],
    ['{source: webhook}', true],
    ['{source: [feed, tasks]}', false],
    ['{archived: false, private: false, fork: false}', true],
    ['{archived: true}', false],
    ['{private: true}', false],
    ['{fork: true}', false],
    ['{topics: ui}', true],
    ['{topics: [x, "co*"]}', true],
    ['{topics: x}', false],
    ['{repo: web, branch: main, actor: bob}', false],
  ])('where: %s => %s', (where, expected) => {
    expect(isMatch(where, event())).toBe(expected);
  });

  it.each([
    ['a release by its tag', '{tag: "v*.0"}', event({ data: { tag: 'v1.4.0' } }), true],
    ['an event without a repository', '{repo: "*"}', event({ repo: null }), false],
    ['an event of which the actor is not told', '{actor: "*"}', event({ actor: null }), false],
    [
      'an event of which the actor is not told, where anybody and the bot may have done it',
      '{actor: ["*", bot]}',
      event({ actor: null }),
      true,
    ],
    ['a flag that is not told', '{private: false}', event({ repo: repo({ private: undefined as never }) }), false],
    ['a repository without topics', '{topics: "*"}', event({ repo: repo({ topics: undefined as never }) }), false],
    ['the own event of the bot', '{}', event({ actor: { id: '99', login: 'renamed' } }), false],
    [
      'the own event of the bot, pattern for all',
      '{actor: "*"}',
      event({ actor: { id: '99', login: 'forgehand' } }),
      false,
    ],
    ['the own event of the bot, asked for', '{actor: [bot]}', event({ actor: { id: '99', login: 'forgehand' } }), true],
    [
      'an act of the bot for a rule, asked for by its name',
      '{actor: ["bot:fix"]}',
      event({ actor: { id: '99', login: 'forgehand' }, byRule: 'fix' }),
      true,
    ],
    [
      'an act of the bot for another rule than the one asked for',
      '{actor: ["*", "bot:fix"]}',
      event({ actor: { id: '99', login: 'forgehand' }, byRule: 'other' }),
      false,
    ],
    [
      'an act of the bot of which the rule is not known',
      '{actor: ["*", "bot:fix"]}',
      event({ actor: { id: '99', login: 'forgehand' } }),
      false,
    ],
    ['a person, beside the acts of a rule', '{actor: [ann, "bot:fix"]}', event(), true],
    ['a person, where only acts of a rule are asked for', '{actor: ["bot:fix"]}', event(), false],
    [
      'an actor that is not told, beside the acts of a rule',
      '{actor: ["*", "bot:fix"]}',
      event({ actor: null }),
      false,
    ],
    [
      'another account with the login the bot had',
      '{actor: "*"}',
      event({ actor: { id: '5', login: 'forgehand' } }),
      true,
    ],
    ['a test call', '{}', event({ kind: 'hook.tested' }), false],
  ])('%s', (_situation, where, happened, expected) => {
    expect(isMatch(where, happened)).toBe(expected);
  });

  it('knows the bot by its login where the forge tells no id', () => {
    const matcher = createMatcher({ org: 'acme', rules: [rule('{actor: [bot]}')] });

    expect(
      matcher.match(event({ actor: { id: '5', login: 'ForgeHand' } }), { botLogin: 'forgehand' }).candidates,
    ).toHaveLength(1);
    expect(
      matcher.match(event({ actor: { id: '5', login: 'ForgeHand' } }), { botLogin: null }).candidates,
    ).toHaveLength(0);
  });

  it('answers in the order of the files and counts the others', () => {
    const rules = ['{repo: "*"}', '{repo: acme/web}', '{branch: other}', '{}', '{repo: "acme/w*"}'].map(
      (where, index) => ({
        ...rule(where),
        id: `r${index}`,
      }),
    );

    const { candidates, rejected } = createMatcher({ org: 'acme', rules }).match(event(), BOT);

    expect(candidates.map(({ id }) => id)).toEqual(['r0', 'r1', 'r3', 'r4']);
    expect(rejected).toBe(1);
  });

  it.each([
    ['{}', 'tag.created', 'push is none of tag.created', 'on'],
    ['{repo: api}', 'push', 'repository acme/web is none of acme/api', 'repo'],
    ['{branch: "release/*"}', 'push', 'branch main is none of release/*', 'branch'],
    ['{tag: x}', 'push', 'it is about no tag', 'tag'],
    ['{actor: bob}', 'push', 'ann is none of the actors asked for', 'actor'],
    ['{archived: true}', 'push', 'the repository is not archived', 'archived'],
    ['{not_repo: "w*"}', 'push', 'repository acme/web is left out by acme/w*', 'not_repo'],
    ['{source: feed}', 'push', 'it came by webhook', 'source'],
  ])('explains why %s on %s does not take a push', (where, on, reason, filter) => {
    const [found] = explainRejections(rule(where, on), event(), BOT);

    expect(found).toMatchObject({ reason, filter, position: { file: 'rules/1.yaml', line: filter === 'on' ? 6 : 7 } });
  });

  it('explains nothing where the rule takes the event', () => {
    expect(explainRejections(rule('{repo: web}'), event(), BOT)).toEqual([]);
  });

  it('tells every filter that turns an event away, what it asks for and what it saw', () => {
    const found = explainRejections(
      rule('{repo: [api, docs], branch: "release/*", archived: true, actor: bob, topics: ui}'),
      event(),
      BOT,
    );

    expect(found.map(({ filter, wanted, seen }) => [filter, wanted, seen])).toEqual([
      ['actor', ['bob'], 'ann'],
      ['repo', ['api', 'docs'], 'acme/web'],
      ['archived', true, false],
      ['branch', ['release/*'], 'main'],
    ]);
  });

  it('tells what it saw of an event of the bot, and that nothing is told', () => {
    const byBot = event({ actor: { id: '99', login: 'forgehand' }, repo: null });

    expect(
      explainRejections(rule('{private: false, repo: web}'), byBot, BOT).map(({ filter, wanted, seen }) => [
        filter,
        wanted,
        seen,
      ]),
    ).toEqual([
      ['actor', 'anybody but the bot', 'forgehand (the bot)'],
      ['repo', ['web'], null],
      ['private', false, null],
    ]);
  });

  it('tells of which rule an act of the bot is, where acts are taken by the name of a rule', () => {
    const asking = rule('{actor: [ann, "bot:fix"]}');
    const byBot = (byRule: string | null): ForgeEvent => event({ actor: { id: '99', login: 'forgehand' }, byRule });
    const told = (byRule: string | null): unknown[] =>
      explainRejections(asking, byBot(byRule), BOT).map(({ wanted, seen, reason }) => [wanted, seen, reason]);

    expect(told('fix')).toEqual([]);
    expect(told('other')).toEqual([
      [
        ['ann', 'bot:fix'],
        'forgehand (the bot, for other)',
        "it is the bot's own act, of other; taken are those of fix",
      ],
    ]);
    expect(told(null)).toEqual([
      [
        ['ann', 'bot:fix'],
        'forgehand (the bot)',
        "it is the bot's own act, and of which rule is not known; taken are those of fix",
      ],
    ]);
  });

  it('names the rules that take an act of the bot from anybody else alone', () => {
    const rules = [
      '{}',
      '{actor: "*"}',
      '{actor: [bot]}',
      '{actor: ann}',
      '{branch: other}',
      '{actor: ["*", "bot:y"]}',
    ].map((where, n) => ({ ...rule(where), id: `r${n}` }));
    const ids = (happened: ForgeEvent): string[] => rulesNotAsked({ rules }, happened, BOT).map(({ id }) => id);
    const own = event({ actor: { id: '99', login: 'forgehand' } });

    expect(ids(own)).toEqual(['r0', 'r1', 'r5']);
    expect(ids({ ...own, byRule: 'y' })).toEqual(['r0', 'r1']);
    expect(ids(event())).toEqual([]);
    expect(ids({ ...own, kind: 'issue.opened' })).toEqual([]);
  });

  it('points at the pattern that is most like what it saw', () => {
    const where = [
      '',
      '  branch:',
      '    - release/*',
      '    - mian',
      '    - develop',
      '  not_repo:',
      '    - sandbox-*',
      '    - web',
    ].join('\n');

    expect(
      explainRejections(rule(where), event(), BOT).map(({ filter, position }) => [
        filter,
        position?.line,
        position?.col,
      ]),
    ).toEqual([
      ['not_repo', 14, 11],
      ['branch', 10, 11],
    ]);
    expect(
      explainRejections(rule('{}', '\n  - tag.created\n  - pull_request.opened'), event(), BOT).map(
        ({ filter, position }) => [filter, position?.line],
      ),
    ).toEqual([['on', 7]]);
  });

  it('gives the repositories a tick is about, or the organization once', () => {
    const inventory = [
      repo(),
      repo({ id: '8', name: 'api', full_name: 'acme/api', archived: true }),
      repo({ id: '9', name: 'docs', full_name: 'acme/docs' }),
    ];
    const tick = (where: string) =>
      aRule(
        `id: x\nschedule: "0 3 * * *"\nlimits: {effects_per_run: 5}\n${where}do: {org_variable.set: {name: A, value: b}}`,
      );

    expect(
      tickSubjects(tick('where: {repo: "*", archived: false, not_repo: docs}\n'), inventory).map(
        (found) => found?.name,
      ),
    ).toEqual(['web']);
    expect(tickSubjects(tick(''), inventory)).toEqual([null]);
  });
});

describe('rules/match, the index', () => {
  const base = rule('{}');
  const KINDS: readonly EventKind[] = ['push', 'tag.created', 'release.published'];
  const word = fc.constantFrom('a', 'ab', 'abc', 'b', 'web', 'api', 'v1', 'main');
  const pattern = fc.oneof(
    word,
    word.map((text) => `${text}*`),
    word.map((text) => `*${text}`),
    fc.constantFrom('*', '**', '?*', '{a,b}*', '[ab]b*'),
    fc.tuple(word, word).map(([a, b]) => `${a}*${b}`),
  );
  const repoPattern = fc.oneof(
    pattern,
    pattern.map((text) => `acme/${text}`),
  );
  const maybe = (one: fc.Arbitrary<string>, ignoreCase: boolean) =>
    fc.option(
      fc
        .array(one, { minLength: 1, maxLength: 3 })
        .map((sources) => sources.map((source) => compileGlob(source, { ignoreCase }))),
    );
  const where: fc.Arbitrary<WhereFilter> = fc
    .record({
      repo: maybe(repoPattern, true),
      notRepo: maybe(repoPattern, true),
      branch: maybe(pattern, false),
      tag: maybe(pattern, false),
      actor: maybe(pattern, true),
      actorIsBot: fc.boolean(),
      botRules: fc.option(fc.constant(['fix'])),
    })
    .map((filters) => ({ ...NO_FILTER, ...filters }));
  const someRule = fc
    .record({ on: fc.subarray([...KINDS], { minLength: 1 }), where })
    .map(({ on, where: filter }) => ({ ...base, on, program: { ...base.program, where: filter } }));
  const happening = fc
    .record({
      kind: fc.constantFrom(...KINDS),
      name: fc.option(word),
      branch: fc.option(word),
      tag: fc.option(word),
      login: fc.option(fc.oneof(word, fc.constant('forgehand'))),
    })
    .map(({ kind, name, branch, tag, login }) =>
      event({
        kind,
        repo: name === null ? null : repo({ name, full_name: `acme/${name}` }),
        actor: login === null ? null : { id: login === 'forgehand' ? '99' : '3', login },
        data: { ...(branch === null ? {} : { branch }), ...(tag === null ? {} : { tag }) },
      }),
    );

  it('finds what a plain loop over all rules finds', () => {
    fc.assert(
      fc.property(
        fc.array(someRule, { maxLength: 12 }),
        fc.array(happening, { minLength: 1, maxLength: 8 }),
        (rules, events) => {
          const matcher = createMatcher({ org: 'acme', rules });
          for (const happened of events) {
            const plain = rules.filter(
              (candidate) =>
                candidate.on.includes(happened.kind) && rejectEvent(candidate.program.where, happened, BOT) === null,
            );
            expect(matcher.match(happened, BOT).candidates).toEqual(plain);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('finds it among 10,000 rules, and asks only those that could match', () => {
    let asked = 0;
    const rules: CompiledRule[] = Array.from({ length: 10_000 }, (_, index) => {
      const team = compileGlob([`acme/team-${index}-*`, `acme/repo-${index}`, `*-${index}-x`][index % 3]!, {
        ignoreCase: true,
      });
      const counting = { ...team, matches: (text: string) => ((asked += 1), team.matches(text)) };
      return {
        ...base,
        id: `r${index}`,
        on: [KINDS[index % 3]!, 'push'],
        program: { ...base.program, where: { ...NO_FILTER, repo: [counting] } },
      };
    });
    const matcher = createMatcher({ org: 'acme', rules });
    const names = ['team-9-web', 'team-9', 'repo-4', 'repo-42', 'a-5-x', 'team-9-5-x', 'nothing', 'team-99-a-8-x'];

    for (const name of names) {
      const happened = event({ repo: repo({ name, full_name: `acme/${name}` }) });
      const plain = rules.filter((candidate) => rejectEvent(candidate.program.where, happened, BOT) === null);
      asked = 0;
      expect(matcher.match(happened, BOT).candidates).toEqual(plain);
      expect(asked).toBeLessThanOrEqual(8);
    }
  });
});
