import type { CommandRow, OptionRow } from './command-table.js';

/** What prints the organizations of the config, one a line. It talks to nobody. */
const ORGS = 'forgehand completion orgs 2>/dev/null';

/** @param table of every command (commandTable) */
type MakeScript = (table: readonly CommandRow[]) => string;

export const COMPLETION_SCRIPTS: Readonly<Record<'bash' | 'zsh' | 'fish', MakeScript>> = {
  bash: (table) => `# Completion of forgehand for bash, written by \`forgehand completion bash\`.
_forgehand() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} at= words= i
  # --role=web comes as three words.
  if [[ $current == = ]]; then current=; elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${pathPattern(table, '|')}) at+=" \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $before" in
${valueCases(table, {
  choice: (words) => `words='${words}'`,
  org: `words=$(${ORGS})`,
  file: 'return',
  text: 'compopt +o default 2>/dev/null; return',
})}
    *) case "$at" in
${table.map((row) => `      '${row.path}') words='${wordsOf(row).join(' ')}' ;;`).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _forgehand forgehand
`,
  zsh: (table) => `#compdef forgehand
# Completion of forgehand for zsh, written by \`forgehand completion zsh\`.
_forgehand() {
  local at= i
  local -a list
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      ${pathPattern(table, '|')}) at+=" \${words[i]}" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${valueCases(table, {
  choice: (words) => `compadd -- ${words}; return`,
  org: `compadd -- \${(f)"$(${ORGS})"}; return`,
  file: '_files; return',
  text: '_message value; return',
})}
  esac
  case "$at" in
${table.map((row) => `    '${row.path}') list=(${described(row)}) ;;`).join('\n')}
  esac
  _describe forgehand list || _files
}
if [[ "\${funcstack[1]}" == _forgehand ]]; then _forgehand "$@"; else compdef _forgehand forgehand; fi
`,
  fish: (table) => `# Completion of forgehand for fish, written by \`forgehand completion fish\`.
function __forgehand_at
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case ${pathPattern(table, ' ')}
        set at "$at $word"
    end
  end
  string match -q -- $argv[1] "$at"
end
complete -c forgehand -e
${table.flatMap(fishLines).join('\n')}
`,
};

/** Paths of the commands as patterns of a \`case\`. */
function pathPattern(table: readonly CommandRow[], between: string): string {
  return table
    .filter(({ path }) => path !== '')
    .map(({ path }) => `'${path}'`)
    .join(between);
}

interface ValueCommands {
  readonly choice: (words: string) => string;
  readonly org: string;
  readonly file: string;
  readonly text: string;
}

/** A case for each option of each command that takes a value. */
function valueCases(table: readonly CommandRow[], commands: ValueCommands): string {
  return table
    .flatMap(({ path, options }) =>
      options.flatMap(({ names, value }) => {
        if (value.kind === 'none') return [];
        const patterns = names.map((name) => `'${path} ${name}'`).join('|');
        const command = value.kind === 'choice' ? commands.choice(value.choices.join(' ')) : commands[value.kind];
        return [`    ${patterns}) ${command} ;;`];
      }),
    )
    .join('\n');
}

function wordsOf({ inner, options }: CommandRow): string[] {
  return [...inner.map(({ name }) => name), ...options.flatMap(({ names }) => names)];
}

/** `name:summary`, as \`_describe\` of zsh takes it. */
function described({ inner, options }: CommandRow): string {
  return [...inner, ...options.flatMap(({ names, summary }) => names.map((name) => ({ name, summary })))]
    .map(({ name, summary }) => `'${name}:${summary.replaceAll("'", "'\\''")}'`)
    .join(' ');
}

function fishLines({ path, inner, options }: CommandRow): string[] {
  const here = `complete -c forgehand -n "__forgehand_at '${path}'"`;
  return [
    ...inner.map(({ name, summary }) => `${here} -f -a ${name} -d ${fishText(summary)}`),
    ...options.map((option) => `${here} ${fishOption(option)} -d ${fishText(option.summary)}`),
  ];
}

function fishOption({ names, value }: OptionRow): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ');
  if (value.kind === 'none') return flags;
  if (value.kind === 'file') return `${flags} -r -F`;
  if (value.kind === 'choice') return `${flags} -x -a '${value.choices.join(' ')}'`;
  return value.kind === 'org' ? `${flags} -x -a '(${ORGS})'` : `${flags} -x`;
}

function fishText(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
