import type { JsonObject } from '../core/json.js';
import type { Problem } from '../core/problem.js';
import { VERSION } from '../platform/version.js';

/** Problems as SARIF 2.1.0, which code hosts and editors show beside the lines. Paths become addresses relative to where the check ran. */
export function sarifOf(problems: readonly Problem[]): JsonObject {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        columnKind: 'utf16CodeUnits',
        tool: {
          driver: {
            name: 'forgehand',
            version: VERSION,
            rules: [{ id: 'rule-file', shortDescription: { text: 'A rule file that cannot be used as it is' } }],
          },
        },
        results: problems.map(({ file, line, col, message, hint, level }) => ({
          ruleId: 'rule-file',
          ruleIndex: 0,
          level: level ?? 'error',
          message: { text: hint ? `${message}. ${hint}` : message },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: addressOf(file) },
                region: { startLine: line, startColumn: col },
              },
            },
          ],
        })),
      },
    ],
  };
}

function addressOf(path: string): string {
  const parts = path.split(/[\\/]/).map(encodeURIComponent).join('/');
  return parts.startsWith('/') ? `file://${parts}` : parts;
}
