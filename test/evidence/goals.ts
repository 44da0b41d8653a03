import { readFileSync } from 'node:fs';
import { SEGMENTS, type StormGoal } from '../chaos/goals.js';
import type { OverloadReport } from '../chaos/overload/overload-report.js';
import type { PowerReport } from '../chaos/power/power-goal.js';
import type { StormReport } from '../chaos/report.js';
import type { TimeReport } from '../chaos/time/run-time-goal.js';
import type { LossReport } from '../integration/lost-deliveries/lose-deliveries.js';
import type { EvidenceRun, GoalName } from './evidence.js';

/** A command of one goal; broken off, the next try begins with it. */
export interface Part {
  readonly id: string;
  /** Arguments of `npm run --silent`. @param resume a file of the part's own, where its command can go on from */
  readonly command: (resume: string) => readonly string[];
}

export interface PartResult {
  readonly id: string;
  readonly status: number;
  readonly stdout: string;
  readonly seconds: number;
  /** Content of the resume file; null when there is none. */
  readonly resume: string | null;
}

export type Judged = Pick<EvidenceRun, 'wanted' | 'measured' | 'rows'>;

export interface EvidenceGoal {
  readonly name: GoalName;
  /** Null where chance has no part in it. */
  readonly seed: number | null;
  readonly parts: readonly Part[];
  /** One run of each in place of many; absent where the parts are one run. */
  readonly nightly?: readonly Part[];
  /** Its processes are those of the built bot. */
  readonly needsBuild?: true;
  /** What the parts gave, in words and as rows; the goal is met when each part ended with status 0. */
  judge(
    results: readonly PartResult[],
    of: { readonly commit: string; readonly date: string; readonly load: string },
  ): Judged;
}

const NONE_BAD = 'lost 0, doubled 0, phantom 0, stuck 0';
const many = new Intl.NumberFormat('en-US');
const n = (count: number): string => many.format(count);
const sum = <T>(list: readonly T[], of: (one: T) => number): number => list.reduce((total, one) => total + of(one), 0);
const lastJson = <T>(text: string): T[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as T);
const found = (text: string, pattern: RegExp): string[] => pattern.exec(text)?.slice(1) ?? [];
const chaos = (...args: string[]): string[] => ['chaos', '--', ...args];

/** A goal whose figures are one line of JSON. */
function ofOneReport<Report>(
  name: GoalName,
  seed: number | null,
  command: readonly string[],
  judge: (report: Report, run: { commit: string; date: string; load: string }) => Judged,
): EvidenceGoal {
  return {
    name,
    seed,
    parts: [{ id: name, command: () => command }],
    judge: ([result], run) => {
      const [report] = lastJson<Report>(result?.stdout ?? '');
      return report ? judge(report, run) : { wanted: 'a report', measured: 'none', rows: {} };
    },
  };
}

const bad = (reports: readonly StormReport[]): string[] =>
  (['lost', 'doubled', 'phantom', 'stuck'] as const).map((word) => n(sum(reports, (report) => report[word].length)));
const measuredBad = (reports: readonly StormReport[]): string => {
  const [lost, doubled, phantom, stuck] = bad(reports);
  return `lost ${lost}, doubled ${doubled}, phantom ${phantom}, stuck ${stuck}`;
};
const effects = (reports: readonly StormReport[]): string =>
  `${n(sum(reports, ({ made }) => made))} of ${n(sum(reports, ({ wanted }) => wanted))}`;
const inACall = (reports: readonly StormReport[]): string => {
  const kills = sum(reports, ({ phases }) => phases.kills);
  return kills === 0 ? '' : `${n(sum(reports, ({ phases }) => phases.betweenSentAndAnswer))} of ${n(kills)}`;
};
const caught = (reports: readonly StormReport[]): string =>
  `${n(sum(reports, ({ phases }) => phases.caught))} calls caught, ${n(sum(reports, ({ phases }) => phases.caughtWithEffect))} had their effect`;
