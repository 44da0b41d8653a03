import type { ComponentChildren } from 'preact';
import { toneOf } from '../../api/words.js';
import type { AnswerOf } from '../../api/operations/index.js';
import { stringifyJson, type Json } from '../../core/json.js';
import { Badge, ConfirmForm, type Filter } from './components.js';

/** Words of the domain as the pages show them: states, places, effects. */

export type ActivityRow = AnswerOf<'activity'>['rows'][number];
export type Plan = NonNullable<AnswerOf<'planOf'>['plan']>;
type EffectCount = Omit<ActivityRow['runs'][number]['effects'][number], 'repoId'>;

/** A state of an effect, a run, a plan or a check, in the word that every list uses. */
export function State({ of, mode }: { of: string; mode?: string | undefined }) {
  const text = of === 'unknown' ? 'not known' : of;
  return (
    <>
      <Badge tone={toneOf(of) ?? 'neutral'}>{text}</Badge>
      {mode === 'dry-run' && (
        <>
          {' '}
          <Badge>dry run</Badge>
        </>
      )}
    </>
  );
}

export const eventPath = (id: string): string => `/events/${encodeURIComponent(id)}`;
export const runPath = (id: string): string => `/runs/${encodeURIComponent(id)}`;
export const effectPath = (id: string): string => `/effects/${encodeURIComponent(id)}`;
export const deliveryPath = (id: string): string => `/deliveries/${encodeURIComponent(id)}`;
export const planPath = (hash: string): string => `/plans/${encodeURIComponent(hash)}`;
export const rulePath = (org: string, rule: string): string =>
  `/rules/${encodeURIComponent(org)}/${encodeURIComponent(rule)}`;
/** What a schedule would do now. */
export const dryPath = (org: string, schedule: string): string =>
  `/jobs/dry?${new URLSearchParams({ org, schedule }).toString()}`;
/** Why a rule did or did not take an event. */
export const decisionPath = (eventId: string, rule: string): string =>
  `${eventPath(eventId)}/rules/${encodeURIComponent(rule)}`;
export const activityPath = (filter: Readonly<Record<string, string>>): string =>
  `/activity?${new URLSearchParams(filter).toString()}`;

/** Effects of a run in words: `label.ensure ×13 done`. */
export function Effects({ effects }: { effects: readonly EffectCount[] }) {
  if (effects.length === 0) return null;
  return (
    <ul class="lines">
      {effects.map(({ action, count, state, mode, reason }, n) => (
        <li key={n}>
          <code>{action}</code>
          {count > 1 && ` ×${count}`} <State of={state} mode={mode} />
          {reason !== null && state !== 'unchanged' && state !== 'done' && <span class="muted"> {reason}</span>}
        </li>
      ))}
    </ul>
  );
}

/** Equal deliveries, and other arrivals that told the same. */
export function duplicatesOf(sources: ActivityRow['sources']): number {
  return sources.length - 1 + sources.reduce((sum, { repeats }) => sum + repeats, 0);
}

export function placeText({ file, line }: { file: string; line: number }): string {
  return `${file}:${line}`;
}

/** An expression as it stands in a list. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

/** By organization, for whoever sees several. */
export function orgFilters(orgs: readonly string[]): Filter[] {
  if (orgs.length <= 1) return [];
  const field = { name: 'org', label: 'Organization' };
  return orgs.length > CHOICES
    ? [{ ...field, placeholder: 'name' }]
    : [{ ...field, options: orgs.map((org) => [org, org] as const) }];
}

/** More organizations than that are typed, not chosen: a page has room for so many. */
const CHOICES = 50;

/**
 * A field of a form for one of some organizations.
 * @param all what the choice of all of them is called. Default: one must be chosen
 */
export function OrgField({
  orgs,
  chosen,
  all,
}: {
  orgs: readonly string[];
  chosen?: string | undefined;
  all?: string;
}) {
  return (
    <label class="field">
      <span>Organization</span>
      {orgs.length > CHOICES ? (
        <input
          name="org"
          value={chosen ?? ''}
          placeholder={all ?? 'name'}
          required={all === undefined}
          maxLength={200}
        />
      ) : (
        <select name="org">
          {all !== undefined && <option value="">{all}</option>}
          {orgs.map((org) => (
            <option value={org} selected={org === chosen} key={org}>
              {org}
            </option>
          ))}
        </select>
      )}
    </label>
  );
}

const MOST = 300;

/** A value as a rule saw it. */
export function value(of: Json): string {
  const text = typeof of === 'string' && /^\(.*\)$/.test(of) ? of : stringifyJson(of);
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
}

/** Values seen, by their path. */
export function ReadValues({ values }: { values: Readonly<Record<string, Json>> }) {
  const entries = Object.entries(values);
  if (entries.length === 0) return null;
  return (
    <ul class="lines">
      {entries.map(([path, one]) => (
        <li key={path}>
          <code>
            {path} = {value(one)}
          </code>
        </li>
      ))}
    </ul>
  );
}

/** An act behind its name: the preview and the question for a reason open on demand, also without JavaScript. */
export function Act({
  name,
  about,
  button,
  fields,
  tone = 'neutral',
  children,
}: {
  /** Verb and object, in the list of acts. */
  name: string;
  /** For those who hear the page and do not see what is beside it. */
  about?: string;
  button: string;
  fields: Readonly<Record<string, string>>;
  tone?: 'neutral' | 'bad';
  /** What it will do. */
  children: ComponentChildren;
}) {
  return (
    <details class="act">
      <summary>
        {name}
        {about !== undefined && <span class="unseen"> {about}</span>}
      </summary>
      <ConfirmForm button={button} fields={fields} tone={tone}>
        {children}
      </ConfirmForm>
    </details>
  );
}
