import ts from 'typescript';
import tseslint from 'typescript-eslint';

/** Names of sentences for people. */
const SENTENCES = new Set(['reason', 'said', 'told', 'because', 'message']);
const SEARCHES = new Set([
  'includes',
  'startsWith',
  'endsWith',
  'match',
  'matchAll',
  'search',
  'indexOf',
  'localeCompare',
]);
/** SQL that picks rows by a sentence. */
const SQL = /\breason\s*(?:=|<>|!=|~|I?LIKE\b)\s*'/i;

/** A reason has a code; a program that reads the sentence breaks with the next better wording. */
const noDecisionByText = {
  meta: { type: 'problem', schema: [], messages: { text: 'this reads a sentence for people: compare its code' } },
  create(context) {
    const services = context.sourceCode.parserServices;
    /** Words of a closed list are codes, whatever they are called. */
    const isFreeText = (node) => {
      const type = services.getTypeAtLocation(node);
      return (type.types ?? [type]).some((one) => (one.flags & ts.TypeFlags.String) !== 0);
    };
    const isSentence = (node) => {
      const inner = node.type === 'ChainExpression' ? node.expression : node;
      if (inner.type === 'LogicalExpression') return isSentence(inner.left);
      if (inner.type === 'CallExpression')
        return (
          inner.callee.name === 'textOf' &&
          services.getTypeAtLocation(inner.arguments[0]).getProperty('code') !== undefined
        );
      const name = inner.type === 'Identifier' ? inner.name : !inner.computed && inner.property?.name;
      return SENTENCES.has(name) && isFreeText(inner);
    };
    const isText = ({ type, value }) =>
      (type === 'Literal' && typeof value === 'string' && value !== '') || type === 'TemplateLiteral';
    const refuse = (node) => context.report({ node, messageId: 'text' });
    return {
      CallExpression(node) {
        const { callee } = node;
        if (callee.type !== 'MemberExpression' || callee.computed) return;
        if (SEARCHES.has(callee.property.name) && isSentence(callee.object)) refuse(node);
        if (['test', 'exec'].includes(callee.property.name) && node.arguments[0] && isSentence(node.arguments[0]))
          refuse(node);
      },
      BinaryExpression(node) {
        if (!['===', '!=='].includes(node.operator)) return;
        if ((isText(node.left) && isSentence(node.right)) || (isText(node.right) && isSentence(node.left)))
          refuse(node);
      },
      SwitchStatement(node) {
        if (isSentence(node.discriminant)) refuse(node);
      },
      'Literal, TemplateElement'(node) {
        const text = typeof node.value === 'string' ? node.value : node.value?.raw;
        if (typeof text === 'string' && SQL.test(text)) refuse(node);
      },
    };
  },
};

const LOG_NAME = /^[a-z]+(-[a-z]+)*(\.[a-z]+(-[a-z]+)*)+$/;

/** Lines of a log are found by their name, and what differs between two of them stands in fields. */
const dottedLogNames = {
  meta: { type: 'problem', schema: [], messages: { name: 'a log line has a dotted name, and its facts as fields' } },
  create(context) {
    const isName = (node) =>
      node?.type === 'TemplateLiteral'
        ? /^[a-z]+\.$/.test(node.quasis[0].value.raw)
        : node?.type === 'Literal' && LOG_NAME.test(node.value);
    return {
      'CallExpression[callee.property.name=/^(debug|info|warn|error|fatal)$/]'(node) {
        const { object } = node.callee;
        const name = object.type === 'MemberExpression' ? object.property.name : object.name;
        if (/logger$/i.test(name ?? '') && !isName(node.arguments.at(-1))) context.report({ node, messageId: 'name' });
      },
    };
  },
};

export default tseslint.config(
  { ignores: ['dist/**', 'build/**', '**/node_modules/**', 'coverage/**', 'data/**'] },
  {
    files: ['src/**/*.{ts,tsx}', 'test/**/*.{ts,tsx}', 'bench/**/*.ts'],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': ['error', { ignoreIIFE: true }],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      eqeqeq: ['error', 'always'],
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      'prefer-const': 'error',
      'no-var': 'error',
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    // Migrations bring what was stored before there were codes; what the sandbox says stands for a forge.
    ignores: ['**/*.spec.{ts,tsx}', 'src/store/migrations/**', 'src/sandbox/**'],
    plugins: { local: { rules: { 'no-decision-by-text': noDecisionByText, 'dotted-log-names': dottedLogNames } } },
    rules: { 'local/no-decision-by-text': 'error', 'local/dotted-log-names': 'error' },
  },
  // In a test a missing value fails it anyway, with the line.
  { files: ['**/*.spec.{ts,tsx}', 'test/**/*.{ts,tsx}'], rules: { '@typescript-eslint/no-non-null-assertion': 'off' } },
);