const waiting = (reports: readonly StormReport[]): string => {
  const keyless = reports.flatMap((report) => report.keyless ?? []);
  if (keyless.length === 0) return n(sum(reports, ({ waitingAll }) => waitingAll));
  const open = sum(keyless, ({ unanswered, settledByArrival }) => unanswered - settledByArrival);
  const twice = sum(keyless, ({ appliedTwice }) => appliedTwice);
  return `${n(sum(keyless, (one) => one.waiting))} = ${n(open)} attempts without an answer, ${twice === 0 ? 'none' : n(twice)} applied twice`;
};
function blows(reports: readonly StormReport[]): string {
  const hits = new Map<string, number>();
  for (const report of reports)
    for (const [name, count] of Object.entries(report.hits)) hits.set(name, (hits.get(name) ?? 0) + count);
  const kills = sum(reports, ({ phases }) => phases.kills);
  return [
    ...(kills > 0 ? [`${n(kills)} kills, ${caught(reports)}`] : []),
    ...[...hits].map(([name, count]) => `${n(count)} ${name}`),
    `${n(sum(reports, ({ unanswered }) => unanswered))} requests without an acknowledgement`,
  ].join(', ');
}
const range = (seeds: readonly number[]): string => {
  const [from, to] = [Math.min(...seeds), Math.max(...seeds)];
  return from === to ? String(from) : `${from} to ${to}`;
};
/** By deployment and profile, in the order of the runs. */
function grouped(results: readonly PartResult[]): StormReport[][] {
  const groups = new Map<string, StormReport[]>();
  for (const { resume } of results)
    for (const report of Object.values(JSON.parse(resume ?? '{}') as Record<string, StormReport>)) {
      const key = `${report.deployment} ${report.profile}`;
      groups.set(key, [...(groups.get(key) ?? []), report]);
    }
  return [...groups.values()];
}

function stormGoal(name: GoalName & StormGoal, seed: number, deployments: readonly string[]): EvidenceGoal {
  const partsOf = (...size: readonly string[]): Part[] =>
    deployments.map((deployment, at) => {
      // A hundred seeds apart: no run of one deployment repeats one of the other.
      const args = ['--only', name, ...size, '--deployment', deployment, '--seed', String(seed + 100 * at)];
      return { id: `${name}-${deployment}`, command: (resume) => chaos(...args, '--resume', resume) };
    });
  return {
    name,
    seed,
    parts: partsOf('--full'),
    nightly: partsOf(),
    judge: (results, { commit }) => ({
      wanted: NONE_BAD,
      measured: measuredBad(grouped(results).flat()),
      rows: {
        effects: grouped(results).map((reports) => [
          `**${name}**, \`${commit}\``,
          `${reports[0]?.deployment}, \`${reports[0]?.profile}\``,
          `${reports.length} of ${SEGMENTS[name]}`,
          range(reports.map((report) => report.seed)),
          blows(reports),
          inACall(reports),
          effects(reports),
          ...bad(reports),
          waiting(reports),
        ]),
      },
    }),
  };
}

const settle60: EvidenceGoal = {
  name: 'G2-settle-60',
  seed: 77,
  parts: [
    {
      id: 'G2-settle-60',
      command: (resume) =>
        chaos('--only', 'G2', '--deployment', 'embedded', '--settle', '60', '--seed', '77', '--resume', resume),
    },
  ],
  judge: (results) => ({
    wanted: NONE_BAD,
    measured: measuredBad(grouped(results).flat()),
    rows: {
      'effects-settle-60': grouped(results).map((reports) => [
        `\`${reports[0]?.profile}\``,
        `${n(sum(reports, ({ phases }) => phases.kills))}, ${caught(reports)}`,
        inACall(reports),
        effects(reports),
        ...bad(reports),
        waiting(reports),
      ]),
    },
  }),
};

const storm = ofOneReport<StormReport>('storm', 1122, chaos('--seed', '1122', '--json'), (report) => ({
  wanted: NONE_BAD,
  measured: measuredBad([report]),
  rows: { storm: [[blows([report]), effects([report]), ...bad([report])]] },
}));

const bullPeer: EvidenceGoal = {
  name: 'bull-peer',
  seed: 4242,
  parts: [{ id: 'bull-peer', command: () => chaos('--peer', 'bull', '--seed', '4242') }],
  judge: ([result]) => {
    const text = result?.stdout ?? '';
    const [wanted = '?', kills = '?', between = '?'] = found(text, /(\d+) effects wanted, (\d+) kills, (\d+) between/);
    const [lost = '?', doubled = '?', share = '?', failed = '?'] = found(
      text,
      /^lost (\d+), doubled (\d+) \(([\d.]+) %\).*wrongly failed (\d+)/m,
    );
    const row = [
      '`--peer bull`, the storm of G2',
      '4242',
      kills,
      between,
      wanted,
      lost,
      `${doubled} (${share} %)`,
      failed,
    ];
    return {
      wanted: 'doubled at least 10 %: else the storm is too mild to say anything',
      measured: `doubled ${share} %`,
      rows: { 'bull-peer': [row] },
    };
  },
};

