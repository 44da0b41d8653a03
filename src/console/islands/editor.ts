// The editor of the page "Try it". It takes the place of the text area, marks problems as they are typed, and shows outcomes without leaving the page.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { forceLinting, linter, lintGutter, lintKeymap, type Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { AnswerOf } from '../../api/operations/index.js';
import { EDIT_FIELD } from '../try/edit-fields.js';
import {
  kindsAround,
  keysAt,
  lookupAround,
  meaningOf,
  valuesAt,
  wordsOf,
  type Language,
  type Offer,
} from './editor/language.js';
import { placeAt } from './editor/yaml-place.js';
import { writeTimes } from './page.js';

const CHECK_AFTER_MS = 400;
const LOOK_EVERY_MS = 700;

const meta = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

/** @throws Error with what the bot says */
async function call<Answer>(name: string, body: object): Promise<Answer> {
  const answer = await fetch(`/try/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': meta('csrf') },
    body: JSON.stringify(body),
  });
  const reply = (await answer.json()) as Answer & { message?: string };
  if (!answer.ok) throw new Error(reply.message ?? 'the bot does not answer');
  return reply;
}

/** A file that was opened. */
interface Opened {
  /** As the bot has it; null = it was edited before this page was made. */
  readonly saved: string | null;
  readonly editUrl: string | null;
  state: EditorState;
}

function start(form: HTMLFormElement, area: HTMLTextAreaElement, outcome: HTMLElement): void {
  const pathField = form.querySelector<HTMLInputElement>('input[name="path"]');
  if (!pathField) return;
  const tabs = [...form.querySelectorAll<HTMLButtonElement>('button[name="open"]')];
  const title = form.querySelector<HTMLElement>('#draft-title');
  const forgeEditor = form.querySelector<HTMLAnchorElement>('#edit-at-forge');
  const opened = new Map<string, Opened>();
  const problemsOf = new Map<string, number>();
  let language: Language | null = null;

  const textOf = ({ state }: Opened): string => state.doc.toString();
  const isEdited = (file: Opened): boolean => textOf(file) !== file.saved;
  const fields = (): Record<string, string> => ({
    ...Object.fromEntries(
      [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
    ...Object.fromEntries(
      [...opened]
        .filter(([path, file]) => path !== pathField.value && isEdited(file))
        .map(([path, file]) => [EDIT_FIELD + path, textOf(file)]),
    ),
  });

  const markTabs = (): void => {
    for (const tab of tabs) {
      const file = opened.get(tab.value);
      const problems = problemsOf.get(tab.value) ?? 0;
      const words = [
        ...(file && isEdited(file) ? ['edited'] : []),
        ...(problems > 0 ? [problems === 1 ? '1 problem' : `${problems} problems`] : []),
      ];
      const mark = tab.querySelector<HTMLElement>('[data-mark]');
      if (mark) mark.textContent = words.map((word) => `, ${word}`).join('');
      if (tab.value === pathField.value) tab.setAttribute('aria-current', 'true');
      else tab.removeAttribute('aria-current');
    }
  };

  const check = async (view: EditorView): Promise<Diagnostic[]> => {
    const path = pathField.value;
    try {
      const { problems, warnings } = await call<AnswerOf<'checkDraft'>>('check', fields());
      form.dataset['problems'] = String(problems.length);
      problemsOf.clear();
      for (const { file } of problems) problemsOf.set(file, (problemsOf.get(file) ?? 0) + 1);
      markTabs();
      // Another file was opened meanwhile; it is checked by itself.
      if (path !== pathField.value) return [];
      const elsewhere = problems.find(({ file }) => file !== path);
      const own = [...problems, ...warnings].filter(({ file }) => file === path);
      return [
        ...own.map((problem) => markOf(view.state, problem)),
        ...(elsewhere && own.length === 0
          ? [
              {
                from: 0,
                to: 0,
                severity: 'error' as const,
                message: `${elsewhere.file}:${elsewhere.line}: ${elsewhere.message}`,
              },
            ]
          : []),
      ];
    } catch (error) {
      return [{ from: 0, to: 0, severity: 'warning', message: `This was not checked: ${(error as Error).message}` }];
    }
  };

  const stateOf = (doc: string): EditorState =>
    EditorState.create({
      doc,
      extensions: [
        EditorView.cspNonce.of(meta('csp-nonce')),
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightActiveLine(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        indentUnit.of('  '),
        yaml(),
        syntaxHighlighting(COLOURS),
        LOOK,
        lintGutter(),
        linter(check, { delay: CHECK_AFTER_MS }),
        autocompletion({ override: [(context) => offers(language, context)], activateOnTyping: true }),
        hoverTooltip((tooltipView, at) => hover(language, tooltipView, at)),
        // Tab leaves the editor, as it leaves any field.
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ 'aria-labelledby': 'draft-title', spellcheck: 'false', tabindex: '0' }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          const file = opened.get(pathField.value);
          if (file) file.state = state;
          if (!docChanged) return;
          area.value = state.doc.toString();
          markTabs();
        }),
      ],
    });

  const first = stateOf(area.value);
  opened.set(pathField.value, { saved: area.value, editUrl: forgeEditor?.getAttribute('href') ?? null, state: first });
  // Edits that the page was made with.
  for (const field of form.querySelectorAll<HTMLInputElement>(`input[name^="${EDIT_FIELD}"]`)) {
    opened.set(field.name.slice(EDIT_FIELD.length), { saved: null, editUrl: null, state: stateOf(field.value) });
    field.remove();
  }
  const view = new EditorView({ state: first });
  area.before(view.dom);
  area.hidden = true;
  document.body.dataset['editor'] = 'ready';
  void call<Language>('language', {}).then((answer) => (language = answer));
  forceLinting(view);

  addEventListener('beforeunload', (event) => {
    if ([...opened.values()].some(isEdited)) event.preventDefault();
  });

  let wanted = pathField.value;
  const open = async (path: string): Promise<void> => {
    wanted = path;
    if (!opened.has(path)) {
      const org = form.querySelector<HTMLInputElement>('input[name="org"]')?.value ?? '';
      const { text, editUrl } = await call<{ text: string; editUrl: string | null }>('file', { org, path });
      if (!opened.has(path)) opened.set(path, { saved: text, editUrl, state: stateOf(text) });
    }
    const file = opened.get(path);
    if (!file || wanted !== path || pathField.value === path) return;
    pathField.value = path;
    area.value = textOf(file);
    view.setState(file.state);
    if (title) title.textContent = path;
    if (forgeEditor) {
      forgeEditor.hidden = file.editUrl === null;
      forgeEditor.href = file.editUrl ?? '';
    }
    markTabs();
    forceLinting(view);
  };

  const tell = (message: string): string => {
    const paragraph = document.createElement('p');
    paragraph.className = 'callout callout-bad';
    paragraph.textContent = message;
    return paragraph.outerHTML;
  };

  let lastNo = 0;
  const ask = async (values: Record<string, string>): Promise<void> => {
    const no = (lastNo += 1);
    outcome.setAttribute('aria-busy', 'true');
    let html: string;
    let goesOn = false;
    try {
      const reply = await call<{ html: string; isUnderWay: boolean }>('outcome', values);
      [html, goesOn] = [reply.html, reply.isUnderWay];
    } catch (error) {
      html = tell((error as Error).message);
    }
    if (no !== lastNo) return;
    outcome.removeAttribute('aria-busy');
    // Written by the server's own components, which escape every value.
    outcome.innerHTML = html;
    prepare(outcome);
    chooseEvent(form, outcome.querySelector<HTMLElement>('[data-event]')?.dataset['event']);
    if (goesOn)
      setTimeout(() => no === lastNo && void ask({ org: values['org'] ?? '', do: 'progress' }), LOOK_EVERY_MS);
  };
  const openOrTell = (path: string): Promise<void> =>
    open(path).catch((error: unknown) => void (outcome.innerHTML = tell((error as Error).message)));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const { submitter } = event as SubmitEvent & { submitter: HTMLButtonElement | null };
    if (submitter?.name === 'open') {
      void openOrTell(submitter.value);
      return;
    }
    void ask({ ...fields(), ...(submitter?.name ? { [submitter.name]: submitter.value } : {}) });
    if (submitter?.value === 'check') forceLinting(view);
  });
  const show = (link: HTMLElement): void => {
    const line = view.state.doc.line(Math.min(Number(link.dataset['line']), view.state.doc.lines));
    const at = Math.min(line.from + Number(link.dataset['col']) - 1, line.to);
    view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    view.focus();
  };
  outcome.addEventListener('click', (event) => {
    const link = (event.target as Element).closest<HTMLElement>('a[data-line]');
    const file = link?.dataset['file'] ?? '';
    if (!link || !tabs.some(({ value }) => value === file)) return;
    event.preventDefault();
    void openOrTell(file).then(() => {
      if (pathField.value === file) show(link);
    });
  });
  prepare(outcome);
}

/** What is asked next is asked about the event that was tried. */
function chooseEvent(form: HTMLFormElement, id: string | undefined): void {
  const select = form.querySelector<HTMLSelectElement>('select[name="event"]');
  if (!select || id === undefined) return;
  if (![...select.options].some(({ value }) => value === id)) select.add(new Option(`event ${id.slice(-8)}`, id));
  select.value = id;
}

/** What only JavaScript can do with an outcome. */
function prepare(outcome: HTMLElement): void {
  writeTimes(outcome);
  const textOf = (id: string | undefined): string =>
    document.querySelector<HTMLTextAreaElement>(`#${id ?? ''}`)?.value ?? '';
  for (const button of outcome.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(textOf(button.dataset['copy'])).then(() => (button.textContent = 'Copied'));
    });
  }
  for (const button of outcome.querySelectorAll<HTMLButtonElement>('[data-save]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([textOf(button.dataset['save'])], { type: 'application/yaml' }));
      link.download = button.dataset['name'] ?? 'fixture.test.yaml';
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }
}

