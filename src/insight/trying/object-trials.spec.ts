import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import { actions } from '../../actions/index.js';
import type { Encryptor } from '../../core/encryptor.js';
import type { ObjectEvents } from '../../pipeline/decide/object-events.js';
import type { PlanningTools } from '../../pipeline/decide/planning-tools.js';
import type { Rehearser } from '../../pipeline/execute/rehearse.js';
import type { LookupRequest } from '../../rules/language/revision.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import type { Reason } from '../../core/reason.js';
import { makeTrial } from '../trial.js';
import type { Drafts } from './drafts.js';
import { ObjectTrials } from './object-trials.js';
import { TryDesk } from './try-desk.js';
import type { Draft } from './try-orders.js';

const draft = (rules: string): Draft => ({
  org: 'acme',
  name: 'acme',
  files: [{ path: 'a.yaml', text: `version: 1\norg: acme\nrules:\n${rules}` }],
  powers: ['backport'],
  secrets: [],
  mirrorHosts: [],
  notifyHosts: [],
  limits: { merges: true, approveAndMerge: false, privateMirrors: false, privateReads: false },
});

const READS = `  - id: reads
    on: issue.opened
    lookup: { old: { use: issues.list, with: { state: open } } }
    if: { others: "lookups.old.size() > 1" }
    do: { issue.label: { number: "\${{ event.number }}", add: [one] } }
`;

/** Trials on issue 12 of a repository, with lists of two issues behind each lookup. */
type Rehearse = Rehearser['rehearse'];

const WRITE = { does: 'write', operation: 'addIssueLabels', isReadable: true, reads: [] } as const;
const reason = (code: string): Reason => ({ code, params: {} }) as unknown as Reason;

