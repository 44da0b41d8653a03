import { nodeToJson } from '../load/node.js';
import { readDocument } from '../load/read-document.js';
import { SourceFile } from '../load/source-file.js';
import { defineFunction } from './define-function.js';

const MAX_CHARS = 32 * 1024;
/** Steps of parsing one sign that may mean something: each of a hostile text becomes a value, or a mistake that the parser writes up. */
const MARK_STEPS = 8;

/** Files of a repository are written by more people than rules are: the limits of rule files hold for them too. */
export const parseYaml = defineFunction({
  name: 'parse_yaml',
  summary: 'The value of a YAML text (YAML 1.2, at most 32 KB, no tags). An error when it does not parse.',
  params: [{ name: 'text', type: 'string' }],
  result: 'dyn',
  example: ['parse_yaml("{owner: jo, name: web}").owner', 'jo'],
  charge: ([text]) => text.length / 16 + (text.length > MAX_CHARS ? 0 : MARK_STEPS * countMarks(text)),
  run: ([text]) => {
    if (text.length > MAX_CHARS)
      throw new Error(`a YAML text may have ${MAX_CHARS} characters, this has ${text.length}`);
    const file = new SourceFile({ path: 'text', text });
    const node = readDocument(file);
    const [problem] = file.problems;
    if (problem || !node) throw new Error(problem ? `line ${problem.line}: ${problem.message}` : 'the text is empty');
    return nodeToJson(node);
  },
});

/** Signs and line breaks that may mean something to YAML. Counted in linear time. */
function countMarks(text: string): number {
  let marks = 0;
  for (let at = 0; at < text.length; at += 1) if (isMark(text.charCodeAt(at))) marks += 1;
  return marks;
}

const MARKS = new Set([...'\n\r\t!"#%&\'*,-:>?@[]`{|}'].map((sign) => sign.charCodeAt(0)));

function isMark(code: number): boolean {
  return MARKS.has(code);
}