type Problem = AnswerOf<'checkDraft'>['problems'][number];

/** From its place to the end of the word. */
function markOf(state: EditorState, { line, col, message, hint, level }: Problem): Diagnostic {
  const at = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
  const from = Math.min(at.from + Math.max(col, 1) - 1, at.to);
  const word = /^[^\s,{}[\]]+/.exec(state.doc.sliceString(from, at.to))?.[0].length ?? 0;
  return {
    from,
    to: Math.min(at.to, from + Math.max(word, 1)),
    severity: level === 'warning' ? 'warning' : 'error',
    message: hint === undefined ? message : `${message}\n${hint}`,
  };
}

const DOTTED = /[A-Za-z_][\w-]*(?:\.[\w-]*)*$/;

function offers(language: Language | null, context: CompletionContext): CompletionResult | null {
  if (!language) return null;
  const text = context.state.doc.toString();
  const place = placeAt(text, context.pos);
  const typed = context.matchBefore(DOTTED)?.text ?? '';
  if (typed === '' && !context.explicit) return null;
  const names = typed.split('.');
  const kinds = kindsAround(language, text, context.pos);
  const used = lookupAround(text, context.pos);
  const fields = place.key === null ? [] : wordsOf(language, kinds, names.slice(0, -1));
  if (names.length > 1 && fields.length > 0) return resultOf(context.pos - (names.at(-1)?.length ?? 0), fields);
  const values =
    place.key === null
      ? keysAt(language, place.path, used)
      : valuesAt(language, place.key === '' ? place.path : [...place.path, place.key], used);
  const choices = values.length > 0 ? values : fields;
  return choices.length === 0 ? null : resultOf(context.pos - typed.length, choices);
}

