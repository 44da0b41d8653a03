import { UserError } from '../../core/errors.js';

interface Question {
  /** How the same is said on the command line. */
  readonly flag: string;
  readonly say: string;
}

interface TextQuestion extends Question {
  /** From the command line: then nobody is asked. */
  readonly given: string | undefined;
  readonly fallback?: string | undefined;
  /** @returns what is wrong with an answer; null = it is taken */
  readonly check: (answer: string) => Promise<string | null> | string | null;
}

interface ChoiceQuestion<Name extends string> extends Question {
  readonly given: readonly string[] | undefined;
  readonly choices: ReadonlyArray<{ readonly name: Name; readonly about: string }>;
  readonly fallback: readonly Name[];
}

interface ConsentQuestion extends Question {
  readonly given: boolean | undefined;
  /** What Enter says. */
  readonly fallback: boolean;
  /** What is taken where nobody can be asked. */
  readonly unasked: boolean;
}

/** Where answers come from. */
export interface Asker {
  text(question: TextQuestion): Promise<string>;
  /** Read without echo; never from the command line. */
  secret(question: Omit<TextQuestion, 'fallback'>): Promise<string>;
  many<Name extends string>(question: ChoiceQuestion<Name>): Promise<Name[]>;
  consent(question: ConsentQuestion): Promise<boolean>;
}

/** The person does not want to go on. */
export class Stopped extends Error {}

/** Flags and defaults alone: for scripts, and for `--yes`. */
export class FlagAsker implements Asker {
  async text({ flag, say, given, fallback, check }: TextQuestion): Promise<string> {
    const answer = given ?? fallback;
    if (answer === undefined) throw new UserError('INIT_NEEDS', `${say}: give ${flag}`);
    return accepted(answer, flag, check);
  }

  secret(question: Omit<TextQuestion, 'fallback'>): Promise<string> {
    return this.text(question);
  }

  many<Name extends string>(question: ChoiceQuestion<Name>): Promise<Name[]> {
    return Promise.resolve(chosen(question) ?? [...question.fallback]);
  }

  consent({ given, unasked }: ConsentQuestion): Promise<boolean> {
    return Promise.resolve(given ?? unasked);
  }
}

/** A person at a terminal answers what no flag says. */
export class TerminalAsker implements Asker {
  /**
   * @param takesDefaults ask only what has no default
   * @param signal ends the question that stands, as Ctrl-C does
   */
  constructor(
    private readonly takesDefaults: boolean,
    private readonly signal: AbortSignal,
  ) {}

  async text({ flag, say, given, fallback, check }: TextQuestion): Promise<string> {
    const known = given ?? (this.takesDefaults ? fallback : undefined);
    if (known !== undefined) return accepted(known, flag, check);
    const { input } = await import('@inquirer/prompts');
    const validate = async (answer: string): Promise<true | string> => (await check(answer)) ?? true;
    const about = { message: say, validate, ...(fallback === undefined ? {} : { default: fallback }) };
    return answered(input(about, this.context()));
  }

  async secret({ flag, say, given, check }: Omit<TextQuestion, 'fallback'>): Promise<string> {
    if (given !== undefined) return accepted(given, flag, check);
    const { password } = await import('@inquirer/prompts');
    const validate = async (answer: string): Promise<true | string> => (await check(answer.trim())) ?? true;
    const about = { message: say, mask: false, toggleMask: false, validate };
    return (await answered(password(about, this.context()))).trim();
  }

  async many<Name extends string>(question: ChoiceQuestion<Name>): Promise<Name[]> {
    const given = chosen(question) ?? (this.takesDefaults ? [...question.fallback] : null);
    if (given) return given;
    const { checkbox } = await import('@inquirer/prompts');
    const choices = question.choices.map(({ name, about }) => ({
      value: name,
      name,
      description: about,
      checked: question.fallback.includes(name),
    }));
    return answered(checkbox({ message: question.say, choices, pageSize: choices.length }, this.context()));
  }

  async consent({ say, given, fallback, unasked }: ConsentQuestion): Promise<boolean> {
    if (given !== undefined) return given;
    if (this.takesDefaults) return unasked;
    const { confirm } = await import('@inquirer/prompts');
    return answered(confirm({ message: say, default: fallback }, this.context()));
  }

  /** @throws Stopped when the person ended it before the question */
  private context(): { signal: AbortSignal } {
    if (this.signal.aborted) throw new Stopped();
    return { signal: this.signal };
  }
}

const ENDED: ReadonlySet<string> = new Set(['ExitPromptError', 'AbortPromptError']);

async function accepted(answer: string, flag: string, check: TextQuestion['check']): Promise<string> {
  const wrong = await check(answer);
  if (wrong !== null) throw new UserError('INIT_ANSWER', `${flag}: ${wrong}`);
  return answer;
}

/** @returns null when no flag says it */
function chosen<Name extends string>({ flag, given, choices }: ChoiceQuestion<Name>): Name[] | null {
  if (given === undefined) return null;
  const names = given.filter((name) => name !== 'none');
  const unknown = names.find((name) => !choices.some((choice) => choice.name === name));
  if (unknown !== undefined)
    throw new UserError(
      'INIT_ANSWER',
      `${flag}: there is no "${unknown}": choose among ${choices.map(({ name }) => name).join(', ')}, or none`,
    );
  return choices.flatMap(({ name }) => (names.includes(name) ? [name] : []));
}

/** Ctrl-C at a prompt, or a signal, ends the command as at any other time. */
async function answered<T>(prompt: Promise<T>): Promise<T> {
  try {
    return await prompt;
  } catch (error) {
    if (error instanceof Error && ENDED.has(error.name)) throw new Stopped();
    throw error;
  }
}
