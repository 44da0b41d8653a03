import type { OrgConfig } from '../../config/app-config.js';
import { groupAlerts } from '../../core/alert-groups.js';
import type { ControlCaller } from '../../core/operators.js';
import { textOf } from '../../core/reason.js';
import { grouped } from '../../core/grouped.js';
import type { Shape } from '../../core/schema.js';
import { seesWholeOrg, type Visibility } from '../../core/visibility.js';
import { showWaiting } from '../../core/waiting.js';
import type { GapOutcome } from '../../pipeline/gap-store.port.js';
import { keptBy } from '../../pipeline/journal-store.port.js';
import { VERSION } from '../../platform/version.js';
import { awaitsTasks } from '../../polling/task-pace.js';
import { taskPosition } from '../../polling/task-poller.js';
import { shadowOrg } from '../../rules/revisions/shadow-org.js';
import type { statusReport, StatusReport } from './answers.js';
import type { Needs } from './needs.js';
import { makePage } from './page-of.js';
import { rulesBehind } from './rules-behind.js';

const WAITING_LOOKED_AT = 200;
const INTENTS_COUNTED = 1_000;
const PROBLEMS_SHOWN = 20;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const GAPS_COUNTED = 200;

interface Asked {
  readonly org?: string;
  readonly search?: string;
  readonly after?: string;
  readonly limit: number;
}

type Report = Shape<typeof statusReport>;
type OrgRow = Report['rows'][number];

/** What is true of the bot, and one page of its organizations. How much is read does not depend on how many there are. */
export async function statusOf(
  needs: Needs,
  { org: typed, ...query }: Asked,
  _caller: ControlCaller,
  visibility: Visibility,
): Promise<Report> {
  const { config, inbox, journal, running, poisonMessages, orgs } = needs;
  const visibleOrgs = orgs.visible(visibility);
  const only = typed === undefined ? null : orgs.keyOf(typed, visibility);
  const lists = new Lists(query.limit, only);
  const deployment: StatusReport['deployment'] = config.store.kind === 'embedded' ? 'embedded' : 'distributed';
  // In the order of the flow: what moves on meanwhile is counted twice, never missed.
  const backlog = await inbox.backlog(visibility);
  const intents = await journal.countNewestByState(INTENTS_COUNTED, visibility);
  // Which organization such work belongs to is not kept with it.
  const quarantined = await poisonMessages.quarantined(query.limit + 1, visibility);
  const pauses = await pausesOver(needs, visibleOrgs, visibility);
  const planned = pauses.length === 0 ? [] : await journal.plannedByRule(visibility);
  const alerts = await alertsOf(needs, visibility);
  const troubled = new Set([...alerts, ...pauses].map(({ org }) => org));
  const page = await makePage(
    {
      items: only === null ? visibleOrgs : visibleOrgs.filter(({ key }) => key === only),
      namesOf: ({ name, forge }) => [name, forge],
      needsAttention: ({ key }) => troubled.has(key) || (seesWholeOrg(visibility, key) && isTroubled(needs, key)),
      rowsOf: (some) => orgRows(needs, some, visibility),
    },
    query,
  );
  const onPage = page.rows.flatMap(({ name }) => visibleOrgs.find((one) => one.label === name) ?? []);
  const waiting = (await needs.waiting.waiting({ limit: WAITING_LOOKED_AT, visibility })).map(showWaiting);
  return {
    ...page,
    version: VERSION,
    deployment,
    roles: running ? [running.role] : [],
    startedAt: running?.startedAt ?? null,
    queueHealthy: running ? await running.queueHealthy() : null,
    intents,
    behind: lists.of('behind', await rulesBehind(needs, visibility)),
    backlog,
    quarantined: lists
      .of(
        'quarantined',
        quarantined.map((one) => ({ ...one, org: null })),
      )
      .map(({ topic, id, deaths, since }) => ({ topic, id, deaths, since })),
    paused: lists.of('paused', pauses).map((pause) => ({ ...pause, waiting: keptBy(pause, planned) })),
    held: lists.of('held', await journal.heldByBudgets(query.limit + 1, visibility)),
    waiting: lists.of('waiting', waiting),
    deliveries: await deliveriesOf(needs, visibleOrgs, onPage, visibility),
    gaps: await gapsOf(needs, visibility),
    alerts: lists
      .of('alerts', only === null ? groupAlerts(alerts) : alerts)
      .map(({ code, message, at }) => ({ code, message, at })),
    forges: forgesOf(needs, visibleOrgs, visibility).map(({ credential, capabilities }) => ({
      id: credential,
      product: capabilities?.product ?? null,
      version: capabilities?.version ?? null,
      self: capabilities?.self?.login ?? null,
      reachable: running ? capabilities !== null : null,
    })),
    cut: lists.cut,
  };
}

