/** What a new repository can be made from: a few of the templates that a stock server carries, by the same names. */

interface LabelTemplate {
  name: string;
  color: string;
  description: string;
}

const DEFAULT_LABELS: readonly LabelTemplate[] = [
  { name: 'bug', color: 'ee0701', description: 'Something is not working' },
  { name: 'duplicate', color: 'cccccc', description: 'This issue or pull request already exists' },
  { name: 'enhancement', color: '84b6eb', description: 'New feature' },
  { name: 'help wanted', color: '128a0c', description: 'Need some help' },
  { name: 'invalid', color: 'e6e6e6', description: 'Something is wrong' },
  { name: 'question', color: 'cc317c', description: 'More information is needed' },
  { name: 'wontfix', color: 'ffffff', description: "This won't be fixed" },
];

export const labelTemplates: ReadonlyMap<string, readonly LabelTemplate[]> = new Map([['Default', DEFAULT_LABELS]]);

/** The sandbox keeps the name of the licence, not its text. */
export const licenseTemplates: ReadonlyMap<string, string> = new Map(
  ['MIT', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'GPL-2.0-only', 'GPL-3.0-only', 'AGPL-3.0-only', 'LGPL-3.0-only', 'MPL-2.0', 'ISC', 'Unlicense'].map(
    (name) => [name, `SPDX-License-Identifier: ${name}\n`],
  ),
);

export const ignoreTemplates: ReadonlyMap<string, string> = new Map([
  ['Go', '*.test\n*.out\nvendor/\n'],
  ['Java', '*.class\n*.jar\n'],
  ['Node', 'node_modules/\n*.log\n'],
  ['Python', '__pycache__/\n*.pyc\n'],
  ['Rust', 'target/\n'],
]);

export const readmeTemplates: ReadonlySet<string> = new Set(['Default']);