const TYPES = { key: 'property', value: 'enum', field: 'variable', function: 'function' } as const;

function resultOf(from: number, choices: readonly Offer[]): CompletionResult {
  return {
    from,
    validFor: /^[\w.-]*$/,
    options: choices.map(({ word, kind, detail }) => ({
      label: word,
      type: TYPES[kind],
      ...(detail === '' ? {} : { info: detail }),
      ...(kind === 'key' ? { apply: `${word}: ` } : {}),
    })),
  };
}

function hover(language: Language | null, view: EditorView, at: number) {
  if (!language) return null;
  const line = view.state.doc.lineAt(at);
  const text = view.state.doc.toString();
  for (const { index, 0: whole } of line.text.matchAll(/[A-Za-z_][\w-]*(?:\.[\w-]+)*/g)) {
    const [from, to] = [line.from + index, line.from + index + whole.length];
    if (at < from || at > to) continue;
    const upTo = whole.indexOf('.', at - from);
    const dotted = (upTo === -1 ? whole : whole.slice(0, upTo)).split('.');
    const place = placeAt(text, from);
    const kinds = kindsAround(language, text, at);
    const used = lookupAround(text, at);
    const meaning =
      meaningOf(language, place, whole, whole.split('.'), kinds, used) ??
      meaningOf(language, place, dotted.at(-1) ?? '', dotted, kinds, used);
    if (meaning === null) return null;
    return {
      pos: from,
      end: to,
      create: () => {
        const dom = document.createElement('div');
        dom.className = 'cm-meaning';
        dom.textContent = meaning;
        return { dom };
      },
    };
  }
  return null;
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--link)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.bool, tags.number, tags.keyword], color: 'var(--attention)' },
]);

const LOOK = EditorView.theme({
  '&': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    borderRadius: '8px',
    fontSize: 'var(--small)',
    height: 'min(70vh, 48rem)',
  },
  '&.cm-focused': { outline: '3px solid var(--main)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--page)',
    color: 'var(--muted)',
    borderRight: '1px solid var(--line)',
    borderRadius: '8px 0 0 8px',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--info-bg) 45%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--main) 28%, transparent)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--main)', color: 'var(--on-main)' },
  '.cm-completionInfo, .cm-meaning': {
    maxWidth: '26rem',
    padding: '6px 10px',
    whiteSpace: 'pre-wrap',
    fontFamily: 'var(--sans)',
  },
  '.cm-diagnostic': { fontFamily: 'var(--sans)', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--attention)' },
  // In place of images out of the style, which the policy of the page refuses.
  '.cm-lint-marker': { width: '10px', height: '10px', margin: '5px 2px', borderRadius: '50%' },
  '.cm-lint-marker-error': { content: '""', backgroundColor: 'var(--bad)' },
  '.cm-lint-marker-warning': { content: '""', backgroundColor: 'var(--attention)', borderRadius: '2px' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--attention)',
    textUnderlineOffset: '3px',
  },
});

// At the end: what it needs is there by now.
const form = document.querySelector<HTMLFormElement>('#try');
const area = form?.querySelector<HTMLTextAreaElement>('textarea[name="text"]');
const outcome = document.querySelector<HTMLElement>('#outcome');
if (form && area && outcome) start(form, area, outcome);
