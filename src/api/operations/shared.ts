import { OWN_RULES } from '../../core/own-rules.js';
import { ACCOUNT_SETTINGS } from '../../housekeeping/account-sync.js';
import type { IdKind, IdStore } from '../id-store.port.js';
import type { AppConfig, OrgConfig } from '../../config/app-config.js';
import { didYouMean } from '../../core/did-you-mean.js';
import { UserError } from '../../core/errors.js';
import type { EntrySource } from '../../core/event.js';
import { seesOrg, seesWholeOrg, visibilityWithin, type Visibility } from '../../core/visibility.js';
import type { ConnectedForges } from '../../forge/connected-forges.js';
import type { HistoryPage, HistoryStore } from '../../insight/history-store.port.js';
import type { RuleOrigin } from '../../rules/sources/rule-repository.port.js';
import { needWholeOrg } from './admission.js';
import type { InboxStore } from '../../pipeline/inbox-store.port.js';
import type { JournalStore } from '../../pipeline/journal-store.port.js';
import type { RevisionKeeper } from '../../rules/revisions/revision-keeper.js';
import type { RevisionStore } from '../../rules/revisions/revision-store.port.js';

/** The organizations of the config. */
export class Orgs {
  constructor(
    private readonly config: Pick<AppConfig, 'orgs'>,
    private readonly forges: Pick<ConnectedForges, 'get'>,
  ) {}

  of(key: string): OrgConfig | undefined {
    return this.config.orgs.find((one) => one.key === key);
  }

  /** The one that is typed by its name, or by forge and name, in whatever case; undefined where there is none, or more than one. */
  find(typed: string): OrgConfig | undefined {
    const [first, second] = namedBy(this.config.orgs, typed);
    return second ? undefined : first;
  }

  /** Those of which something is visible. */
  visible(visibility: Visibility): readonly OrgConfig[] {
    return visibility === null ? this.config.orgs : this.config.orgs.filter(({ key }) => seesOrg(visibility, key));
  }

  /**
   * An organization that is not visible is told like one that is not there.
   * @returns its key
   * @throws UserError NO_SUCH_ORG, AMBIGUOUS_ORG
   */
  keyOf(typed: string, visibility: Visibility): string {
    const visibleOrgs = this.visible(visibility);
    const named = namedBy(visibleOrgs, typed);
    const [first, second] = named;
    if (second)
      throw new UserError(
        'AMBIGUOUS_ORG',
        `several organizations are called ${typed}: say which of ${someOf(named.map(({ label }) => label))}`,
      );
    if (first) return first.key;
    const names = visibleOrgs.map(({ label }) => label);
    const suggestion = didYouMean(typed, names);
    const there = visibility === null ? 'the config has' : 'you may see';
    throw new UserError(
      'NO_SUCH_ORG',
      `${there} no organization ${typed}; ${visibility === null ? 'it has' : 'there is'} ${someOf(names)}${suggestion ? ` (did you mean ${suggestion}?)` : ''}`,
    );
  }

  /** The same, for what concerns all of the organization. @throws UserError ORG_OWNERS_ONLY where only a part is visible */
  wholeOf(typed: string, visibility: Visibility): string {
    const org = this.keyOf(typed, visibility);
    needWholeOrg(visibility, org);
    return org;
  }

  /** The one that was named, or all of which something is visible. @throws UserError NO_SUCH_ORG */
  keysOf(typed: string | undefined, visibility: Visibility): readonly string[] {
    return typed === undefined ? this.visible(visibility).map(({ key }) => key) : [this.keyOf(typed, visibility)];
  }

  /**
   * What is looked at where no organization was named: all of them, or the only one of which all is visible.
   * @returns undefined = all of them
   * @throws UserError WHICH_ORG, ORG_OWNERS_ONLY
   */
  onlyWhole(visibility: Visibility): string | undefined {
    if (visibility === null) return undefined;
    const whole = this.visible(visibility).filter(({ key }) => seesWholeOrg(visibility, key));
    const [first, second] = whole;
    if (!first)
      throw new UserError(
        'ORG_OWNERS_ONLY',
        'only owners of an organization may do this: it concerns a whole organization',
      );
    if (!second) return first.key;
    throw new UserError('WHICH_ORG', `name one organization: ${someOf(whole.map(({ label }) => label))}`);
  }

  /** A filter with the key of the organization, and with what of it may be seen. */
  within<Filter extends { org?: string }>(
    { org, ...filter }: Filter,
    visibility: Visibility,
  ): Omit<Filter, 'org'> & { org?: string; visibility: Visibility } {
    if (!org) return { ...filter, visibility };
    const key = this.keyOf(org, visibility);
    return { ...filter, org: key, visibility: visibility && visibilityWithin(visibility, key) };
  }

  /** What is polled of an organization. */
  sourcesOf(org: string): EntrySource[] {
    return ['feed', 'tasks', ...(this.readsLists(org, 'searchIssues') ? (['lists'] as const) : [])];
  }

