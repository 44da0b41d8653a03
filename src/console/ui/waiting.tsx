import { sayWaiting, type ShownWaiting } from '../../core/waiting.js';
import { Section, Table, Time } from './components.js';

/** What waits and for what, since when, and the ids. */
export function WaitingText({ waiting }: { waiting: ShownWaiting }) {
  const { org, since, ids, count, code } = waiting;
  return (
    <>
      {org === '' ? '' : `${org}: `}
      {sayWaiting(waiting)}, since <Time at={since} relative /> (<code>{code}</code>: {ids.join(', ')}
      {count > ids.length ? ', …' : ''})
    </>
  );
}

/** Why something is not decided or not done yet; nothing where nothing waits. */
export function WaitingSection({ waiting }: { waiting: readonly ShownWaiting[] }) {
  if (waiting.length === 0) return null;
  return (
    <Section title="Waits">
      <Table
        caption="What it waits for"
        rows={waiting}
        empty=""
        columns={[
          { head: 'What', kind: 'wide', cell: (one) => <WaitingText waiting={one} /> },
          { head: 'Next step', kind: 'wide', cell: ({ todo }) => todo ?? 'It goes on by itself.' },
        ]}
      />
    </Section>
  );
}
