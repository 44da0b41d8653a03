import { formatProblem } from '../core/problem.js';
import type { ConditionCoverage } from '../insight/fixtures/coverage.js';
import type { FixturesReport } from '../insight/fixtures/run-fixtures.js';
import { plain, table } from './print.js';
import { colour } from './terminal.js';
import { counted } from '../api/words.js';

export function printFixtures({ results, failed, coverage, problems }: FixturesReport, withCoverage: boolean): string {
  if (problems.length > 0)
    return problems.map((problem) => `${colour.red('error')} ${plain(formatProblem(problem))}`).join('\n');
  const failures = results.flatMap(({ name, failures: of }) =>
    of.map(
      ({ place, rule, message }) =>
        `${colour.red('failed')} ${place.file}:${place.line}:${place.col}: ${plain(name)}: ${rule}: ${plain(message)}`,
    ),
  );
  const files = new Set(results.map(({ file }) => file)).size;
  const counts = `${counted(results.length, 'test')} in ${counted(files, 'file')}`;
  const outcome = failed > 0 ? colour.red(`${failed} failed`) : colour.green('all passed');
  return [
    ...failures,
    `${counts}: ${results.length === 0 ? 'nothing to run' : outcome}`,
    ...(withCoverage ? ['', ...coverageLines(coverage)] : []),
  ].join('\n');
}

function coverageLines(coverage: readonly ConditionCoverage[]): string[] {
  const both = coverage.filter(({ seenTrue, seenFalse }) => seenTrue > 0 && seenFalse > 0).length;
  const rows = coverage.map(({ rule, condition, place, seenTrue, seenFalse }) => [
    rule,
    condition,
    countText(seenTrue),
    countText(seenFalse),
    wordOf(seenTrue, seenFalse),
    `${place.file}:${place.line}`,
  ]);
  return [
    table(['rule', 'condition', 'true', 'false', '', 'at'], rows, 'no rule has conditions'),
    `${both} of ${coverage.length} conditions seen both ways`,
  ];
}

function countText(count: number): string {
  return count === 0 ? colour.yellow('-') : String(count);
}

function wordOf(seenTrue: number, seenFalse: number): string {
  if (seenTrue === 0 && seenFalse === 0) return colour.red('never decided');
  return seenTrue === 0
    ? colour.yellow('never true')
    : seenFalse === 0
      ? colour.yellow('never false')
      : colour.green('both');
}
