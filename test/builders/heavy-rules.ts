import { anEvent } from './arrivals.js';
import type { ForgeEvent } from '../../src/core/event.js';
import type { RuleFile } from '../../src/rules/language/revision.js';

/** One rule that is cheap whatever it is given, and one whose cost depends on how many commits a push has. */
export const HEAVY_RULES: readonly RuleFile[] = [
  {
    path: 'r.yaml',
    text: `version: 1
org: acme
rules:
  - id: cheap
    on: push
    if: event.branch == "main"
    do: {milestone.ensure: {title: a}}
  - id: heavy
    on: push
    if:
      first: event.branch == "main"
      second: event.commits.all(c, event.commits.all(d, c.message + d.message != "never"))
    do: {milestone.ensure: {title: a}}
`,
  },
];

export function aPushOf(commits: number): ForgeEvent {
  return anEvent({
    data: {
      branch: 'main',
      ref: 'refs/heads/main',
      commits: Array.from({ length: commits }, (_, n) => ({ id: String(n), message: `m${n}` })),
    },
  });
}
