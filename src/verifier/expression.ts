import { CannotDerive } from './failures.js';
import {
  BUILT_IN,
  MACROS,
  METHODS,
  field,
  isThere,
  listOf,
  member,
  operate,
  truth,
  type Evaluate,
  type Functions,
  type Macro,
  type Scope,
  type Value,
} from './operators.js';

interface Token {
  kind: 'number' | 'text' | 'name' | 'sign' | 'end';
  text: string;
}

/**
 * The part of the expression language that the rule files of the demo use, read anew from its description: what it gives is compared with
 * what the bot's own engine led to, so it shares nothing with it.
 */
export function evaluateExpression(text: string, scope: Scope, functions: Functions): Value {
  return new Parser(text, functions).whole()(scope);
}

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?)|(r?)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_]\w*)|(&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()[\]{}]))/y;

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (text.slice(TOKEN.lastIndex).trim() !== '') {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new CannotDerive(`cannot read "${text.slice(at)}"`);
    const [, number, raw, quoted, name, sign] = match;
    if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (quoted !== undefined)
      tokens.push({ kind: 'text', text: raw ? quoted.slice(1, -1) : unquote(quoted.slice(1, -1)) });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else tokens.push({ kind: 'sign', text: sign ?? '' });
  }
  return [...tokens, { kind: 'end', text: '' }];
}

function unquote(text: string): string {
  return text.replace(/\\(.)/g, (_all, char: string) => ({ n: '\n', t: '\t', r: '\r' })[char] ?? char);
}

/** Levels of binding, loosest first. */
const LEVELS: ReadonlyArray<readonly string[]> = [
  ['||'],
  ['&&'],
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
];

class Parser {
  private at = 0;
  private readonly tokens: Token[];

  constructor(
    private readonly text: string,
    private readonly functions: Functions,
  ) {
    this.tokens = tokenize(text);
  }

  whole(): Evaluate {
    const expression = this.choice();
    if (this.now.kind !== 'end') throw this.unexpected();
    return expression;
  }

  private get now(): Token {
    return this.tokens[this.at] as Token;
  }

  private is(sign: string): boolean {
    return this.now.kind !== 'text' && this.now.text === sign;
  }

  private take(sign: string): boolean {
    if (!this.is(sign) || this.now.kind === 'end') return false;
    this.at += 1;
    return true;
  }

  private need(sign: string): void {
    if (!this.take(sign)) throw this.unexpected();
  }

  private unexpected(): CannotDerive {
    return new CannotDerive(`cannot read "${this.now.text}" in "${this.text}"`);
  }

  private choice(): Evaluate {
    const condition = this.level(0);
    if (!this.take('?')) return condition;
    const yes = this.choice();
    this.need(':');
    const no = this.choice();
    return (scope) => (truth(condition(scope)) ? yes(scope) : no(scope));
  }

  private level(depth: number): Evaluate {
    const signs = LEVELS[depth];
    if (!signs) return this.prefix();
    let operand = this.level(depth + 1);
    for (;;) {
      const sign = signs.find((one) => this.is(one));
      if (sign === undefined) return operand;
      this.at += 1;
      const [first, second] = [operand, this.level(depth + 1)];
      operand = (scope) => operate(sign, first, second, scope);
    }
  }

  private prefix(): Evaluate {
    if (this.take('!')) {
      const inner = this.prefix();
      return (scope) => !truth(inner(scope));
    }
    if (this.take('-')) {
      const inner = this.prefix();
      return (scope) => -(inner(scope) as number);
    }
    return this.postfix(this.primary());
  }

  private postfix(subject: Evaluate): Evaluate {
    for (;;) {
      if (this.take('[')) {
        const [inner, index] = [subject, this.choice()];
        this.need(']');
        subject = (scope) => member(inner(scope), index(scope), this.text);
      } else if (this.take('.')) {
        const name = this.name();
        subject = this.take('(') ? this.method(subject, name) : field(subject, name, this.text);
      } else return subject;
    }
  }

  private method(subject: Evaluate, name: string): Evaluate {
    if (MACROS[name]) return this.macro(subject, name);
    const args = this.args(')');
    const method = METHODS[name];
    if (!method) throw new CannotDerive(`no method ${name} is known here`);
    return (scope) => method(subject(scope), ...args.map((arg) => arg(scope)));
  }

  private macro(subject: Evaluate, name: string): Evaluate {
    const variable = this.name();
    this.need(',');
    const inner = this.choice();
    this.need(')');
    return (scope) => (MACROS[name] as Macro)(listOf(subject(scope)), (item) => inner({ ...scope, [variable]: item }));
  }

  private primary(): Evaluate {
    const token = this.now;
    if (token.kind === 'end') throw this.unexpected();
    this.at += 1;
    if (token.kind === 'number') return () => Number(token.text);
    if (token.kind === 'text') return () => token.text;
    if (token.text === '(') {
      const inner = this.choice();
      this.need(')');
      return inner;
    }
    if (token.text === '[') {
      const items = this.args(']');
      return (scope) => items.map((item) => item(scope));
    }
    if (token.kind !== 'name') throw this.unexpected();
    return this.named(token.text);
  }

  private named(name: string): Evaluate {
    if (name === 'true' || name === 'false') return () => name === 'true';
    if (name === 'null') return () => null;
    if (!this.take('(')) return (scope) => member(scope, name, this.text);
    if (name === 'has') {
      const [inner] = this.args(')');
      return (scope) => isThere(() => inner?.(scope));
    }
    const args = this.args(')');
    const run = this.functions[name] ?? BUILT_IN[name];
    if (!run) throw new CannotDerive(`no function ${name} is known here`);
    return (scope) => run(...args.map((arg) => arg(scope)));
  }

  private args(end: string): Evaluate[] {
    const args: Evaluate[] = [];
    while (!this.take(end)) {
      if (args.length > 0) this.need(',');
      args.push(this.choice());
    }
    return args;
  }

  private name(): string {
    const token = this.now;
    if (token.kind !== 'name') throw this.unexpected();
    this.at += 1;
    return token.text;
  }
}

const SECRET = /^\$\{\{\s*secrets\.\w+\s*\}\}$/;
const WHOLE = /^\$\{\{((?:(?!\}\}).)*)\}\}$/s;

/** Fills `${{ }}` at any depth; alone it keeps its type. A secret stays what it is: nobody reads it back. */
export function fillTemplate(value: Value, scope: Scope, functions: Functions): Value {
  if (Array.isArray(value)) return value.map((item) => fillTemplate(item, scope, functions));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, fillTemplate(inner, scope, functions)]),
    );
  }
  if (typeof value !== 'string' || SECRET.test(value)) return value;
  const whole = WHOLE.exec(value);
  if (whole) return evaluateExpression(whole[1] ?? '', scope, functions);
  return value.replace(/\$\{\{((?:(?!\}\}).)*)\}\}/gs, (_all, inner: string) =>
    String(evaluateExpression(inner, scope, functions)),
  );
}