const lostWebhooks = ofOneReport<LossReport>(
  'G4',
  4,
  chaos('--only', 'G4', '--seed', '4', '--json'),
  ({ visible, ofTasks, dropped, whileDown, byClass, late, doubled, untold, invented }) => {
    const { down = 0, unknown = 0 } = byClass;
    const faults = [late, doubled, untold, invented].map(({ length }) => n(length));
    const told = (counts: readonly string[]): string =>
      `missed ${counts[0]}, doubled ${counts[1]}, injected and not listed ${counts[2]}, listed and not injected ${counts[3]}`;
    return {
      wanted: told(['0', '0', '0', '0']),
      measured: told(faults),
      rows: {
        'lost-webhooks': [
          [
            n(10_000),
            `${n(visible)} (${n(ofTasks)} of jobs)`,
            n(dropped),
            n(whileDown),
            n(sum(Object.values(byClass), (count) => count)),
            `${n(down)}, ${n(unknown)}`,
            ...faults,
          ],
        ],
      },
    };
  },
);

const schedules = ofOneReport<TimeReport>('G13', 13, chaos('--only', 'G13', '--seed', '13', '--json'), (report) => {
  const { zones, changes, moments, wrong, downtimes, jumps, restarts, wanted, missing, extra, twice } = report;
  const told = (counts: readonly number[]): string =>
    `wrong patterns ${counts[0]}, missing ${counts[1]}, too many ${counts[2]}, decided twice ${counts[3]}`;
  const counts = [zones, changes, moments, wrong.length, downtimes, jumps, restarts, wanted];
  return {
    wanted: told([0, 0, 0, 0]),
    measured: told([wrong.length, missing.length, extra.length, twice]),
    rows: { schedules: [[...counts, missing.length, extra.length, twice].map(n)] },
  };
});

const overloads = (...size: readonly string[]): Part[] =>
  ['embedded', 'distributed'].map((deployment) => {
    const args = ['--only', 'G14', ...size, '--deployment', deployment, '--seed', '1414', '--json'];
    return { id: `G14-${deployment}`, command: () => chaos(...args) };
  });

const overload: EvidenceGoal = {
  name: 'G14',
  seed: 1414,
  parts: overloads('--full'),
  nightly: overloads(),
  judge: (results, { commit, date, load }) => {
    const reports = results.flatMap(({ stdout }) => lastJson<OverloadReport>(stdout));
    const grown = ({ memoryMb }: OverloadReport): number =>
      Math.round(Math.max(...memoryMb.map(({ before, most }) => most - before)));
    const slower = ({ quiet }: OverloadReport): number => quiet.floodP95Ms / quiet.aloneP95Ms;
    const worst = (deployment: string, of: (report: OverloadReport) => number): number =>
      Math.max(...reports.filter((report) => report.overload.deployment === deployment).map(of));
    const goal = (of: (report: OverloadReport) => number, most: number, digits: number): string[] =>
      ['embedded', 'distributed'].map((deployment) => {
        const measured = worst(deployment, of);
        return `${measured.toFixed(digits)} ${measured <= most ? 'met' : 'missed'}`;
      });
    return {
      wanted: 'every acknowledged delivery stored, every effect once, no call before the time that the forge named',
      measured: `${reports.length} floods; lost ${sum(reports, ({ lost, lostDeliveries }) => lost.length + lostDeliveries.length)}, doubled ${sum(reports, ({ doubled }) => doubled.length)}, calls too early ${sum(reports, ({ pauses }) => pauses.early.length)}`,
      rows: {
        overload: reports.map((report) => [
          `nightly, ${report.overload.deployment}, seed ${report.overload.seed}`,
          `\`${commit}\`, ${date}`,
          load,
          `${n(report.endings.stored)} of ${n(report.requests)}, decided ${n(Math.round(report.drainedMs / 1000))} s later`,
          `${n(Math.round(report.answerMs.p50))}, ${n(Math.round(report.answerMs.p99))} ms`,
          `${report.pauses.asked} times, ${report.pauses.early.length === 0 ? 'no call' : `${report.pauses.early.length} calls`} too early`,
          `${n(report.made)} of ${n(report.wanted)}`,
          `${grown(report)} MB more`,
          [report.quiet.aloneP95Ms, report.quiet.floodP95Ms, report.quiet.drainP95Ms]
            .map((ms) => `${(ms / 1000).toFixed(2)} s`)
            .join(', '),
        ]),
        'overload-goals': [
          ['memory', '150 MB', ...goal(grown, 150, 0)],
          ["other organization's p95, in the flood by alone", '2 times', ...goal(slower, 2, 1)],
        ],
      },
    };
  },
};

