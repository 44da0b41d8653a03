// Rules of our own for `npm run lint` (.oxlintrc.json). They read names alone, no types.
/** Names of sentences for people. What is called so is never compared: words of a closed list have other names. */
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
    /** Whether `textOf` is that of core/reason: others of the name read fields. */
    let tellsReasons = false;
    const isSentence = (node) => {
      const inner = node.type === 'ChainExpression' ? node.expression : node;
      if (inner.type === 'LogicalExpression') return isSentence(inner.left);
      if (inner.type === 'CallExpression') return tellsReasons && inner.callee.name === 'textOf';
      const name = inner.type === 'Identifier' ? inner.name : !inner.computed && inner.property?.name;
      return SENTENCES.has(name);
    };
    const isText = ({ type, value }) =>
      (type === 'Literal' && typeof value === 'string' && value !== '') || type === 'TemplateLiteral';
    const refuse = (node) => context.report({ node, messageId: 'text' });
    return {
      ImportDeclaration({ source, specifiers }) {
        if (/(^|\/)reason\.js$/.test(source.value))
          tellsReasons ||= specifiers.some(({ local }) => local.name === 'textOf');
      },
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

/** The type within Readonly and Partial, and the arguments of a `Record`; null where it is none. */
function argumentsOfRecord(type) {
  if (type?.type !== 'TSTypeReference') return null;
  const given = type.typeArguments?.params ?? [];
  if (['Readonly', 'Partial'].includes(type.typeName.name)) return argumentsOfRecord(given[0]);
  return type.typeName.name === 'Record' ? given : null;
}

/** `constructor` is in every object: a table that is asked by a word from outside has no prototype, and `in` is for fixed words. */
const noPrototypeTables = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      table: 'make this table with tableOf or emptyTable (src/core/table.ts), or as a Map',
      in: 'ask Object.hasOwn',
    },
  },
  create(context) {
    const lookAt = (node, type, value) => {
      const [key, values] = argumentsOfRecord(type) ?? [];
      // Values of unknown type are parameters under names of our own.
      const isTable = key?.type === 'TSStringKeyword' && values?.type !== 'TSUnknownKeyword';
      if (isTable && value?.type === 'ObjectExpression') context.report({ node, messageId: 'table' });
    };
    return {
      VariableDeclarator(node) {
        lookAt(node, node.id.typeAnnotation?.typeAnnotation, node.init);
      },
      PropertyDefinition(node) {
        lookAt(node, node.typeAnnotation?.typeAnnotation, node.value);
      },
      'BinaryExpression[operator="in"]'({ left }) {
        const isFixed =
          left.type === 'PrivateIdentifier' || typeof left.value === 'string' || /^[A-Z_]+$/.test(left.name);
        if (!isFixed) context.report({ node: left, messageId: 'in' });
      },
    };
  },
};

/** Words that say what happened to a thing and not what the thing is. States (`done`, `sent`) and the words of compare (`wanted`, `seen`) are no part of it. */
const PARTICIPLES = new Set(
  'asked been brought found given gone got heard held kept known left lost meant met said shown taken told'.split(' '),
);

/**
 * A name says what the thing is. It looks at declarations alone: of variables, parameters, functions, and members of classes and types. The parameters
 * of a sentence (`'code.of.it': ({ found }: { found: Reason }) => …`) are stored under their names, and stay.
 */
const noParticipleNames = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { name: '{{name}} says what happened to it: name it by what it is (existingLabel, publishedEvent)' },
  },
  create(context) {
    const lookAt = (node) => {
      if (PARTICIPLES.has(node?.name)) context.report({ node, messageId: 'name', data: { name: node.name } });
    };
    /** A name, or those of a pattern. `{ found }` alone takes the name of a member, which is looked at where it is declared. */
    const lookIn = (node) => {
      if (node?.type === 'Identifier') lookAt(node);
      else if (node?.type === 'AssignmentPattern') lookIn(node.left);
      else if (node?.type === 'RestElement') lookIn(node.argument);
      else if (node?.type === 'TSParameterProperty') lookIn(node.parameter);
      else if (node?.type === 'ArrayPattern') lookInList(node.elements);
      else if (node?.type === 'ObjectPattern')
        for (const entry of node.properties)
          if (entry.type === 'RestElement') lookIn(entry);
          else if (!entry.shorthand) lookIn(entry.value);
    };
    /** `left` beside `right` is a side. */
    const lookInList = (nodes) => {
      const isPair = nodes.some((node) => node?.name === 'right');
      nodes.filter((node) => !(isPair && node?.name === 'left')).forEach(lookIn);
    };
    const lookInFunction = (node) => {
      if (node.type === 'FunctionDeclaration') lookIn(node.id);
      lookInList(node.params);
    };
    const isOfSentence = (node) => {
      const sentence = context.sourceCode.getAncestors(node).findLast(({ type }) => type === 'ArrowFunctionExpression');
      const { parent } = sentence ?? {};
      return parent?.type === 'Property' && typeof parent.key.value === 'string' && parent.key.value.includes('.');
    };
    const lookAtMember = (node) => {
      if (!node.computed && !isOfSentence(node)) lookAt(node.key);
    };
    return {
      VariableDeclarator: ({ id }) => lookIn(id),
      CatchClause: ({ param }) => lookIn(param),
      FunctionDeclaration: lookInFunction,
      FunctionExpression: lookInFunction,
      ArrowFunctionExpression: lookInFunction,
      TSFunctionType: lookInFunction,
      TSMethodSignature(node) {
        lookAtMember(node);
        lookInFunction(node);
      },
      TSPropertySignature: lookAtMember,
      PropertyDefinition: lookAtMember,
      MethodDefinition: lookAtMember,
      TSAbstractPropertyDefinition: lookAtMember,
      TSAbstractMethodDefinition: lookAtMember,
      TSEmptyBodyFunctionExpression: lookInFunction,
    };
  },
};

const CLOCKS = new Set(['Date', 'performance']);

/** A machine with other work takes any time, so no test is about milliseconds that passed. It tells differences of `now()`, also by way of a variable. */
const noTimedAsserts = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { time: 'a busy machine takes any time: count turns, calls, bytes or charged units' },
  },
  create(context) {
    const [nows, spans] = [new Set(), new Set()];
    const isNow = ({ type, name, callee }) =>
      (type === 'Identifier' && nows.has(name)) ||
      (type === 'CallExpression' && callee.property?.name === 'now' && CLOCKS.has(callee.object?.name));
    const isSpan = (node) => {
      if (node?.type === 'Identifier') return spans.has(node.name);
      if (node?.type === 'BinaryExpression') return node.operator === '-' ? isNow(node.left) : isSpan(node.left);
      return node?.type === 'CallExpression' && node.callee.object?.name === 'Math' && isSpan(node.arguments[0]);
    };
    return {
      VariableDeclarator({ id, init }) {
        if (init && isNow(init)) nows.add(id.name);
        if (isSpan(init)) spans.add(id.name);
      },
      'CallExpression[callee.name="expect"]'(node) {
        if (isSpan(node.arguments[0])) context.report({ node, messageId: 'time' });
      },
    };
  },
};

export default {
  meta: { name: 'local' },
  rules: {
    'no-decision-by-text': noDecisionByText,
    'dotted-log-names': dottedLogNames,
    'no-prototype-tables': noPrototypeTables,
    'no-participle-names': noParticipleNames,
    'no-timed-asserts': noTimedAsserts,
  },
};