type Cut = StatusReport['cut'][number];

/** Lists beside the page: of one organization where one was asked for, and each of them as long as a page; which of them are longer is told. */
class Lists {
  readonly cut: Cut[] = [];

  constructor(
    private readonly most: number,
    private readonly only: string | null,
  ) {}

  /** @param rows what is about no organization alone has `org: null`, and is shown with each */
  of<Row extends { readonly org: string | null }>(name: Cut, rows: readonly Row[]): Row[] {
    const own = this.only === null ? rows : rows.filter(({ org }) => org === null || org === this.only);
    if (own.length > this.most) this.cut.push(name);
    return own.slice(0, this.most);
  }
}

/** As far as it is known without a question to the store. */
function isTroubled({ keeper, offers }: Needs, org: string): boolean {
  return keeper.heldBack(org).length > 0 || offers.lackingNow(org).length > 0;
}

/** To whoever sees some of its repositories: which rules are active. How many, where they lie and how they do is for its owners. */
async function orgRows(needs: Needs, orgs: readonly OrgConfig[], visibility: Visibility): Promise<OrgRow[]> {
  const { keeper, offers, verdicts, rollouts, cursors } = needs;
  const keys = orgs.map(({ key }) => key);
  const whole = keys.filter((key) => seesWholeOrg(visibility, key));
  const [revisionOf, positions, stages, verdictOf] = await Promise.all([
    revisionsOf(needs, keys),
    cursors.of(whole),
    rollouts.list(whole),
    verdicts.among(whole),
  ]);
  return Promise.all(
    orgs.map(async ({ key, label: name, forge }): Promise<OrgRow> => {
      const revision = revisionOf(key);
      if (!whole.includes(key))
        return {
          ...{ name, forge, heldBack: [], lacking: [], source: null, stages: [], pollers: [] },
          revision: revision && { ...revision, rules: null, policies: null },
        };
      const own = positions.filter((one) => one.org === key && one.forge === forge);
      const isQuiet = !awaitsTasks(await keeper.active(key), await keeper.active(shadowOrg(key)));
      return {
        name,
        forge,
        revision,
        heldBack: firstOf(keeper.heldBack(key)),
        lacking: firstOf(offers.lacking(key).map(textOf)),
        source: verdictOf(forge, key),
        stages: stages.filter(({ org }) => org === key),
        pollers: needs.orgs.sourcesOf(key).map((source) => {
          const stored = own.find((one) => one.source === source);
          const oldest =
            source === 'tasks' && stored ? taskPosition.safeParse(stored.position).data?.oldestReadAt : null;
          return {
            source,
            advancedAt: stored?.advancedAt ?? null,
            oldestReadAt: oldest ? new Date(oldest) : null,
            isQuiet: source === 'tasks' && isQuiet,
          };
        }),
      };
    }),
  );
}

function firstOf(problems: readonly string[]): string[] {
  const more = problems.length - PROBLEMS_SHOWN;
  return more <= 0 ? [...problems] : [...problems.slice(0, PROBLEMS_SHOWN), `and ${more} more: run forgehand check`];
}

async function revisionsOf(
  { keeper, revisions }: Needs,
  names: readonly string[],
): Promise<(org: string) => OrgRow['revision']> {
  const active = await Promise.all(names.map((name) => keeper.active(name)));
  const revisionOf = new Map(
    active.flatMap((one, n): Array<[string, OrgRow['revision']]> => {
      if (!one) return [];
      const { hash, rules, policies } = one.revision;
      const counts = { rules: rules.length, policies: policies.length };
      return [[names[n] ?? '', { id: one.id, hash, ...counts, loadedAt: one.loadedAt }]];
    }),
  );
  // Another process loaded those, or they are refused now and were active before.
  const others = names.filter((name) => !revisionOf.has(name));
  for (const { org, ...stored } of others.length === 0 ? [] : await revisions.activeIn(others))
    revisionOf.set(org, { ...stored, rules: null, policies: null });
  return (org) => revisionOf.get(org) ?? null;
}