const power = ofOneReport<PowerReport>(
  'power',
  8,
  chaos('--only', 'power', '--full', '--seed', '8', '--json'),
  ({ cuts, classes, wrong, planted }) => {
    const of = (word: string): number => wrong.filter((line) => line.includes(word)).length;
    const faults = [of('lost:'), of('doubled:'), of('does not open')].map(n);
    const hit = Object.entries(classes).map(([name, one]) => `${one.cuts} ${name}`);
    const dropped = sum(Object.values(classes), (one) => one.dropped);
    const losses = `in ${planted.withLosses} of ${planted.cuts}`;
    return {
      wanted: 'lost 0, doubled 0, stores that did not open 0; losses without flushes',
      measured: `lost ${faults[0]}, doubled ${faults[1]}, stores that did not open ${faults[2]}; losses ${losses} without flushes`,
      rows: {
        'power-cuts': [
          ['with flushes', `${n(cuts)}: ${hit.join(', ')}`, n(dropped), ...faults],
          ['with flushes that the rig drops', n(planted.cuts), '', losses, '', ''],
        ],
      },
    };
  },
);

/** A goal that is told in lines. */
function ofLines(
  name: GoalName,
  seed: number | null,
  command: readonly string[],
  judge: (text: string) => Judged,
): EvidenceGoal {
  return {
    name,
    seed,
    parts: [{ id: name, command: () => command }],
    judge: ([result]) => judge(result?.stdout ?? ''),
  };
}

const fuzz = ofLines('fuzz', 1, ['fuzz', '--', '--seed', '1'], (text) => ({
  wanted: '0 crashes in 1,000,000 bodies',
  measured: found(text, /^(\d+ crashes)/m)[0] ?? 'did not end',
  rows: {},
}));

const contract = ofLines('contract', null, ['contract'], (text) => ({
  wanted: 'every recorded step equal, or excused',
  measured: found(text, /^(\d+ steps, .*)$/m)[0] ?? 'did not end',
  rows: {},
}));

const simulation = ofLines('simulation', 1, ['simulation', '--', '--seeds', '10000'], (text) => {
  const [kills = '?', hit = '?', points = '?'] = found(text, /(\d+) kills at (\d+) of (\d+) points/);
  const [broken = '?'] = found(text, /^(\d+) seeds broke an invariant/m);
  const [cpu = '?'] = found(text, /, ([\d.]+) s of processor time/);
  const [took = '?', verdict = '?'] = found(text, /^goal simulation: .*measured (\d+) s, (\w+)$/m);
  return {
    wanted: 'invariants broken 0; 300 s',
    measured: `invariants broken ${broken}; ${took} s`,
    rows: {
      simulation: [
        [
          n(10_000),
          n(Number(kills)),
          `${hit} of ${points}`,
          broken,
          `${Math.round(Number(cpu))} s`,
          `${took} s, ${verdict}`,
        ],
      ],
    },
  };
});

const mutation = ofLines('mutation', null, ['mutation'], (text) => {
  const cells = text
    .split('\n')
    .filter((line) => /^\| (src\/|all )/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const [noticed = '?'] = found(text, /^goal mutation: .*measured ([\d.]+) %/m);
  const [minutes = '?'] = found(text, /^goal mutation-minutes: .*measured (\d+)/m);
  return {
    wanted: '85 % noticed; 40 minutes',
    measured: `${noticed} % noticed; ${minutes} minutes`,
    rows: {
      mutation: cells.map(([, file = '', killed = '', timeout = '', survived = '', none = '', score = '']) => [
        file === 'all' ? file : `\`${file.split('/').at(-1)}\``,
        killed,
        survived,
        none,
        timeout,
        score,
      ]),
    },
  };
});

/** Every full count there is; `ten-passes` has a command of its own. */
export const EVIDENCE_GOALS: readonly EvidenceGoal[] = [
  ...[
    stormGoal('G1', 10_010, ['distributed', 'embedded']),
    stormGoal('G2', 20_010, ['distributed', 'embedded']),
    stormGoal('G3', 30_010, ['distributed', 'embedded']),
    stormGoal('G5', 50_010, ['distributed']),
    stormGoal('G6', 60_010, ['distributed']),
    settle60,
    storm,
    bullPeer,
    overload,
    power,
  ].map((goal) => ({ ...goal, needsBuild: true as const })),
  lostWebhooks,
  schedules,
  fuzz,
  contract,
  simulation,
  mutation,
];

export function readResume(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
