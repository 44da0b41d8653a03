import type { FactOfSubject, KnownFacts } from './known-facts.port.js';
import { grouped } from './grouped.js';

/** An organization that the bot works for, or worked for, as the store knows it. */
export interface KnownOrg {
  /** Id of its forge in the config. */
  readonly forge: string;
  /** Under this text everything is kept of it; no other organization ever has it. */
  readonly key: string;
  /** Under which the config names it; null = the name is another organization's now. */
  readonly name: string | null;
  /** The name that the forge told last; null = it told no other one. */
  readonly calledNow: string | null;
  /** Its number at the forge, decimal string; null = the forge never told it. */
  readonly number: string | null;
}

/** Facts about an organization, whose subject is its key. */
export const ORG_FACTS = { name: 'org.name', calledNow: 'org.called-now', number: 'org.number' } as const;

/** Organizations by forge and number. They never leave: a name or number that comes again belongs to the same history. */
export abstract class KnownOrgs {
  abstract all(): Promise<KnownOrg[]>;

  constructor(private readonly facts: Pick<KnownFacts, 'write'>) {}

  /** What is not given stays as it is. */
  async keep({ forge, key, ...parts }: Pick<KnownOrg, 'forge' | 'key'> & Partial<KnownOrg>): Promise<void> {
    for (const part of ['name', 'calledNow', 'number'] as const)
      if (parts[part] !== undefined) await this.facts.write(forge, key, ORG_FACTS[part], parts[part]);
  }
}

type Row = Pick<FactOfSubject, 'forge' | 'subject' | 'kind' | 'fact'>;

export function orgsOfFacts(rows: readonly Row[]): KnownOrg[] {
  return [...grouped(rows, ({ forge, subject }) => JSON.stringify([forge, subject])).values()].map((ofOrg) => {
    const part = (kind: string): string | null => {
      const fact = ofOrg.find((row) => row.kind === kind)?.fact;
      return typeof fact === 'string' ? fact : null;
    };
    const { forge = '', subject = '' } = ofOrg[0] ?? {};
    return {
      forge,
      key: subject,
      name: part(ORG_FACTS.name),
      calledNow: part(ORG_FACTS.calledNow),
      number: part(ORG_FACTS.number),
    };
  });
}
