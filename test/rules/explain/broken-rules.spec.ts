import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { EventKind } from '../../../src/core/event-kinds.js';
import type { ForgeEvent } from '../../../src/core/event.js';
import { stringifyJson } from '../../../src/core/json.js';
import type { LookupAnswers, Revision } from '../../../src/rules/language/revision.js';
import { given } from '../../builders/given.js';
import { breakLine, seeded } from './break-line.js';
import type { Broken } from './break-line.js';
import { HistoryRig } from './history-rig.js';
import { recordedEvents } from './recorded-events.js';

const WANTED = 200;
const SEED = 20261120;
const FILE = 'rules/working.yaml';
const working = readFileSync(new URL('./working.yaml', import.meta.url), 'utf8');

/** What the forge holds, for the rules that read. */
const WORLD: LookupAnswers = {
  line: { missing: true },
  labels: { value: [] },
  fence: { value: { rule_name: 'main', required_approvals: 2 } },
  mirrors: { value: [{ remote_address: 'https://mirror.example.org/app.git', last_error: '' }] },
};

const events = recordedEvents();
const eventOf: Readonly<Record<string, ForgeEvent>> = {
  'squash-to-main': recorded(
    'push',
    ({ data }) =>
      data.branch === 'main' && String(data.head_commit && JSON.stringify(data.head_commit)).includes('(#5)'),
  ),
  'release-line': recorded('branch.created'),
  'light-tags': recorded('tag.created'),
  triage: recorded('issue.opened'),
  'labels-removed': recorded('issue.labeled'),
  'merged-from-a-fork': recorded('pull_request.merged'),
  'pull-milestones': withTopics(recorded('pull_request.milestoned')),
  approved: recorded('review.approved'),
  remarks: recorded('comment.created'),
  polished: recorded('release.updated'),
  'second-major': recorded('release.published'),
  'empty-repository': recorded('repository.created'),
  'red-main': recorded('task.finished', ({ data }) => JSON.stringify(data).includes('"failure"')),
  'red-status': recorded('status.set', ({ data }) => JSON.stringify(data).includes('"failure"')),
  forked: recorded('repository.forked'),
};

function recorded(kind: EventKind, fits: (event: ForgeEvent) => boolean = () => true): ForgeEvent {
  return given(events.find((event) => event.kind === kind && fits(event)));
}

function withTopics(event: ForgeEvent): ForgeEvent {
  return { ...event, repo: { ...given(event.repo), topics: ['product', 'web'] } };
}

/** A file with one broken line, and the rule that does not do its work any more because of it. */
interface Case extends Broken {
  readonly rule: string;
  readonly revision: Revision;
}

/** The same ones on each run. A break that the loader refuses, or that leaves the rule as it was, is none. */
function brokenRules(rig: HistoryRig): Case[] {
  const random = seeded(SEED);
  const found = new Map<string, Case>();
  for (let tried = 0; found.size < WANTED && tried < 40_000; tried += 1) {
    const broken = breakLine(working, random);
    if (!broken || found.has(broken.text)) continue;
    const text = aloneInFile(broken);
    const loaded = rig.load([{ path: FILE, text }]);
    if (!loaded.ok) continue;
    const { revision } = loaded;
    const rule = given(revision.rules[0]).id;
    if (!isAtWork(rig, revision, rule)) found.set(broken.text, { ...broken, text, rule, revision });
  }
  return [...found.values()];
}

/** The broken rule at its own line, the other rules blank: what is said about it may not depend on them, and loads faster. */
function aloneInFile({ text, line }: Broken): string {
  const lines = text.split('\n');
  const starts = lines.flatMap((one, index) => (one.startsWith('  - id:') ? [index] : []));
  const from = given(starts.findLast((start) => start < line));
  const to = starts.find((start) => start >= line) ?? lines.length;
  return lines.map((one, index) => (index >= given(starts[0]) && (index < from || index >= to) ? '' : one)).join('\n');
}

