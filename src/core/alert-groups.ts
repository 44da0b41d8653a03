/** So many organizations have an alert of one code each; those of more share one. */
const MOST_ALONE = 10;
/** More names are in the log. */
const NAMED = 3;

/** How an alert is told: by itself, as the one that it shares with others from now on, or not at all, for that one was told before. */
export type Telling = 'alone' | 'first-of-many' | 'one-of-many';
/** The same of its end. The shared one ends when none of those that it alone told of is open. */
export type Ending = 'alone' | 'last-of-many' | 'one-of-many';

interface Member {
  readonly code: string;
  readonly org: string | null;
  readonly isAlone: boolean;
}

/** Open alerts of the same code, so that a fault of many organizations is one alert. */
export class AlertGroups {
  private readonly members = new Map<string, Member>();
  private readonly byCode = new Map<string, { readonly orgs: Map<string, number>; shared: number }>();

  /** @param org null = it names none, and is always told by itself */
  begin(key: string, code: string, org: string | null): Telling {
    const isAlone = org === null || !this.isShared(code, org);
    this.members.set(key, { code, org, isAlone });
    if (org === null) return 'alone';
    const group = this.byCode.get(code) ?? { orgs: new Map<string, number>(), shared: 0 };
    this.byCode.set(code, group);
    group.orgs.set(org, (group.orgs.get(org) ?? 0) + 1);
    if (isAlone) return 'alone';
    group.shared += 1;
    return group.shared === 1 ? 'first-of-many' : 'one-of-many';
  }

  end(key: string): Ending {
    const member = this.members.get(key);
    this.members.delete(key);
    const group = member && this.byCode.get(member.code);
    if (!group || member.org === null) return 'alone';
    const count = (group.orgs.get(member.org) ?? 0) - 1;
    if (count > 0) group.orgs.set(member.org, count);
    else group.orgs.delete(member.org);
    if (!member.isAlone) group.shared -= 1;
    if (group.orgs.size === 0) this.byCode.delete(member.code);
    if (member.isAlone) return 'alone';
    return group.shared === 0 ? 'last-of-many' : 'one-of-many';
  }

  /** Organizations that have an open alert of the code. */
  orgsOf(code: string): readonly string[] {
    return [...(this.byCode.get(code)?.orgs.keys() ?? [])];
  }

  private isShared(code: string, org: string): boolean {
    const group = this.byCode.get(code);
    return group !== undefined && (group.shared > 0 || (group.orgs.size >= MOST_ALONE && !group.orgs.has(org)));
  }
}

interface Listed {
  readonly code: string;
  readonly message: string;
  readonly org: string | null;
  readonly at: Date;
}

/** Open alerts as a list shows them: those of one code and more organizations than a few are one row, where the oldest of them stands. */
export function groupAlerts<Alert extends Listed>(alerts: readonly Alert[]): Alert[] {
  const orgs = new Map<string, Set<string>>();
  for (const { code, org } of alerts) if (org !== null) orgs.set(code, (orgs.get(code) ?? new Set()).add(org));
  const rows = new Set<string>();
  return alerts.flatMap((alert) => {
    const { code, message, org } = alert;
    const all = orgs.get(code);
    if (org === null || !all || all.size <= MOST_ALONE) return [alert];
    if (rows.has(code)) return [];
    rows.add(code);
    return [{ ...alert, message: messageOfMany(message, org, all), org: null }];
  });
}

/** `…; the same in 36 more organizations: beta, delta, gamma and 33 more`. @param message that of one organization */
export function messageOfMany(message: string, org: string, orgs: Iterable<string>): string {
  const others = [...orgs].filter((other) => other !== org);
  const more = others.length > NAMED ? ` and ${others.length - NAMED} more` : '';
  return `${message}; the same in ${others.length} more organizations: ${others.slice(0, NAMED).join(', ')}${more}`;
}
