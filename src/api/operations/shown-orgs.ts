import type { AppConfig } from '../../config/app-config.js';
import { ofOrgs, orgLabels, orgNames } from '../../config/live-config.js';
import type { Visibility } from '../../core/visibility.js';
import type { KnownRepository } from './hide-names.js';

/** Inside the bot an organization goes by its key. This is how people are shown it, in answers and on pages. */
export class ShownOrgs {
  readonly labelOf: (org: string) => string;
  readonly nameOf: (org: string) => string;
  /** Keys that are no names, each with what stands for it in a text; null = there are none. */
  private readonly inTexts: () => ((text: string) => string) | null;
  private readonly byLabel: () => ReadonlyMap<string, string>;

  constructor(config: Pick<AppConfig, 'orgs'>) {
    this.labelOf = orgLabels(config);
    this.nameOf = orgNames(config);
    this.byLabel = ofOrgs(config, (orgs) => new Map(orgs.map(({ key, label }) => [label, key])));
    this.inTexts = ofOrgs(config, (orgs) => {
      const labels = new Map(orgs.filter(({ key }) => key.includes('@')).map(({ key, label }) => [key, label]));
      if (labels.size === 0) return null;
      const keys = [...labels.keys()].sort((a, b) => b.length - a.length).map((key) => key.replace(/\W/g, '\\$&'));
      const pattern = new RegExp(`(?<![\\w.@-])(?:${keys.join('|')})(?![\\w@#-])`, 'g');
      return (text) => text.replace(pattern, (key) => labels.get(key) ?? key);
    });
  }

  /** What was shown as this. */
  keyOf(label: string): string {
    return this.byLabel().get(label) ?? label;
  }

  /** By what people are shown, for rows that are shown already. */
  labelled(visibility: Visibility): Visibility {
    return visibility && visibility.map((one) => ({ ...one, org: this.labelOf(one.org) }));
  }

  /** By the names of the forge, which texts use. */
  named(visibility: Visibility): Visibility {
    return visibility && visibility.map((one) => ({ ...one, org: this.nameOf(one.org) }));
  }

  /** The same of what is known of them. */
  byName(
    repositoriesByOrg: ReadonlyMap<string, readonly KnownRepository[]>,
  ): ReadonlyMap<string, readonly KnownRepository[]> {
    const names = new Map<string, readonly KnownRepository[]>();
    for (const [org, repositories] of repositoriesByOrg) {
      const name = this.nameOf(org);
      names.set(name, [...(names.get(name) ?? []), ...repositories]);
    }
    return names;
  }

  /** Nothing is copied where all are shown by their keys, as they are until one is renamed, or two have one name. */
  show<Answer>(answer: Answer): Answer {
    const inTexts = this.inTexts();
    const show = (value: unknown, field: string): unknown => {
      if (typeof value === 'string')
        return field === 'org' && value !== '' ? this.labelOf(value) : (inTexts?.(value) ?? value);
      if (Array.isArray(value)) return changed(value, (item) => show(item, ''));
      const isPlain = value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype;
      return isPlain ? changed(value, show) : value;
    };
    return show(answer, '') as Answer;
  }
}

/** The same object where nothing in it changes. */
function changed<Holder extends object>(holder: Holder, change: (value: unknown, field: string) => unknown): Holder {
  const entries = Object.entries(holder);
  const after = entries.map(([field, value]) => change(value, field));
  if (after.every((value, n) => value === entries[n]?.[1])) return holder;
  if (Array.isArray(holder)) return after as unknown as Holder;
  return Object.fromEntries(entries.map(([field], n) => [field, after[n]])) as Holder;
}
