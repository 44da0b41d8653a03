import type { Problem, Position } from '../../../core/problem.js';
import { hashOf } from '../../../core/ids.js';
import { atOnce } from '../../../core/in-slices.js';
import { compilePolicy } from '../compile/compile-policy.js';
import { compileRule } from '../compile/compile-rule.js';
import type { FileContext } from '../compile/file-context.js';
import { itemKey } from '../compile/item-positions.js';
import type { CompiledPolicy, CompiledRule, LoadEnvironment, LoadResult, RuleFile } from '../revision.js';
import { didYouMean } from '../../../core/did-you-mean.js';
import { createLabels } from './create-labels.js';
import { checkTogether } from './check-together.js';
import { loopSteps } from './find-loops.js';
import type { YamlNode } from './node.js';
import { describeNode } from './node.js';
import { SharedFiles } from './extends.js';
import { readVars, warnOfUnread } from './file-vars.js';
import { GRAMMAR } from '../grammar.js';
import { otherToolOf } from '../habits/other-tools.js';
import { compileOnce } from './compiled-once.js';
import { rememberSources } from './revision-sources.js';
import { knownKindsOf, raisesOf, stepsOf } from './raised-kinds.js';
import { unaskedRules } from './unasked-rules.js';
import { documentSteps } from './read-document.js';
import { isWordOf, readMap } from './read-map.js';
import type { ReadMap } from './read-map.js';
import { asList, isRefused, suggest } from './read-shape.js';
import type { Text } from './read-shape.js';
import { EnoughProblems, SourceFile } from './source-file.js';

const VERSION = 1;

/**
 * All files of an organization as one revision. Nothing is taken from a set with a mistake in it: either everything loads, or every
 * mistake of every file is told, sorted by file, line and column.
 */
export function loadRules(files: readonly RuleFile[], env: LoadEnvironment): LoadResult {
  return atOnce(loadSteps(files, env));
}

/** The same with stops for `inSlices`: none of what lies between two takes longer than 50 ms. */
export function* loadSteps(files: readonly RuleFile[], env: LoadEnvironment): Generator<void, LoadResult> {
  const shared = new SharedFiles(files, env.wasActive);
  const own = files.filter((file) => file.shared === undefined).map((file) => new SourceFile(file, env.wasActive));
  const loaded: LoadedFile[] = [];
  for (const file of own) {
    yield;
    loaded.push((yield* untilEnough(loadFile(file, env, shared))) ?? { rules: [], policies: [] });
  }
  yield;
  const sources = [...own, ...shared.sources];
  const policies = loaded.flatMap((one) => one.policies);
  const written = loaded.flatMap((one) => one.rules);
  const { rules, problems: uncreated } = createLabels(written, policies, env.actions.get('label.ensure'), env.org);
  for (const { position, message, hint } of uncreated)
    tellUntilEnough(() => sources.find(({ path }) => path === position.file)?.problemAt(position, message, hint));
  checkUnique(
    sources,
    loaded.flatMap((one) => [...one.rules, ...one.policies]),
    shared,
  );
  checkBotRules(sources, rules, policies);
  yield;
  if (env.checkTypes) {
    yield* checkLoops(sources, rules, policies, env.org);
    for (const { position, message, hint } of yield* unaskedRules(rules, policies, env.org))
      sources.find(({ path }) => path === position.file)?.warnAt(position, message, hint);
    for (const { position, message, hint, isWarning } of checkTogether(rules, policies, env.org)) {
      const file = sources.find(({ path }) => path === position.file);
      if (isWarning) file?.warnAt(position, message, hint);
      else tellUntilEnough(() => file?.newProblemAt(position, message, hint));
    }
    yield;
  }
  const problems = sources.flatMap((file) => file.problems).sort(byPlace);
  const warnings = sources.flatMap((file) => file.warnings).sort(byPlace);
  if (problems.length > 0) return { ok: false, problems, warnings };
  return {
    ok: true,
    revision: rememberSources(Object.freeze({ org: env.org, hash: hashOfFiles(files), rules, policies }), files, env),
    warnings,
  };
}

