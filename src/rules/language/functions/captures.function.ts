import { MAX_SUBJECT, compileRegex, costOfSearch } from '../expressions/regex.js';
import { defineFunction } from './define-function.js';

/** A text that matches again and again is searched as often. */
const MAX_CAPTURES = 100;
/** Searches that keep groups take so much longer than those that only tell whether a pattern matches. Calibrated by `npm run bench -- functions`. */
const GROUPS_FACTOR = 8;

/** What a pattern of a rule finds in a text, such as the numbers behind "Closes #". */
export const captures = defineFunction({
  name: 'captures',
  summary:
    'What the first group of a regular expression (RE2) captures at each place where it matches, each text once, in order; the whole match where the pattern has no group. At most 100 matches, in texts of up to 8,192 characters.',
  params: [
    { name: 'text', type: 'string' },
    { name: 'pattern', type: 'string' },
  ],
  result: 'list',
  example: ['captures("Fixes #12, closes #7 and #12", "#([0-9]+)").join(" ")', '12 7'],
  checkConstants: ([, pattern]) => (typeof pattern === 'string' ? faultOf(pattern) : null),
  patterns: ([, pattern]) => [pattern],
  charge: ([text]) => text.length / 256,
  searches: MAX_CAPTURES * GROUPS_FACTOR,
  run: ([text, pattern], { charge }) => {
    if (text.length > MAX_SUBJECT)
      throw new Error(`captures takes texts of at most ${MAX_SUBJECT} characters, this has ${text.length}`);
    const regex = compileRegex(pattern);
    const matcher = regex.matcher(text);
    const group = regex.groupCount() > 0 ? 1 : 0;
    const captured = new Set<string>();
    for (let [matches, from] = [0, 0]; ; matches += 1) {
      // Each search may look at all that is left of the text: it is paid for before it begins.
      charge(GROUPS_FACTOR * costOfSearch(regex, { length: text.length - from }));
      if (!matcher.find()) break;
      if (matches === MAX_CAPTURES) throw new Error(`captures finds more than ${MAX_CAPTURES} matches`);
      const part = matcher.group(group);
      if (part !== null) captured.add(part);
      from = matcher.end();
    }
    return [...captured];
  },
});

function faultOf(pattern: string): string | null {
  try {
    compileRegex(pattern);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
