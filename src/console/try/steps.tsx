import type { AnswerOf } from '../../api/operations/index.js';
import type { Tone } from '../../api/words.js';
import type { Json } from '../../core/json.js';
import { operationInWords } from '../../forge/operation-words.js';
import { Badge, Section } from '../ui/components.js';
import { CONDITION_TONES } from '../ui/reasons.js';
import { value } from '../ui/words.js';

type Trial = AnswerOf<'tryDraft'>;
type ObjectTrial = AnswerOf<'tryOnObject'>;

const LOOKS: Readonly<Record<ObjectTrial['rules'][number]['effects'][number]['does'], readonly [Tone, string]>> = {
  write: ['good', 'would write'],
  nothing: ['neutral', 'as it is'],
  waits: ['attention', 'would wait'],
  cannot: ['bad', 'cannot'],
  'not-looked': ['attention', 'not known'],
  sealed: ['neutral', 'not shown'],
};

/** One rule and one event, step by step. */
export function StepsView({
  steps: { rule, reason, filters, conditions, steps, lookups, effects },
  looks = [],
  waits = [],
}: {
  steps: NonNullable<Trial['steps']>;
  looks?: ObjectTrial['rules'][number]['effects'];
  waits?: readonly string[];
}) {
  return (
    <Section title={`Step by step: ${rule}`}>
      <p>{reason}</p>
      <ol class="steps">
        {filters.map(({ filter, reason: why }, n) => (
          <Step key={`f${n}`} tone="bad" word="rejected" what={filter} detail={why} />
        ))}
        {lookups.map(({ name, answer }) => (
          <Step key={`l${name}`} tone="info" word="looked up" what={`lookups.${name}`} detail={answer} />
        ))}
        {conditions.map(({ name, text, state, seen, why }) => (
          <Step
            key={`c${name}`}
            tone={CONDITION_TONES[state]}
            word={state}
            what={name}
            code={text}
            detail={why ?? seenText(seen)}
          />
        ))}
        {steps.map(({ id, action, outcome, held }) => (
          <Step key={`s${id}`} tone={held ? 'neutral' : 'good'} word={action} what={id} detail={held?.why ?? outcome} />
        ))}
        {effects.map(({ action, itemKey, params }, n) => (
          <Step key={`e${n}`} tone="good" word="would do" what={`${action} ${itemKey}`} code={value(params)} />
        ))}
        {waits.map((line) => (
          <Step key={`w${line}`} tone="attention" word="before it writes" what={line} />
        ))}
        {looks.map(({ action, itemKey, params, does, operation, reason: why }, n) => (
          <Step
            key={`o${n}`}
            tone={LOOKS[does][0]}
            word={LOOKS[does][1]}
            what={`${action} ${itemKey}`}
            code={value(params)}
            detail={why ?? (operation === null ? '' : operationInWords(operation))}
          />
        ))}
      </ol>
    </Section>
  );
}

function Step({
  tone,
  word,
  what,
  code,
  detail,
}: {
  tone: Tone;
  word: string;
  what: string;
  code?: string;
  detail?: string;
}) {
  return (
    <li>
      <Badge tone={tone}>{word}</Badge> <strong>{what}</strong>
      {code !== undefined && (
        <pre>
          <code>{code}</code>
        </pre>
      )}
      {detail !== undefined && detail !== '' && <p class="muted">{detail}</p>}
    </li>
  );
}

function seenText(values: Readonly<Record<string, Json>>): string {
  return Object.entries(values)
    .map(([path, one]) => `${path} = ${value(one)}`)
    .join(', ');
}
