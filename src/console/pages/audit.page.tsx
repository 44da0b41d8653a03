import { checkChain, type CheckedChain } from '../../api/check-chain.js';
import type { AnswerOf } from '../../api/operations/index.js';
import { kindOf } from '../../core/audit-chain.js';
import { definePage, type Ask } from '../page.js';
import { Badge, Callout, Filters, Hash, Pager, Section, Table, Time } from '../ui/components.js';
import { deliveryPath, effectPath, orgFilters, planPath, rulePath, runPath, State } from '../ui/words.js';
import { ListTable } from '../ui/list.js';
import { ACTS, inWords, factsOf } from '../../api/lists.js';
import { counted } from '../../api/words.js';

/** Links that one look checks; a longer chain is checked by `forgehand audit`. */
const PAGE = 500;
const PAGES = 20;
const ACTS_SHOWN = 50;

/** Who did what, and whether the chain of finished runs and acts holds. */
export const auditPage = definePage({
  path: '/audit',
  nav: { label: 'Audit', order: 70 },
  load: async ({ call, query, may }) => {
    const owned = (await call('organizations')).map(({ name }) => name).filter((name) => may('read', name));
    const org = query['org'] ?? owned[0];
    if (org === undefined) return { owned, org, chosen: undefined, chain: null, others: null, acts: NO_ACTS };
    // Who sees everything is shown everything, until an organization is chosen.
    const isAll = may('read', null) && query['org'] === undefined;
    // To check the chain reads all that it holds: somebody asks for it.
    const isChecked = query['check'] === 'yes';
    const [acts, chain, others] = await Promise.all([
      call('acts', { org: isAll ? undefined : org, before: query['before'], limit: ACTS_SHOWN }),
      isChecked ? chainOf(call, org) : null,
      isChecked && isAll ? chainOf(call, undefined) : null,
    ]);
    return { owned, org, chosen: query['org'], acts, chain, others };
  },
  title: () => 'Audit',
  view: ({ owned, org, chosen, chain, others, acts }) => (
    <>
      <Filters filters={orgFilters(owned)} />
      {org !== undefined && <WhoDidWhat acts={acts} />}
      <Section title={org === undefined ? 'Audit chain' : `Audit chain of ${org}`}>
        {org === undefined ? (
          <p class="muted">The chain is for owners of the organization.</p>
        ) : chain === null ? (
          <CheckChain org={chosen} />
        ) : (
          <Chain chain={chain} />
        )}
      </Section>
      {others !== null && (others.checked > 0 || others.broken !== null) && (
        <Section title="Audit chain of acts that concern no organization alone">
          <Chain chain={others} />
        </Section>
      )}
    </>
  ),
});

function CheckChain({ org }: { org: string | undefined }) {
  return (
    <form class="filters" method="get" action="/audit">
      <input type="hidden" name="check" value="yes" />
      {org !== undefined && <input type="hidden" name="org" value={org} />}
      <p class="muted">
        Finished runs and acts are links of a chain, which shows whether somebody changed the store beside the bot.
      </p>
      <button type="submit">Check the chain</button>
    </form>
  );
}

type Acts = AnswerOf<'acts'>;
type Act = Acts['rows'][number];

const NO_ACTS: Acts = { rows: [], next: null };

function WhoDidWhat({ acts }: { acts: Acts }) {
  return (
    <Section title="Who did what">
      <p class="muted">Acts of people in the Console, on the command line and through the control API, newest first.</p>
      <ListTable
        list={ACTS}
        caption="Acts of people, newest first"
        rows={acts.rows}
        cells={{
          What: ({ operation }) => <InWords of={operation} />,
          About: (act) => <About act={act} />,
          Outcome: ({ outcome }) => <Outcome of={outcome} />,
        }}
      />
      <Pager next={acts.next} />
    </Section>
  );
}

function Outcome({ of }: { of: string | null }) {
  if (of === null) return <span class="muted">not known</span>;
  if (of === 'done' || of === 'refused') return <State of={of} />;
  // Whoever may not do a thing, or comes late, broke nothing.
  const [tone, word] = of === 'INTERNAL' ? (['bad', 'failed'] as const) : (['attention', 'refused'] as const);
  return (
    <span title={of}>
      <Badge tone={tone}>{word}</Badge> {inWords(of.toLowerCase())}
    </span>
  );
}

/** In words, with the name itself in the title where it is another. */
function InWords({ of }: { of: string }) {
  const words = inWords(of);
  return <code title={words === of ? undefined : of}>{words}</code>;
}

/** Where the thing has a page, a link to it. */
function About({ act }: { act: Act }) {
  const { operation, org } = act;
  const pathOf = (name: string, value: string): string | null => {
    if (name === 'hash') return planPath(value);
    if (name === 'rule' && org !== null) return rulePath(org, value);
    if (name !== 'id') return null;
    if (operation === 'retry' || operation === 'resolve') return effectPath(value);
    return operation === 'replay' ? deliveryPath(value) : null;
  };
  return (
    <>
      {factsOf(act).map(([name, value], n) => {
        const href = pathOf(name, value);
        const content = name === 'hash' ? <Hash hash={value} /> : value;
        return (
          <span key={name}>
            {n > 0 && ', '}
            {inWords(name).replace(/^is /, '')} {href === null ? content : <a href={href}>{content}</a>}
          </span>
        );
      })}
    </>
  );
}

function chainOf(call: Ask['call'], org: string | undefined): Promise<CheckedChain> {
  return checkChain((after) => call('audit', { org, after, limit: PAGE }), PAGES);
}

function Chain({ chain: { checked, head, broken, again, deleted, isEnd } }: { chain: CheckedChain }) {
  return (
    <>
      {broken ? (
        <Callout tone="bad" title="The chain is broken">
          <p>
            Link {broken.n},{' '}
            {kindOf(broken.runId) === 'run' ? <a href={runPath(broken.runId)}>run {broken.runId}</a> : broken.runId}:{' '}
            {broken.why}. Somebody changed the store beside the bot. Compare it with a backup.
          </p>
        </Callout>
      ) : (
        <Callout tone="good">
          <p>
            {head === null
              ? 'No run is sealed yet. The bot seals runs and acts a few minutes after they end.'
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
      {deleted.length > 0 && (
        <Table
          caption="Links that retention deleted with their runs and acts"
          rows={deleted}
          empty=""
          columns={[
            { head: 'Links', cell: ({ from, to }) => `${from} to ${to}` },
            { head: 'Deleted', cell: ({ links }) => links },
            { head: 'Older than', cell: ({ days }) => counted(days, 'day') },
            { head: 'On', cell: ({ at }) => <Time at={at} /> },
          ]}
        />
      )}
      {again.length > 0 && (
        <Table
          caption="Runs and acts that were changed on purpose after they were sealed"
          rows={again}
          empty=""
          columns={[
            {
              head: 'Sealed again: resumed by a person, or changed by an erasure',
              cell: (id) => (kindOf(id) === 'run' ? <a href={runPath(id)}>{id}</a> : id),
            },
          ]}
        />
      )}
    </>
  );
}
