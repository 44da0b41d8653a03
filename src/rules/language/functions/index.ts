import type { RuleFunction } from './define-function.js';
import { age } from './age.function.js';
import { date } from './date.function.js';
import { glob } from './glob.function.js';
import { minor } from './minor.function.js';
import { nextMinor } from './next-minor.function.js';
import { parseYaml } from './parse-yaml.function.js';
import { quarter } from './quarter.function.js';
import { repoOf } from './repo-of.function.js';
import { section } from './section.function.js';
import { slug } from './slug.function.js';

/** Functions of the rule language beside CEL's own; one file and one line each. */
export const ruleFunctions: readonly RuleFunction[] = [
  age,
  date,
  glob,
  minor,
  nextMinor,
  parseYaml,
  quarter,
  repoOf,
  section,
  slug,
];
