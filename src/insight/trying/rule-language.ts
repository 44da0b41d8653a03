import { actionCatalogue } from '../../actions/index.js';
import { lookupCatalogue } from '../../actions/lookups/index.js';
import { describeType, type DataType, type ObjectType } from '../../core/data-types.js';
import { START_TYPES } from '../../core/event-types.js';
import { emptyTable } from '../../core/table.js';
import { OWN_VARIABLES } from '../../rules/language/compile/variable-types.js';
import { ruleFunctions } from '../../rules/language/functions/index.js';
import { ruleSchema } from '../../rules/language/rule-schema.js';
import { builtInSets } from '../../rules/sources/built-in-sets.js';
import type { RuleLanguage } from './try-answers.js';

/** The rule language as data: the JSON Schema, and the event model with each type named once. */
export function describeLanguage(): RuleLanguage {
  const types = new NamedTypes();
  const kinds = [...START_TYPES].map(([kind, { summary, type }]) => [
    kind,
    { summary, of: types.nameOf(type, `event of ${kind}`) },
  ]);
  const variables = Object.entries(OWN_VARIABLES as Readonly<Record<string, DataType>>).map(([name, type]) => [
    name,
    { type: describeType(type), of: types.under(type) },
  ]);
  const functions = ruleFunctions.map(({ name, params, result, summary, example: [expression, value] }) => [
    name,
    {
      signature: `${name}(${params.map((param) => `${param.name}: ${param.type}`).join(', ')}) -> ${result}`,
      summary,
      example: `${expression} is ${value}`,
    },
  ]);
  return {
    schema: ruleSchema({ actions: actionCatalogue(), lookups: lookupCatalogue(), sets: [...builtInSets().keys()] }),
    kinds: Object.fromEntries(kinds) as RuleLanguage['kinds'],
    variables: Object.fromEntries(variables) as RuleLanguage['variables'],
    types: types.all(),
    functions: Object.fromEntries(functions) as RuleLanguage['functions'],
  };
}

/** Objects refer to one another; each is described once, under a name of its own. */
class NamedTypes {
  readonly #names = new Map<ObjectType, string>();
  readonly #fields: Record<string, RuleLanguage['types'][string]> = emptyTable();

  nameOf(type: ObjectType, preferred = type.name): string {
    const earlier = this.#names.get(type);
    if (earlier !== undefined) return earlier;
    let name = preferred;
    for (let n = 2; Object.hasOwn(this.#fields, name); n += 1) name = `${preferred} ${n}`;
    this.#names.set(type, name);
    this.#fields[name] = {};
    this.#fields[name] = Object.fromEntries(
      Object.entries(type.fields).map(([key, { type: of, optional, summary = '' }]) => [
        key,
        { type: describeType(of), of: this.under(of), optional, summary },
      ]),
    );
    return name;
  }

  /** The object that stands behind a value, or behind each value of a list or map. */
  under(type: DataType): string | null {
    if (type.kind === 'list' || type.kind === 'map') return this.under(type.of);
    return type.kind === 'object' ? this.nameOf(type) : null;
  }

  all(): RuleLanguage['types'] {
    return this.#fields;
  }
}
