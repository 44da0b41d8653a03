import type { RuleFunction } from './define-function.js';
import { age } from './age.function.js';
import { allGlob, anyGlob } from './any-glob.function.js';
import { captures } from './captures.function.js';
import { date } from './date.function.js';
import { days } from './days.function.js';
import { glob } from './glob.function.js';
import { mdList } from './md-list.function.js';
import { mdTable } from './md-table.function.js';
import { minor } from './minor.function.js';
import { nextMajor } from './next-major.function.js';
import { nextMinor } from './next-minor.function.js';
import { nextPatch } from './next-patch.function.js';
import { parseYaml } from './parse-yaml.function.js';
import { quarter } from './quarter.function.js';
import { repoOf } from './repo-of.function.js';
import { section } from './section.function.js';
import { slug } from './slug.function.js';
import { sum } from './sum.function.js';

/** Functions of the rule language beside CEL's own; one file and one line each. */
export const ruleFunctions: readonly RuleFunction[] = [
  age,
  allGlob,
  anyGlob,
  captures,
  date,
  days,
  glob,
  mdList,
  mdTable,
  minor,
  nextMajor,
  nextMinor,
  nextPatch,
  parseYaml,
  quarter,
  repoOf,
  section,
  slug,
  sum,
];
