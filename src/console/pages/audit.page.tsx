import { definePage, type Ask } from '../page.js';
import { Callout, counted, Filters, Section, Table } from '../ui/components.js';
import { runPath } from '../ui/words.js';

/** Links that one look checks; a longer chain is checked by `forgehand audit`. */
const PAGE = 500;
const PAGES = 20;

/** Whether the chain of finished runs holds. */
export const auditPage = definePage({
  path: '/audit',
  nav: { label: 'Audit', order: 70 },
  load: async ({ call, query, may }) => {
    const owned = (await call('status')).orgs.map(({ name }) => name).filter((name) => may('read', name));
    const org = query['org'] ?? owned[0];
    return { owned, org, chain: org === undefined ? null : await chainOf(call, org) };
  },
  title: () => 'Audit',
  view: ({ owned, org, chain }) => (
    <>
      {owned.length > 1 && (
        <Filters
          filters={[{ name: 'org', label: 'Organization', options: owned.map((name) => [name, name] as const) }]}
        />
      )}
      <Section title={org === undefined ? 'Chain of finished runs' : `Chain of finished runs of ${org}`}>
        {chain === null ? <p class="muted">The chain is for owners of the organization.</p> : <Chain chain={chain} />}
      </Section>
    </>
  ),
});

interface CheckedChain {
  readonly checked: number;
  readonly head: { readonly n: number; readonly link: string } | null;
  readonly broken: { readonly n: number; readonly runId: string; readonly why: string } | null;
  readonly again: readonly string[];
  readonly isEnd: boolean;
}

async function chainOf(call: Ask['call'], org: string): Promise<CheckedChain> {
  let [checked, after] = [0, 0];
  const again: string[] = [];
  for (let n = 1; ; n += 1) {
    const page = await call('audit', { org, after, limit: PAGE });
    checked += page.checked;
    again.push(...page.again);
    const { head, broken, isEnd } = page;
    if (broken || isEnd || !head || head.n <= after || n === PAGES)
      return { checked, head, broken, again: [...new Set(again)], isEnd };
    after = head.n;
  }
}

function Chain({ chain: { checked, head, broken, again, isEnd } }: { chain: CheckedChain }) {
  return (
    <>
      {broken ? (
        <Callout tone="bad" title="The chain is broken">
          <p>
            Link {broken.n}, <a href={runPath(broken.runId)}>run {broken.runId}</a>: {broken.why}. Somebody changed the
            store beside the bot. Compare it with a backup.
          </p>
        </Callout>
      ) : (
        <Callout tone="good">
          <p>
            {head === null
              ? 'No run is sealed yet. The bot seals a run some minutes after it ended.'
              : `${counted(checked, 'link')} ${checked === 1 ? 'holds' : 'hold'}.`}{' '}
            {!isEnd && 'The chain is longer: forgehand audit checks all of it.'}
          </p>
          {head && (
            <p>
              Keep this head off the host: <code>{`${head.n}:${head.link}`}</code>.{' '}
              <code>forgehand audit --known HEAD</code> says whether it is still in the chain.
            </p>
          )}
        </Callout>
      )}
      {again.length > 0 && (
        <Table
          caption="Runs that a person took up again after they were sealed"
          rows={again}
          empty=""
          columns={[{ head: 'Taken up again after they were sealed', cell: (id) => <a href={runPath(id)}>{id}</a> }]}
        />
      )}
    </>
  );
}
