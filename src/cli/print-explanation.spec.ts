import { describe, expect, it } from '@jest/globals';
import type { DecisionExplanation, EventExplanation, RunExplanation } from '../insight/explanation.js';
import { printExplanation } from './print-explanation.js';

const AT = new Date('2026-11-20T12:00:00Z');
const place = (line: number, col = 7) => ({ file: 'rules/a.yaml', line, col });
const event = {
  id: 'e1',
  kind: 'push',
  org: 'acme',
  repo: 'acme/app',
  subject: null,
  actor: 'ann',
  source: 'webhook',
  factAt: null,
  storedAt: AT,
  arrivals: [{ id: 'a1', source: 'webhook', at: AT, hook: 'acme', deliveryId: 'd1', repeats: 0 }],
} as const;
const revision = { id: 'r1', state: 'active', loadedAt: AT } as const;

/** Without colours. */
function printed(explanation: Parameters<typeof printExplanation>[0]): string[] {
  return printExplanation(JSON.parse(JSON.stringify(explanation)) as typeof explanation)
    .replace(/\u001b\[[\d;]+m/g, '')
    .split('\n');
}

const RUN: RunExplanation = {
  about: 'run',
  run: {
    id: 'run1',
    org: 'acme',
    rule: 'notes',
    kind: 'rule',
    revisionId: 'r1',
    cause: { kind: 'event', eventId: 'e1' },
    mode: 'dry-run',
    state: 'not-fired',
    reason: 'condition "mirrors" is false',
    code: 'run.not-fired',
    parameters: {},
    decidedAt: AT,
    endedAt: AT,
  },
  context: { event: 'tag.created', repo: 'acme/app', subject: 'tag v1', person: 'ann', schedule: null },
  intentId: 'i1',
  event,
  revision,
  place: place(3, 5),
  look: { ...place(9, 16), text: 'mirrors: lookups.m.all(x, x.error == "")' },
  conditions: [
    {
      name: 'is_ann',
      text: 'event.actor.login == "ann"',
      place: place(8),
      state: 'true',
      seen: { 'event.actor.login': 'ann' },
      because: [],
      why: null,
      look: place(8),
    },
    {
      name: 'mirrors',
      text: 'lookups.m.all(x,\n x.error == "")',
      place: place(9),
      state: 'false',
      seen: { 'lookups.m': '(list of 3)' },
      why: null,
      look: place(9, 16),
      because: [
        {
          text: 'lookups.m.all(x,\n x.error == "")',
          place: place(9, 16),
          value: false,
          loop: {
            variable: 'x',
            of: 3,
            index: 1,
            nearest: null,
            seen: { 'x.error': 'timed \u001b[31mout' },
            because: [],
            others: [],
          },
        },
      ],
    },
    {
      name: 'typo',
      text: 'event.tga == ""',
      place: place(10),
      state: 'error',
      seen: { 'event.tga': '(absent)' },
      because: [],
      why: 'event has no field "tga"',
      look: place(10),
    },
    {
      name: 'late',
      text: 'lookups.z',
      place: place(11),
      state: 'not-evaluated',
      seen: {},
      because: [],
      why: null,
      look: place(11),
    },
  ],
  steps: [
    {
      id: 's',
      action: 'label.ensure',
      place: place(13),
      outcome: 'when is false',
      items: [],
      held: { why: 'when', text: 'repo.private', place: place(14), seen: { 'repo.private': false }, because: [] },
    },
  ],
  sections: null,
  lookups: [{ name: 'm', use: 'push_mirrors.list', answer: 'list of 3: …' }],
  source: null,
  intents: [
    {
      id: 'i1',
      action: 'label.ensure',
      itemKey: 'bug',
      effectKey: 'label 7 bug',
      mode: 'live',
      state: 'refused',
      reason: 'no',
      code: 'intent.reported',
      parameters: {},
      result: '{id: 3}',
      attempts: [
        {
          n: 1,
          operation: 'createLabel',
          sentAt: AT,
          answeredAt: AT,
          outcome: 'refused',
          status: 422,
          message: 'bad colour',
        },
      ],
    },
  ],
  notes: ['its event is old'],
};

describe('cli/print-explanation', () => {
  it('tells a run: the line to look at, what each condition saw, and what the forge said', () => {
    expect(printed(RUN)).toEqual([
      'acme/notes  not-fired  condition "mirrors" is false',
      '  look at  rules/a.yaml:9:16  mirrors: lookups.m.all(x, x.error == "")',
      '  run      run1, decided 2026-11-20 12:00:00 UTC, dry-run, ended 2026-11-20 12:00:00',
      '  event    push in acme/app by ann, 2026-11-20 12:00:00 UTC (e1)',
      '  source   webhook 2026-11-20 12:00:00 (a1)',
      '  rule     rules/a.yaml:3:5, revision r1 (active, loaded 2026-11-20 12:00:00 UTC)',
      'conditions',
      '  true   is_ann  rules/a.yaml:8:7  event.actor.login == "ann"',
      '           event.actor.login = "ann"',
      '  false  mirrors  rules/a.yaml:9:7  lookups.m.all(x, x.error == "")',
      '           lookups.m = (list of 3)',
      '           decided by x = element [1] of 3',
      '             x.error = "timed \\u001b[31mout"',
      '  error  typo  rules/a.yaml:10:7  event.tga == ""',
      '           event has no field "tga"',
      '           event.tga = (absent)',
      '  -      late  rules/a.yaml:11:7  lookups.z',
      'lookups',
      '  m  push_mirrors.list  list of 3: …',
      'steps',
      '  s  rules/a.yaml:13:7  when is false',
      '           when  rules/a.yaml:14:7  repo.private',
      '           repo.private = false',
      'effects',
      '> label.ensure bug  refused  no',
      '           intent i1',
      '           result {id: 3}',
      '           attempt 1: create a label, sent 2026-11-20 12:00:00, refused (422): bad colour',
      'answers and results end at "…": forgehand explain --full shows all of them',
      'note  its event is old',
    ]);
  });

  it.each<[string, Partial<RunExplanation['run']>, Partial<RunExplanation['context']>, string]>([
    [
      'a tick',
      { cause: { kind: 'tick', tickId: 't1', subject: '7' } },
      { schedule: { at: AT, next: new Date('2026-11-21T02:00:00Z') } },
      '  cause    schedule, occurrence 2026-11-20 12:00:00 UTC, next 2026-11-21 02:00:00 UTC (tick t1)',
    ],
    [
      'a tick of a rule that is gone',
      { cause: { kind: 'tick', tickId: 't1', subject: '7' } },
      { schedule: { at: null, next: null } },
      '  cause    schedule, not scheduled any more (tick t1)',
    ],
    [
      'an apply',
      { cause: { kind: 'apply', by: 'bob', plan: 'p1', subject: '7' } },
      {},
      '  cause    plan p1, applied by bob',
    ],
  ])('tells the cause and the repository of %s', (_what, run, context, line) => {
    const lines = printed({
      ...RUN,
      event: null,
      run: { ...RUN.run, ...run },
      context: { ...RUN.context, ...context },
    });

    expect(lines.slice(3, 5)).toEqual([line, '  in       acme/app']);
  });

  it('tells what a policy compared, in words', () => {
    const sections = {
      labels: {
        wanted: 2,
        left_out: '1 for public',
        missing: ['a', 'b'],
        drift: [{ key: 'c', differences: ['color'] }],
      },
      milestones: { wanted: 1, missing: [], drift: [] },
    };

    expect(printed({ ...RUN, sections }).filter((line) => /^ {2}(labels|milestones)/.test(line))).toEqual([
      '  labels  wanted 2; left out 1 for public; missing a, b; drift c (color)',
      '  milestones  wanted 1; missing none; drift none',
    ]);
  });

  it('tells which filter turned an event away', () => {
    const decision: DecisionExplanation = {
      about: 'decision',
      rule: 'notes',
      event,
      revision,
      place: place(3, 5),
      verdict: 'rejected',
      reason: 'where.branch: branch main is none of release/*',
      look: { ...place(5, 20), text: null },
      filters: [{ filter: 'branch', wanted: ['release/*'], seen: 'main', reason: 'x', place: place(5, 20) }],
      conditions: [],
      steps: [],
      lookups: [],
      source: null,
      runs: [{ id: 'run1', state: 'done', reason: 'wanted', code: 'run.fired', parameters: {} }],
      notes: [],
    };

    expect(printed(decision)).toEqual([
      'acme/notes  rejected  where.branch: branch main is none of release/*',
      '  look at  rules/a.yaml:5:20',
      '  event    push in acme/app by ann, 2026-11-20 12:00:00 UTC (e1)',
      '  source   webhook 2026-11-20 12:00:00 (a1)',
      '  rule     rules/a.yaml:3:5, revision r1 (active, loaded 2026-11-20 12:00:00 UTC)',
      '  run      run1 done  wanted',
      'filters that turn it away',
      '  false  branch  rules/a.yaml:5:20',
      '           asks for ["release/*"], saw "main"',
    ]);
  });

  it('tells every rule in one line', () => {
    const explanation: EventExplanation = {
      about: 'event',
      event,
      revision,
      rules: [
        {
          rule: 'notes',
          kind: 'rule',
          verdict: 'fired',
          away: 0,
          unknown: 0,
          reason: 'its condition holds',
          place: { ...place(3), text: null },
          runId: 'run1',
        },
        {
          rule: 'x',
          kind: 'rule',
          verdict: 'unknown',
          away: 0,
          unknown: 1,
          reason: 'condition "a" is not known',
          place: { ...place(30), text: null },
          runId: null,
        },
      ],
      notes: [],
    };

    expect(printed(explanation).slice(3)).toEqual([
      '',
      '  fired      notes  its condition holds  rules/a.yaml:3:7  run run1',
      '  not known  x      condition "a" is not known  rules/a.yaml:30:7',
    ]);
  });
});