/** @param does by action, instead of a write; @param lookupMs that each lookup takes */
function aRig({
  isPrivate = false,
  does = {} as Readonly<Record<string, Awaited<ReturnType<Rehearse>>>>,
  known = actions as ReadonlyMap<string, unknown>,
  lookupMs = 0,
} = {}) {
  const clock = new ManualClock();
  const steps: Array<Parameters<Rehearse>> = [];
  const desk = new TryDesk(makeTrial());
  const requests: LookupRequest[] = [];
  const looks: string[] = [];
  const repo = { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app', private: isPrivate };
  const event = anEvent({
    id: 'e',
    kind: 'issue.opened',
    repo,
    data: { number: 12, issue: { number: 12, title: 'x' } },
  });
  const trials = new ObjectTrials(
    {
      check: async (of: Draft) => {
        const answer = desk.answer({ kind: 'check', draft: of });
        if (answer.kind !== 'checked') throw new Error(answer.kind);
        return answer.check;
      },
      onObject: async (of: Draft, round: object) => {
        const answer = desk.answer({ kind: 'object', draft: of, ...round } as never);
        if (answer.kind !== 'object-tried') throw new Error(answer.kind);
        return answer.round;
      },
    } as unknown as Drafts,
    {
      make: async () => ({
        event,
        ownership: { is: 'ours', repository: { id: '7', owner: 'acme', name: 'app', private: isPrivate } },
      }),
    } as unknown as ObjectEvents,
    {
      read: async (request) => {
        requests.push(request);
        clock.advance(lookupMs);
        return { value: [{ number: 1 }, { number: 2 }] };
      },
    },
    { actions: known, newId: () => 'id', encryptor: null as unknown as Encryptor } as unknown as PlanningTools,
    {
      rehearse: async (...asked) => {
        const [{ action }] = asked;
        looks.push(action);
        steps.push(asked);
        return does[action] ?? WRITE;
      },
    },
    { of: () => ({ id: '1', login: 'bot' }) },
    { of: async (_org, { rule }) => [`${rule} would wait`] },
    clock,
  );
  const object = { forge: 'main', org: 'acme', repo: 'app', number: 12, as: null, by: 'ann' };
  return {
    requests,
    looks,
    steps,
    try: (rules: string, isOpen = true) => trials.try(draft(rules), { ...object, isOpen }),
  };
}

describe('insight/trying/object-trials', () => {
  it('reads what the rules ask for, and looks at what they want', async () => {
    const rig = aRig();
    const { rules, reads, event } = await rig.try(READS);

    expect(event).toMatchObject({ kind: 'issue.opened', repo: 'acme/app' });
    expect(rules).toMatchObject([
      {
        rule: 'reads',
        verdict: 'fired',
        steps: { conditions: [{ name: 'others', state: 'true' }], lookups: [{ name: 'old' }] },
        effects: [{ action: 'issue.label', does: 'write', operation: 'addIssueLabels', params: { add: ['one'] } }],
      },
    ]);
    expect([reads, rig.requests.length, rig.looks]).toEqual([1, 1, ['issue.label']]);
  });

  it('tells nothing of a private repository to who may not see it', async () => {
    const rig = aRig({ isPrivate: true });

    await expect(rig.try(READS, false)).rejects.toThrow('acme/app is not public');
    expect([rig.requests, rig.looks]).toEqual([[], []]);
    expect((await rig.try(READS, true)).rules).toMatchObject([{ verdict: 'fired' }]);
  });

  it('looks at no effect for a caller who could learn from it what the bot alone may read', async () => {
    const rig = aRig();
    const { rules } = await rig.try(READS, false);

    expect(rules).toMatchObject([{ verdict: 'fired', effects: [{ does: 'sealed' }] }]);
    expect(rig.looks).toEqual([]);
  });

  it('makes one trial of a caller at once', async () => {
    const rig = aRig();
    const first = rig.try(READS);

    await expect(rig.try(READS)).rejects.toThrow('a trial of yours is not done yet');
    await first;
    expect((await rig.try(READS)).rules).toMatchObject([{ verdict: 'fired' }]);
  });

  it('reads what owners alone may see for nobody else, in any repository', async () => {
    const members = READS.replace('use: issues.list, with: { state: open }', 'use: team.members, with: { name: core }');
    const rig = aRig();

    expect((await rig.try(members, false)).rules).toMatchObject([{ verdict: 'unknown' }]);
    expect(rig.requests).toEqual([]);
  });

  it('makes one question once, and fifty lookups at most', async () => {
    const many = Array.from({ length: 60 }, (_, n) =>
      READS.replace('id: reads', `id: reads-${n}`).replace('state: open', `labels: [l${n % 55}]`),
    ).join('');
    const rig = aRig();
    const { reads, notes, rules } = await rig.try(many);

    expect([reads, rig.requests.length]).toEqual([50, 50]);
    expect(notes.filter((note) => note.endsWith('a trial makes 50 lookups'))).toHaveLength(5);
    expect(rules.filter(({ verdict }) => verdict === 'unknown')).toHaveLength(5);
    expect(rig.looks).toHaveLength(50);
  });

  const both = (...[first, second]: readonly string[]): string => `  - id: both
    on: issue.opened
    do: [{ ${first} }, { ${second} }]
`;
  const NEW_LABEL = 'label.ensure: { name: one, color: "#00aabb" }';
  const PUT_ON = 'issue.label: { number: "${{ event.number }}", add: [one] }';
  const CANNOT = { does: 'cannot', reason: reason('cannot.archived') } as const;

  it('says of an effect that waits that it would wait, and what would make the rule wait', async () => {
    const rig = aRig({ does: { 'issue.label': { does: 'waits', reason: reason('cannot.merge.checks') } } });

    expect((await rig.try(READS)).rules).toMatchObject([
      { verdict: 'fired', waits: ['reads would wait'], effects: [{ does: 'waits' }] },
    ]);
  });

  it('says of an effect that it cannot be made, whatever is written above it', async () => {
    const rig = aRig({ does: { 'issue.state': CANNOT } });
    const { rules } = await rig.try(both(NEW_LABEL, 'issue.state: { number: "${{ event.number }}", state: closed }'));

    expect(rules[0]?.effects.map((effect) => effect.does)).toEqual(['write', 'cannot']);
  });

  it('lets an effect wait for the one above that makes what it needs', async () => {
    const rig = aRig({ does: { 'issue.label': CANNOT } });
    const { rules } = await rig.try(both(NEW_LABEL, PUT_ON));

    expect(rules[0]?.effects).toMatchObject([
      { does: 'write' },
      { does: 'waits', reason: expect.stringMatching(/^it needs what label\.ensure one makes/) },
    ]);
    const alone = await aRig({ does: { 'issue.label': CANNOT, 'label.ensure': CANNOT } }).try(both(NEW_LABEL, PUT_ON));
    expect(alone.rules[0]?.effects.map((effect) => effect.does)).toEqual(['cannot', 'cannot']);
  });

  it('looks at further steps of a verb with what came of those before, and not before that is known', async () => {
    const backport = both('backport: { number: "${{ event.number }}", to: release }', PUT_ON);
    const first = aRig();
    const open = await first.try(backport);
    expect(open.rules[0]?.effects.map(({ action, does }) => [action, does])).toEqual([
      ['backport', 'write'],
      ['backport.open', 'waits'],
      ['issue.label', 'write'],
    ]);
    expect(first.looks).toEqual(['backport', 'issue.label']);

    const there = aRig({ does: { backport: { does: 'nothing', reason: reason('found.backported') } } });
    await there.try(backport);
    expect(there.steps[1]).toMatchObject([
      { action: 'backport.open' },
      [{ action: 'backport', state: 'unchanged', code: 'found.backported' }],
    ]);
  });

  it('says that a rule fails whose effects cannot be planned', async () => {
    const { rules } = await aRig({ known: new Map() }).try(READS);

    expect(rules).toMatchObject([
      { verdict: 'error', reason: expect.stringContaining('there is no action issue.label'), effects: [] },
    ]);
  });

  it('shows what the bot knows of itself to owners alone', async () => {
    const own = `  - id: own
    on: issue.opened
    do: { issue.comment: { number: "\${{ event.number }}", key: k, body: "\${{ bot.hook_url }}" } }
`;
    const rig = aRig();
    const { rules, notes } = await rig.try(own, false);

    expect([rules[0]?.verdict, rig.requests]).toEqual(['unknown', []]);
    expect(notes.join()).toContain('what the bot knows of itself is sealed');
    await rig.try(own, true);
    expect(rig.requests).toMatchObject([{ use: 'bot.facts' }]);
  });

  it('ends after thirty seconds, with what it found', async () => {
    const rig = aRig({ lookupMs: 31_000 });
    const { rules } = await rig.try(READS);

    expect(rules).toMatchObject([
      { verdict: 'fired', effects: [{ does: 'not-looked', reason: 'a trial takes 30 seconds at most' }] },
    ]);
    expect(rig.looks).toEqual([]);
  });

  it('says where a file is wrong, and asks nothing then', async () => {
    const rig = aRig();

    expect(await rig.try(READS.replace('on: issue.opened', 'on: issue.opend'))).toMatchObject({
      event: null,
      problems: [{ file: 'a.yaml', line: 5 }],
    });
    expect(rig.requests).toEqual([]);
  });
});