  /** Whether the lists of issues or releases are read for what neither deliveries nor the feed tell. */
  readsLists(org: string, operation: 'listReleases' | 'searchIssues'): boolean {
    const config = this.of(org);
    return (
      config !== undefined &&
      config.lists.everyS > 0 &&
      (this.forges.get(config.forge, config.key)?.offers(operation) ?? false)
    );
  }
}

/** By name, or by forge and name. */
function namedBy(orgs: readonly OrgConfig[], typed: string): readonly OrgConfig[] {
  const text = typed.toLowerCase();
  return orgs.filter(({ forge, name }) => [name, `${forge}/${name}`].some((one) => one.toLowerCase() === text));
}

/** Long enough that a short word or a name is no part of an id. A whole id is not looked for, unless somebody may not see all of them. */
const PART_OF_AN_ID = /^[0-9a-f][0-9a-f-]{3,34}$/;
const ID = /^[0-9a-f][0-9a-f-]{3,35}$/;
const CANDIDATES_SHOWN = 10;

/** Ids as people type them: whole, or as much of the beginning or the end as is unique. */
export class Ids {
  constructor(private readonly store: IdStore) {}

  /**
   * What is not visible is told like what is not there.
   * @returns the whole id; to whom sees everything, the text as it is where nothing has such an id
   * @throws UserError AMBIGUOUS_ID that lists the candidates; NOT_FOUND where nothing visible has such an id
   */
  async whole(typed: string, kinds: readonly IdKind[], visibility: Visibility): Promise<string> {
    const text = typed.toLowerCase();
    const isAsked = (visibility === null ? PART_OF_AN_ID : ID).test(text);
    const matches = isAsked ? await this.store.like(text, kinds, CANDIDATES_SHOWN + 1, visibility) : [];
    const [first, second] = matches;
    if (!first && visibility !== null) throw new UserError('NOT_FOUND', `there is no ${listed(kinds)} ${typed}`);
    if (!first) return typed;
    const exact = matches.find(({ id }) => id === text);
    if (exact || !second) return (exact ?? first).id;
    const candidates = matches.slice(0, CANDIDATES_SHOWN).map(({ kind, id }) => `${kind} ${id}`);
    throw new UserError(
      'AMBIGUOUS_ID',
      `several ids begin or end with ${text}; type more of one of them: ${candidates.join(', ')}${matches.length > CANDIDATES_SHOWN ? ', …' : ''}`,
    );
  }
}

/** `run, intent or event`. */
function listed(kinds: readonly IdKind[]): string {
  return [kinds.slice(0, -1).join(', '), ...kinds.slice(-1)].filter((part) => part !== '').join(' or ');
}

const NAMES_SHOWN = 10;

/** As many names as people read. */
function someOf(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return `${names.slice(0, NAMES_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Of work that no rule and no policy asks for. */
const OWN_NAMES = [...OWN_RULES, ACCOUNT_SETTINGS];

/**
 * A mistyped rule would be taken for one that never ran. Rules of earlier revisions, and those of a revision in shadow, are known by their runs.
 * @throws UserError NO_SUCH_RULE with what was probably meant
 */
export async function checkRule(
  { orgs, keeper, journal }: { orgs: Orgs; keeper: RevisionKeeper; journal: JournalStore },
  rule: string,
  org: string | undefined,
  visibility: Visibility,
): Promise<void> {
  const names = orgs.keysOf(org || undefined, visibility);
  const active = await Promise.all(names.map((name) => keeper.active(name)));
  const rules = active.flatMap((one) => (one ? [...one.revision.rules, ...one.revision.policies] : []));
  if (OWN_NAMES.includes(rule) || active.includes(null) || rules.some(({ id }) => id === rule)) return;
  const ofOne = names.length === 1 && names[0] !== undefined ? { org: names[0] } : {};
  if ((await journal.runs({ ...ofOne, rule, limit: 1, visibility })).length > 0) return;
  const suggestion = didYouMean(
    rule,
    rules.map(({ id }) => id),
  );
  throw new UserError(
    'NO_SUCH_RULE',
    `there is no rule or policy ${rule} in ${someOf(names)}${suggestion ? ` (did you mean ${suggestion}?)` : ''}`,
  );
}

/** What is stored of one event, by its own id or that of an arrival; no events where nothing visible has it. */
export async function historyOfId(
  { ids, inbox, history }: { ids: Ids; inbox: InboxStore; history: HistoryStore },
  typed: string,
  visibility: Visibility,
): Promise<HistoryPage> {
  const id = await ids.whole(typed, ['event', 'arrival'], visibility);
  const [first] = await inbox.eventsOfArrival(id);
  return history.ofEvent(first ?? id, visibility);
}

/** Where the rules of a revision came from; nothing where they lie in a folder, or it is not known. */
export async function originOf(
  revisions: Pick<RevisionStore, 'byId'>,
  revisionId: string,
): Promise<{ origin?: RuleOrigin }> {
  const origin = (await revisions.byId(revisionId))?.origin;
  return origin ? { origin } : {};
}
