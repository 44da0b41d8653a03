import { UserError } from '../../core/errors.js';

interface Question {
  /** How the same is said on the command line. */
  readonly flag: string;
  readonly say: string;
}

interface TextQuestion extends Question {
  /** From the command line: then nobody is asked. */
  readonly fromFlags: string | undefined;
  readonly fallback?: string | undefined;
  /** @returns what is wrong with an answer; null = it is taken */
  readonly check: (answer: string) => Promise<string | null> | string | null;
}

interface ChoiceQuestion<Name extends string> extends Question {
  readonly fromFlags: readonly string[] | undefined;
  readonly choices: ReadonlyArray<{ readonly name: Name; readonly about: string }>;
  readonly fallback: readonly Name[];
}

interface ConsentQuestion extends Question {
  readonly fromFlags: boolean | undefined;
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
  async text({ flag, say, fromFlags, fallback, check }: TextQuestion): Promise<string> {
    const answer = fromFlags ?? fallback;
    if (answer === undefined) throw new UserError('INIT_NEEDS', `${say}: give ${flag}`);
    return accepted(answer, flag, check);
  }

  secret(question: Omit<TextQuestion, 'fallback'>): Promise<string> {
    return this.text(question);
  }

  many<Name extends string>(question: ChoiceQuestion<Name>): Promise<Name[]> {
    return Promise.resolve(namesFromFlags(question) ?? [...question.fallback]);
  }

  consent({ fromFlags, unasked }: ConsentQuestion): Promise<boolean> {
    return Promise.resolve(fromFlags ?? unasked);
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

  async text({ flag, say, fromFlags, fallback, check }: TextQuestion): Promise<string> {
    const preset = fromFlags ?? (this.takesDefaults ? fallback : undefined);
    if (preset !== undefined) return accepted(preset, flag, check);
    const { input } = await import('@inquirer/prompts');
    const validate = async (answer: string): Promise<true | string> => (await check(answer)) ?? true;
    const about = { message: say, validate, ...(fallback === undefined ? {} : { default: fallback }) };
    return answered(input(about, this.context()));
  }

  async secret({ flag, say, fromFlags, check }: Omit<TextQuestion, 'fallback'>): Promise<string> {
    if (fromFlags !== undefined) return accepted(fromFlags, flag, check);
    const { password } = await import('@inquirer/prompts');
    const validate = async (answer: string): Promise<true | string> => (await check(answer.trim())) ?? true;
    const about = { message: say, mask: false, toggleMask: false, validate };
    return (await answered(password(about, this.context()))).trim();
  }

  async many<Name extends string>(question: ChoiceQuestion<Name>): Promise<Name[]> {
    const preset = namesFromFlags(question) ?? (this.takesDefaults ? [...question.fallback] : null);
    if (preset) return preset;
    const { checkbox } = await import('@inquirer/prompts');
    const choices = question.choices.map(({ name, about }) => ({
      value: name,
      name,
      description: about,
      checked: question.fallback.includes(name),
    }));
    return answered(checkbox({ message: question.say, choices, pageSize: choices.length }, this.context()));
  }

  async consent({ say, fromFlags, fallback, unasked }: ConsentQuestion): Promise<boolean> {
    if (fromFlags !== undefined) return fromFlags;
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
function namesFromFlags<Name extends string>({ flag, fromFlags, choices }: ChoiceQuestion<Name>): Name[] | null {
  if (fromFlags === undefined) return null;
  const names = fromFlags.filter((name) => name !== 'none');
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