/** SHA-256 over names and texts, in the order of the names: one state of the files has one hash in every process. */
export function hashOfFiles(files: readonly RuleFile[]): string {
  const named = files.map(({ name, path, text }) => [name ?? path, text] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return hashOf(...named.flat());
}

/** Null when the file had so many mistakes that the rest of it was not looked at. */
function* untilEnough<Read>(read: Generator<void, Read>): Generator<void, Read | null> {
  try {
    return yield* read;
  } catch (error) {
    if (error instanceof EnoughProblems) return null;
    throw error;
  }
}

function tellUntilEnough(tell: () => void): void {
  try {
    tell();
  } catch (error) {
    if (!(error instanceof EnoughProblems)) throw error;
  }
}

interface LoadedFile {
  readonly rules: readonly CompiledRule[];
  readonly policies: readonly CompiledPolicy[];
}

/** Whoever read the bytes put U+FFFD where they are no UTF-8. */
function isUtf8(file: SourceFile): boolean {
  const { text } = file;
  const isWide = /^\uFFFD\uFFFD|^.?\0|^.\0/.test(text);
  const at = isWide ? 0 : text.search(/[\uFFFD\0]/);
  if (at === -1) return true;
  if (isWide) file.newProblem(0, 'the file is UTF-16, and rule files are UTF-8', 'save it with the encoding UTF-8');
  else file.newProblem(at, 'these bytes are no UTF-8', 'save the file with the encoding UTF-8');
  return !isWide;
}

/** A file of another tool is told so, once; its keys would only be told one by one. */
function readFile(file: SourceFile, root: YamlNode): ReadMap<'file'> | null {
  const own = root.kind === 'map' ? root.entries.map(({ key }) => key) : null;
  const tool = own && (otherToolOf(own) ?? (isForeign(own) ? 'the file of another program' : null));
  const hint = 'a rule file has version: 1, org, and rules or policies';
  if (tool === null) {
    if (root.kind === 'map' || isRefused(root)) return readMap(file, root, 'file');
    file.problem(root.start, `the file must be a map of keys, this is ${describeNode(root)}`, hint);
    return null;
  }
  file.problem(root.start, `this is ${tool}, and no rule file`, hint);
  return null;
}

/** Not one key is ours, or nearly so. */
function isForeign(keys: readonly string[]): boolean {
  const fileKeys = Object.keys(GRAMMAR.file.keys);
  return (
    keys.length > 0 &&
    keys.every((key) => !fileKeys.includes(key) && didYouMean(key, fileKeys) === null && !isWordOf('file', key))
  );
}

function* loadFile(file: SourceFile, env: LoadEnvironment, shared: SharedFiles): Generator<void, LoadedFile> {
  const nothing = { rules: [], policies: [] };
  const root = isUtf8(file) ? yield* documentSteps(file) : null;
  yield;
  const keys = root && readFile(file, root);
  if (!keys) return nothing;
  checkVersion(file, keys.node('version'));
  checkOrg(file, keys.value('org'), env.org);
  const layers = shared.layersOf(file, keys.value('extends'));
  for (const layer of layers) {
    checkVersion(layer.file, layer.keys.node('version'));
    checkOrg(layer.file, layer.keys.value('org'), env.org);
  }
  const varsLayers = [...layers, { file, keys }].map((layer) => ({ file: layer.file, node: layer.keys.node('vars') }));
  const vars = readVars(varsLayers);
  const secrets = readSecrets(file, keys.value('secrets') ?? [], env);
  if (!keys.has('rules') && !keys.has('policies') && !keys.has('extends'))
    file.problem(root.start, 'the file has neither rules nor policies');
  const all = [...layers, { file, keys }].map((layer) => {
    const varNodes = layer.file === file ? keys.node('vars') : undefined;
    const context: FileContext = { file: layer.file, env, vars, varNodes, secrets };
    return { keys: layer.keys, context };
  });
  const rules: Array<Array<Written<CompiledRule>>> = [];
  const policies: Array<Array<Written<CompiledPolicy>>> = [];
  for (const { keys: read, context } of all)
    rules.push(yield* compileEach(context, read.node('rules'), 'rules', compileRule));
  for (const { keys: read, context } of all)
    policies.push(yield* compileEach(context, read.node('policies'), 'policies', compilePolicy));
  for (const layer of layers) layer.file.blameConstants();
  warnOfUnread(varsLayers);
  return { rules: overridden(rules), policies: overridden(policies) };
}

interface Written<Compiled> {
  readonly compiled: Compiled;
  readonly file: SourceFile;
  /** Where it says `override: true`. */
  readonly override: number | null;
}

/** Layers from the deepest to the file itself: one that says so takes the place of the one it overrides; any other double is told later. */
function overridden<Compiled extends { id: string }>(
  layers: ReadonlyArray<ReadonlyArray<Written<Compiled>>>,
): Compiled[] {
  const all: Compiled[] = [];
  for (const layer of layers) {
    const below = [...all];
    for (const { compiled, file, override } of layer) {
      const at = override === null ? -1 : below.findIndex(({ id }) => id === compiled.id);
      if (override !== null && at === -1)
        file.problem(override, `there is no "${compiled.id}" to override in what this file extends`);
      if (at === -1) all.push(compiled);
      else all[at] = compiled;
    }
  }
  return all;
}

function overrideOf(node: YamlNode): number | null {
  const entry = node.kind === 'map' ? node.entries.find(({ key }) => key === 'override') : undefined;
  return entry?.value.kind === 'scalar' && entry.value.value === true ? entry.keyStart : null;
}

function* compileEach<Compiled extends CompiledRule | CompiledPolicy>(
  context: FileContext,
  list: YamlNode | undefined,
  what: 'rules' | 'policies',
  compile: (context: FileContext, node: YamlNode) => Compiled | null,
): Generator<void, Array<Written<Compiled>>> {
  const { file } = context;
  const written: Array<Written<Compiled>> = [];
  const compileNode = compileOnce(context, what, compile);
  for (const node of (list && asList(file, list, what)?.items) ?? []) {
    const compiled = compileNode(node);
    if (compiled !== null) written.push({ compiled, file, override: overrideOf(node) });
    yield;
  }
  return written;
}

function checkVersion(file: SourceFile, node: YamlNode | undefined): void {
  if (node && !isRefused(node) && !(node.kind === 'scalar' && node.value === VERSION))
    file.problem(node.start, `version must be ${VERSION}`);
}

function checkOrg(file: SourceFile, text: Text | null, org: string): void {
  if (text && text.value.toLowerCase() !== org.toLowerCase())
    file.problem(text.start, `these are rules of "${text.value}", and they were given for "${org}"`);
}

function readSecrets(file: SourceFile, texts: readonly Text[], env: LoadEnvironment): ReadonlySet<string> {
  for (const { value, start } of texts) {
    if (env.secrets.has(value)) continue;
    const hint = suggest(value, [...env.secrets], 'the operator defined');
    file.problem(
      start,
      `the operator defined no secret "${value.slice(0, 64)}" for ${env.org} (orgs[].secrets)`,
      hint ?? `orgs[].secrets: {${value.slice(0, 64)}: {env: NAME}} in the operator's config`,
    );
  }
  return new Set(texts.map(({ value }) => value));
}

/** Runs and pauses name a rule by its id alone, so it is one rule's in the whole organization. */
function checkUnique(
  sources: readonly SourceFile[],
  all: ReadonlyArray<{ id: string; position: Position }>,
  shared: SharedFiles,
): void {
  const first = new Map<string, Position>();
  for (const { id, position } of all) {
    const earlier = first.get(id);
    if (!earlier) first.set(id, position);
    else
      tellUntilEnough(() =>
        sources
          .find(({ path }) => path === position.file)
          ?.problemAt(
            position,
            `the id "${id}" is taken`,
            `by ${earlier.file}:${earlier.line}${shared.isShared(earlier.file) ? '; to take its place say override: true' : ''}`,
          ),
      );
  }
}

/** `bot:RULE` names a rule or policy, of whose acts it can be told that they are its own. */
function checkBotRules(
  sources: readonly SourceFile[],
  rules: readonly CompiledRule[],
  policies: readonly CompiledPolicy[],
): void {
  const owners = new Map([...policies, ...rules].map((one) => [one.id, one]));
  for (const { on, disabled, position, program } of rules)
    for (const id of program.where.botRules ?? []) {
      const place = program.where.positions[itemKey('actor', `bot:${id}`)] ?? position;
      const file = sources.find(({ path }) => path === place.file);
      const owner = owners.get(id);
      const steps = owner ? stepsOf(owner) : [];
      if (!owner)
        tellUntilEnough(() =>
          file?.newProblemAt(place, `there is no rule or policy "${id}"`, suggest(id, [...owners.keys()], 'there are')),
        );
      // A rule that is switched off has no events left to compare.
      else if (disabled === null && !steps.some((step) => knownKindsOf(step).some((kind) => on.includes(kind)))) {
        const isRaised = on.some((kind) => steps.some((step) => raisesOf(step).includes(kind)));
        const kindsOfSteps = [...new Set(steps.flatMap(knownKindsOf))];
        tellUntilEnough(() =>
          file?.newProblemAt(
            place,
            isRaised
              ? `no event of on says that "${id}" caused it, though "${id}" does cause some: this matches nothing`
              : `nothing that "${id}" does leads to an event of on: this lets nothing in`,
            `actor: [bot] takes all acts of the bot; those of "${id}" are known by ${kindsOfSteps.join(', ') || 'no event'}`,
          ),
        );
      }
    }
}

/** Told at the first rule of each cycle. */
function* checkLoops(
  sources: readonly SourceFile[],
  rules: readonly CompiledRule[],
  policies: readonly CompiledPolicy[],
  org: string,
): Generator<void, void> {
  const { loops, isComplete } = yield* loopSteps(rules, policies, org);
  const [first] = rules.filter(({ program }) => program.where.actorIsBot);
  const at = ({ file }: Position): SourceFile | undefined => sources.find(({ path }) => path === file);
  if (!isComplete && loops.length === 0 && first)
    tellUntilEnough(() =>
      at(first.position)?.problemAt(
        first.position,
        'so many rules take the bot’s own acts that nobody can prove that they end',
        'take "bot" out of where.actor where it is not needed',
      ),
    );
  for (const { owners, text, isWeak } of loops) {
    const position = owners[0]?.position;
    const file = position && at(position);
    if (!position || !file) continue;
    const message = `these rules start each other without end: ${text}`;
    if (isWeak)
      file.warnAt(
        position,
        `these rules may start each other without end, since a run does not always say who started it: ${text}`,
        'say which runs are meant, such as if: event.workflow.name == "ci"',
      );
    else tellUntilEnough(() => file.newProblemAt(position, message, LOOP_HINT));
  }
}

const LOOP_HINT = 'take "bot" out of where.actor, or narrow where.repo, branch or tag until they never meet';

function byPlace(a: Problem, b: Problem): number {
  return a.file === b.file ? a.line - b.line || a.col - b.col : a.file < b.file ? -1 : 1;
}