function isAtWork(rig: HistoryRig, revision: Revision, rule: string): boolean {
  const event = given(eventOf[rule]);
  return rig.isCandidate(revision, event, rule) && rig.decide(revision, event, rule, WORLD).steps.length > 0;
}

describe('rules that work', () => {
  it('each take their event', async () => {
    const rig = new HistoryRig();
    const { revision } = await rig.activate(working, undefined, FILE);

    expect(revision.rules.map(({ id }) => id)).toEqual(Object.keys(eventOf));
    for (const { id } of revision.rules) expect([id, isAtWork(rig, revision, id)]).toEqual([id, true]);
  });
});

describe(`${WANTED} rules, each broken in one line`, () => {
  const cases = brokenRules(new HistoryRig());

  it('are many rules, broken in many ways', () => {
    expect(cases).toHaveLength(WANTED);
    expect(new Set(cases.map(({ rule }) => rule)).size).toBe(15);
    expect(new Set(cases.map(({ line }) => line)).size).toBeGreaterThan(60);
    expect(new Set(cases.map(({ how }) => how)).size).toBeGreaterThan(12);
  });

  it('are explained by exactly that line, from the stored run where there is one', async () => {
    const wrong: string[] = [];
    for (const { rule, revision, text, line, how, was, is } of cases) {
      const event = given(eventOf[rule]);
      const rig = new HistoryRig();
      await rig.keepEvent(event);
      const { id } = await rig.activate(text, undefined, FILE);
      const run = rig.isCandidate(revision, event, rule)
        ? await rig.keepRun(id, event, rig.decide(revision, event, rule, WORLD))
        : null;
      const explained = [
        await rig.explainer.explain({ id: event.id, rule }),
        ...(run ? [await rig.explainer.explain({ id: run.id })] : []),
      ];
      for (const explanation of explained) {
        const look = explanation.about === 'event' ? null : explanation.look;
        if (look?.line === line && look.file === FILE && look.text === is) continue;
        wrong.push(
          `${explanation.about} ${rule}, line ${line}, ${how}: ${was} => ${is}: ${look ? `${look.line} ${look.text}` : 'nothing'}`,
        );
      }
    }

    expect(wrong).toEqual([]);
  });

  it('leave traces of at most 4 KB in the middle', () => {
    const rig = new HistoryRig();
    const sizes = cases.flatMap(({ rule, revision }) => {
      const event = given(eventOf[rule]);
      return rig.isCandidate(revision, event, rule)
        ? [Buffer.byteLength(stringifyJson(rig.decide(revision, event, rule, WORLD).report.trace))]
        : [];
    });
    sizes.sort((a, b) => a - b);
    process.stdout.write(
      `[explain] bytes of a trace: ${given(sizes[sizes.length >> 1])} in the middle, ${given(sizes.at(-1))} at most, of ${sizes.length}\n`,
    );

    expect(given(sizes[sizes.length >> 1])).toBeLessThanOrEqual(4096);
  });

  it('are explained by that line also where no run was kept, unless it lies behind a read', async () => {
    const answers = { right: 0, unknown: 0 };
    const wrong: string[] = [];
    for (const { rule, text, line, how, was, is } of cases) {
      const event = given(eventOf[rule]);
      const rig = new HistoryRig();
      await rig.keepEvent(event);
      await rig.activate(text, undefined, FILE);
      const explanation = await rig.explainer.explain({ id: event.id, rule });
      if (explanation.about !== 'decision') throw new Error('an event and a rule are a decision');
      if (explanation.verdict === 'unknown') answers.unknown += 1;
      else if (explanation.look?.line === line) answers.right += 1;
      else wrong.push(`${rule}, line ${line}, ${how}: ${was} => ${is}: ${explanation.look?.line}`);
    }

    expect(wrong).toEqual([]);
    expect(answers.right).toBeGreaterThan(150);
    expect(cases.filter(({ was }) => was.startsWith('when:') || was.startsWith('unless:'))).toHaveLength(
      answers.unknown,
    );
  });
});
