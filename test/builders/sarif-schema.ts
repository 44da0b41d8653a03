import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';

/** The schema of the standard's last draft, which became the standard; it is written for draft 4, of which it uses nothing that draft 7 changed. */
function published(): object {
  const path = createRequire(import.meta.url).resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
  const { $schema: _draft, id: _id, ...schema } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  return schema;
}

const validate = new Ajv({
  strict: false,
  allErrors: true,
  // One of its patterns is none to the stricter reading.
  unicodeRegExp: false,
  formats: {
    uri: (text) => URL.canParse(text),
    'uri-reference': (text) => URL.canParse(text, 'https://example.org/folder/') && !/[\s\\<>"{}|^`]/.test(text),
    'date-time': (text) => !Number.isNaN(Date.parse(text)),
  },
}).compile(published());

/** What the published schema says against a log. */
export function sarifErrors(log: unknown): string[] {
  return validate(JSON.parse(JSON.stringify(log)))
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
