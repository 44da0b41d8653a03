import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import { actions } from '../../actions/index.js';
import type { Encryptor } from '../../core/encryptor.js';
import type { ObjectEvents } from '../../pipeline/decide/object-events.js';
import type { PlanningTools } from '../../pipeline/decide/planning-tools.js';
import type { Rehearser } from '../../pipeline/execute/rehearse.js';
import type { LookupRequest } from '../../rules/language/revision.js';
import { makeTrial } from '../trial.js';
import type { Drafts } from './drafts.js';
import { ObjectTrials } from './object-trials.js';
import { TryDesk } from './try-desk.js';
import type { Draft } from './try-orders.js';

const draft = (rules: string): Draft => ({
  org: 'acme',
  files: [{ path: 'a.yaml', text: `version: 1\norg: acme\nrules:\n${rules}` }],
  powers: [],
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
function aRig({ isPrivate = false } = {}) {
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
        return { value: [{ number: 1 }, { number: 2 }] };
      },
    },
    { actions, newId: () => 'id', encryptor: null as unknown as Encryptor } as unknown as PlanningTools,
    {
      rehearse: (async ({ action }) => {
        looks.push(action);
        return { does: 'write', operation: 'addIssueLabels', isReadable: true, reads: [] };
      }) as Rehearser['rehearse'],
    },
    { of: () => ({ id: '1', login: 'bot' }) },
  );
  const object = { forge: 'main', org: 'acme', repo: 'app', number: 12, as: null, by: 'ann' };
  return { requests, looks, try: (rules: string, isOpen = true) => trials.try(draft(rules), { ...object, isOpen }) };
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

    expect(rules).toMatchObject([{ verdict: 'fired', effects: [{ does: 'not-looked' }] }]);
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

  it('says where a file is wrong, and asks nothing then', async () => {
    const rig = aRig();

    expect(await rig.try(READS.replace('on: issue.opened', 'on: issue.opend'))).toMatchObject({
      event: null,
      problems: [{ file: 'a.yaml', line: 5 }],
    });
    expect(rig.requests).toEqual([]);
  });
});
