import type { AppConfig } from '../../src/config/app-config.js';

type Some<Value> = Value extends string | number | boolean | null | Date
  ? Value
  : Value extends ReadonlyArray<infer Item>
    ? ReadonlyArray<Some<Item>>
    : { readonly [Key in keyof Value]?: Some<Value[Key]> };

/** The settings that a class under test reads; no others are there. */
export function aConfig(settings: Some<AppConfig>): AppConfig {
  const orgs = (settings.orgs ?? []).map((org) => ({ key: org.name, label: org.name, ...org }));
  return { forges: [], ...settings, orgs } as unknown as AppConfig;
}