/** By the hooks of the organizations that are wholly visible. */
async function deliveriesOf(
  { recentDeliveries, clock }: Pick<Needs, 'recentDeliveries' | 'clock'>,
  orgs: readonly OrgConfig[],
  onPage: readonly OrgConfig[],
  visibility: Visibility,
): Promise<StatusReport['deliveries']> {
  const isWhole = ({ key }: OrgConfig): boolean => seesWholeOrg(visibility, key);
  const whole = new Set(orgs.filter(isWhole).map(({ key }) => key));
  const recent = (await recentDeliveries.read()).filter(({ org }) => whole.has(org));
  const ofHook = grouped(recent, ({ org, hook }) => `${org}/${hook}`);
  const ofHour = grouped(recent, ({ hour }) => String(hour.getTime()));
  const hooks = onPage.filter(isWhole).flatMap(({ key, hooks: all }) =>
    all.map(({ id }) => {
      const own = ofHook.get(`${key}/${id}`) ?? [];
      const last = own.reduce<Date | null>((latest, one) => (latest && latest > one.last ? latest : one.last), null);
      return { org: key, hook: id, count: sumOf(own), last };
    }),
  );
  const now = clock.now().getTime();
  const hours = Array.from({ length: 24 }, (_, n) => {
    const at = new Date((Math.floor(now / HOUR_MS) - 23 + n) * HOUR_MS);
    return { at, count: sumOf(ofHour.get(String(at.getTime())) ?? []) };
  });
  return { since: new Date(now - DAY_MS), hooks, hours };
}

function sumOf(rows: ReadonlyArray<{ readonly count: number }>): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

async function gapsOf(
  { gaps, clock }: Pick<Needs, 'gaps' | 'clock'>,
  visibility: Visibility,
): Promise<StatusReport['gaps']> {
  const since = new Date(clock.now().getTime() - DAY_MS);
  const recentGaps = (await gaps.gaps({ visibility, limit: GAPS_COUNTED })).filter(({ foundAt }) => foundAt >= since);
  const count = (outcome: GapOutcome): number => recentGaps.filter((gap) => gap.outcome === outcome).length;
  return { since, repaired: count('repaired'), late: count('late'), lost: count('not-representable') };
}

/** To somebody who does not see everything: those that name a wholly visible organization. */
async function alertsOf({ openAlerts }: Pick<Needs, 'openAlerts'>, visibility: Visibility) {
  const all = await openAlerts.all();
  return all.filter(({ org }) => visibility === null || (org !== null && seesWholeOrg(visibility, org)));
}

/** Pauses that hold back something visible: of its organizations, of everything, and of rules that one of them has. */
async function pausesOver(
  { journal, keeper }: Pick<Needs, 'journal' | 'keeper'>,
  orgs: ReadonlyArray<{ readonly key: string }>,
  visibility: Visibility,
) {
  const all = await journal.paused();
  if (visibility === null) return all;
  const active = await Promise.all(orgs.map(({ key }) => keeper.active(key)));
  const rules = new Set(
    active.flatMap((one) => (one ? [...one.revision.rules, ...one.revision.policies].map(({ id }) => id) : [])),
  );
  return all.filter(({ org, rule }) =>
    org === null ? rule === null || rules.has(rule) : orgs.some(({ key }) => key === org),
  );
}

/** Under the credentials that the visible organizations use. */
function forgesOf(
  { forges }: Pick<Needs, 'forges'>,
  orgs: ReadonlyArray<{ readonly key: string; readonly forge: string }>,
  visibility: Visibility,
) {
  if (visibility === null) return forges.list();
  const used = new Set(orgs.map(({ key, forge }) => forges.get(forge, key)?.credential));
  return forges.list().filter(({ credential }) => used.has(credential));
}
