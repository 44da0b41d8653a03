import { nodeToJson } from '../load/node.js';
import { readDocument } from '../load/read-document.js';
import { SourceFile } from '../load/source-file.js';
import { defineFunction } from './define-function.js';

const MAX_CHARS = 32 * 1024;

/** Files of a repository are written by more people than rules are: the limits of rule files hold for them too. */
export const parseYaml = defineFunction({
  name: 'parse_yaml',
  summary: 'The value of a YAML text (YAML 1.2, at most 32 KB, no tags). An error when it does not parse.',
  params: [{ name: 'text', type: 'string' }],
  result: 'dyn',
  example: ['parse_yaml("{owner: jo, name: web}").owner', 'jo'],
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
