import { defineReasons, textOf, type Reason } from '../../core/reason.js';

/**
 * What a person is told in public about what they asked for. The whole text is here: no value of a lookup, no text of a rule, and no name of another
 * repository or of a team can get into it.
 */
export const answerReason = defineReasons({
  'answer.not-allowed': () => 'you may not ask for this here: it takes more rights than you have.',
  /** `on`: where the command stands. */
  'answer.condition': ({ on }: Place) => `not done: this ${on} does not meet the conditions for it.`,
  'answer.too-much': () => 'not done: this asks for more at once than is allowed.',
  'answer.too-often': () => 'not done: this was asked for too often in the last hour. Ask again later.',
  'answer.not-granted': () => 'not done: the operators of the bot do not allow this here.',
  'answer.denied': () => 'not done: it needed an approval, and that was denied.',
  'answer.changed': () => 'not done: something changed meanwhile. Ask again if you still want it.',
  'answer.undone': () => 'not done: a person undid this change earlier, and the bot does not repeat it.',
  'answer.gave-up': (detail: Detail) =>
    `not done: the bot waited for days, in vain${detailOf(detail)}. Ask again when it can be done.`,
  'answer.refused': (detail: Detail) => `not done${detailOf(detail, 'the forge or the bot refused it')}.`,
  'answer.failed': () => 'this failed.',
  'answer.held.approval': () => 'this waits for an approval by the operators of the bot.',
  'answer.held.waits': (detail: Detail) =>
    `this waits${detailOf(detail, 'an approval, a check or a label is missing still')}. The bot looks again by itself.`,
  'answer.held.budget': () => 'this waits: much was asked for in the last hour. The bot goes on by itself.',
  'answer.held.paused': () => 'this waits: the operators paused the bot here.',
  'answer.held.forge': () => 'this waits: the forge does not do it now. The bot tries again by itself.',
  'answer.held.unknown': () => 'the bot does not know yet whether this was done, and looks again.',
  /** Names of commands, without the slash. */
  'answer.help': ({ commands }: { commands: readonly string[] }) =>
    commands.length === 0
      ? 'there is no command here that you may give.'
      : `you may give these commands here: ${commands.map((name) => `\`/${name}\``).join(', ')}.`,
  'answer.done': () => 'what waited is done.',
});

export type AnswerCode = ReturnType<typeof answerReason>['code'];

interface Place {
  readonly on: 'issue' | 'pull request';
}

/** What an action said of it, of which only the open part may be given here; null = nothing that is for the public. */
interface Detail {
  readonly because: Reason | null;
}

/** Behind a colon: what an action says may have brackets of its own. */
function detailOf({ because }: Detail, otherwise: string | null = null): string {
  const text = because === null ? otherwise : textOf(because);
  return text === null ? '' : `: ${text}`;
}

/** For a code that is known only when the program runs; most sentences have no place for the detail. */
export const answerWith = answerReason as (code: AnswerCode, detail: Detail & Place) => Reason;
