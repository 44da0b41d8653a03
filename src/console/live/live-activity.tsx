import { renderToString } from 'preact-render-to-string';
import { notReady } from '../../api/control-server.js';
import type { Control } from '../../api/operations/index.js';
import type { ControlCaller } from '../../core/operators.js';
import type { KnownRepository } from '../../api/operations/hide-names.js';
import { hideNames } from '../../api/operations/hide-names.js';
import { visibleRow, type ActivityRow } from '../../insight/activity.js';
import type { TimelineRow } from '../page.js';
import { TableRow, type Column } from '../ui/components.js';
import type { LiveSource } from './hub.js';

/** Asks for all viewers; each of them is told what is visible to them. */
const EVERYBODY: ControlCaller = { kind: 'command', name: 'console', login: null, scopes: ['read'], grants: null };
const NEWEST = 50;

/** The timeline, row by row. A row is drawn once for all that see the whole of it. */
export function liveActivity(
  control: () => Control | null,
  columns: ReadonlyArray<Column<TimelineRow>>,
): LiveSource<ActivityRow> {
  const htmlByRow = new WeakMap<object, string>();
  const draw = (row: ActivityRow): string => {
    const html =
      htmlByRow.get(row) ?? renderToString(<TableRow columns={columns} row={row as TimelineRow} id={row.id} />);
    htmlByRow.set(row, html);
    return html;
  };
  let repositoriesByOrg: ReadonlyMap<string, readonly KnownRepository[]> = new Map();
  return {
    news: async (since) => {
      const there = control();
      if (!there) throw notReady();
      const filter = { limit: NEWEST, ...(since === undefined ? {} : { since }) };
      const news = await there.operations.activityNews(filter, EVERYBODY);
      if (news.rows.length > 0) {
        const keys = new Set(news.rows.map(({ org }) => there.shownOrgs.keyOf(org)));
        repositoriesByOrg = there.shownOrgs.byName(await there.knownNames.of([...keys]));
      }
      return news;
    },
    idOf: ({ id }) => id,
    tell: (row, visibility, query) => {
      const shownOrgs = control()?.shownOrgs;
      const ownRow =
        shownOrgs && fits(row, query)
          ? hideNames(visibleRow(row, shownOrgs.labelled(visibility)), shownOrgs.named(visibility), repositoriesByOrg)
          : null;
      return ownRow && { id: row.id, html: draw(ownRow) };
    },
  };
}

/** By the filters of the page, as the operation filters. */
function fits(row: ActivityRow, query: Readonly<Record<string, string>>): boolean {
  const { org, repo, person, kind, rule, state, effects, all } = query;
  const isSame = (value: string | null, filter: string | undefined): boolean =>
    !filter || value?.toLowerCase() === filter.toLowerCase();
  return (
    isSame(row.org, org) &&
    isSame(row.repo, repo) &&
    isSame(row.person, person) &&
    (!kind || row.event === kind || (row.event ?? '').startsWith(`${kind}.`)) &&
    (!rule || row.runs.some((run) => run.rule === rule)) &&
    (!state || row.runs.some((run) => run.state === state)) &&
    (!effects || row.runs.some((run) => run.effects.some((effect) => effect.state === effects))) &&
    (all === 'yes' || state !== undefined || effects !== undefined || row.runs.some(changedSomething))
  );
}

/** As the store asks: not what only looked, and not what found everything as it should be. */
function changedSomething({ state, effects }: ActivityRow['runs'][number]): boolean {
  if (state === 'not-fired' || state === 'coalesced') return false;
  return state !== 'done' || effects.some((effect) => effect.state !== 'unchanged');
}
