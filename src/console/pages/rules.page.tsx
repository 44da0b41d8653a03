import type { AnswerOf } from '../../api/operations/index.js';
import { shortRevision } from '../../core/ids.js';
import { shortReason } from '../../core/run-reasons.js';
import { definePage, unknownAct } from '../page.js';
import { Badge, Callout, Facts, Filters, Figures, Section, Source, Time } from '../ui/components.js';
import { Act, activityPath, dryPath, orgFilters, placeText, rulePath, State } from '../ui/words.js';
import { CONDITIONS, RULES, modeOfRule, startsOn } from '../../api/lists.js';
import { ListTable, More, searchField } from '../ui/list.js';
import { counted, sayFired } from '../../api/words.js';

type Rule = AnswerOf<'rules'>['rows'][number];

/** What each rule and policy did, and what holds it back. */
export const rulesPage = definePage({
  path: '/rules',
  nav: { label: 'Rules', order: 20 },
  load: async ({ call, query, may }) => {
    const { org, search, after } = query;
    const [orgs, page] = await Promise.all([call('organizations'), call('rules', { org, search, after })]);
    const names = orgs.map(({ name }) => name);
    // Its owners alone see all of its rules.
    const tryOrg = names.find((name) => (!org || name === org) && may('read', name)) ?? null;
    return { page, orgs: names, tryOrg };
  },
  title: () => 'Rules and policies',
  view: ({ page, orgs, tryOrg }) => (
    <>
      <Filters filters={[...orgFilters(orgs), ...searchField()]} />
      {tryOrg && (
        <p class="buttons">
          <a class="button" href={`/try?org=${encodeURIComponent(tryOrg)}`}>
            Try rules on an issue or pull request
          </a>
        </p>
      )}
      {page.refused.map(({ org, problems }) => (
        <Callout tone="bad" title={`A newer state of the rules of ${org} was refused`} key={org}>
          <ul class="lines">
            {problems.map((problem, n) => (
              <li key={n}>{problem}</li>
            ))}
          </ul>
        </Callout>
      ))}
      <p class="muted">
        Counts are of the last 30 days. A rule decides about an event only if its filters let the event pass.
      </p>
      <ListTable
        list={RULES}
        caption="Rules and policies"
        rows={page.rows}
        empty={
          <p>
            No rules are loaded. Write one into the folder or repository that the config names, and run{' '}
            <code>forgehand check</code>.
          </p>
        }
        cells={{
          Rule: ({ org, id, kind, place }) => (
            <>
              <a href={rulePath(org, id)}>{id}</a> {kind === 'policy' && <Badge>policy</Badge>}
              {orgs.length > 1 && <div class="muted small">{org}</div>}
              <div class="muted small">{placeText(place)}</div>
            </>
          ),
          Mode: (rule) => <Mode rule={rule} />,
          Fired: ({ id, counts }) => <a href={activityPath({ rule: id, all: 'yes' })}>{counts.fired}</a>,
          Failed: ({ id, counts }) =>
            counts.failed === 0 ? 0 : <a href={activityPath({ rule: id, state: 'failed' })}>{counts.failed}</a>,
        }}
      />
      <More page={page} one="rule" />
    </>
  ),
});

function Mode({ rule }: { rule: Rule }) {
  return (
    <>
      <State of={modeOfRule(rule)} />
      {rule.pause && (
        <>
          {' '}
          <Badge tone="attention">paused</Badge>
        </>
      )}
      {rule.unmet !== null && (
        <>
          {' '}
          <Badge tone="bad">held back</Badge>
        </>
      )}
    </>
  );
}

/** One rule or policy: what it says, what it did, and what may be done with it. */
export const rulePage = definePage({
  path: '/rules/:org/:rule',
  within: '/rules',
  load: async ({ call, params, may }) => {
    const [org, id] = [params['org'] ?? '', params['rule'] ?? ''];
    return { rule: await call('rule', { org, rule: id }), mayOperate: may('operate', org) };
  },
  title: ({ rule }) => `${rule.kind === 'policy' ? 'Policy' : 'Rule'} ${rule.id}`,
  view: ({ rule, mayOperate }) => {
    const { org, id, counts, disabled, pause, unmet, source, conditions, stage, revision, schedule, actions } = rule;
    const marks = new Map(
      conditions.map(({ line, turnedAway }) => [
        line,
        {
          tone: 'info' as const,
          note: turnedAway === 0 ? 'never turned anything away' : `turned ${counted(turnedAway, 'event')} away`,
        },
      ]),
    );
    return (
      <>
        {disabled !== null && (
          <Callout tone="attention" title="It is switched off">
            <p>{disabled}</p>
          </Callout>
        )}
        {unmet !== null && (
          <Callout tone="bad" title="It is held back">
            <p>{unmet}</p>
          </Callout>
        )}
        {pause && (
          <Callout tone="attention" title="Its effects are paused">
            <p>
              By {pause.by}, <Time at={pause.at} />
              {pause.reason !== null && `: ${pause.reason}`}. The bot still decides, and does what it planned when
              somebody resumes {pause.rule === null ? (pause.org ?? 'everything') : id}.
            </p>
          </Callout>
        )}
        <Figures
          figures={[
            { name: 'fired in 30 days', value: counts.fired, href: activityPath({ org, rule: id }) },
            { name: 'not fired', value: counts.notFired, href: activityPath({ org, rule: id, state: 'not-fired' }) },
            {
              name: 'failed',
              value: counts.failed,
              tone: counts.failed > 0 ? 'bad' : 'neutral',
              href: activityPath({ org, rule: id, state: 'failed' }),
            },
            { name: 'held', value: counts.held, tone: counts.held > 0 ? 'attention' : 'neutral' },
          ]}
        />
        <Section title="What it says">
          {source ? (
            <Source file={source.file} firstLine={source.firstLine} text={source.lines.join('\n')} marks={marks} />
          ) : (
            <p class="muted">Owners of {org} see its text here.</p>
          )}
          <Facts
            facts={[
              ['Mode', <Mode rule={rule} />],
              stage && [
                'Stage since',
                <>
                  <Time at={stage.at} /> by {stage.by}
                </>,
              ],
              ['Starts on', startsOn(rule)],
              schedule && ['Next', <Time at={schedule.next} />],
              actions.length > 0 && ['May do', actions.join(', ')],
              counts.mainReason && [
                'Main reason for not firing',
                `${shortReason(counts.mainReason.because ?? '')} (${counts.mainReason.count})`,
              ],
              [
                'Revision',
                <>
                  <code>{shortRevision(revision.id)}</code>, loaded <Time at={revision.loadedAt} />
                </>,
              ],
            ]}
          />
        </Section>
        {conditions.length > 0 && (
          <Section title="Coverage">
            <ListTable
              list={CONDITIONS}
              caption="Conditions and how often each turned something away"
              rows={conditions}
            />
          </Section>
        )}
        {mayOperate && (
          <Section title="Acts">
            <div class="acts">
              {pause?.rule === id && pause.org === org ? (
                <Act name="Resume it" button={`Resume ${id}`} fields={{ act: 'resume' }}>
                  <p>The bot executes what it planned meanwhile, and writes again when the rule fires.</p>
                </Act>
              ) : (
                <Act name="Pause it" button={`Pause ${id}`} fields={{ act: 'pause' }}>
                  <p>The bot still decides, but writes nothing for {id} until somebody resumes it.</p>
                </Act>
              )}
              {rule.kind === 'rule' && (stage?.stage === 'shadow' || stage?.stage === 'canary') && (
                <>
                  <Act
                    name="Promote it to live"
                    button={`Promote ${id} to live`}
                    fields={{ act: 'promote', to: 'live' }}
                  >
                    <p>
                      It writes in every repository from now on. In 30 days it fired {counts.fired} times and failed{' '}
                      {counts.failed} times. The bot refuses this if too few decisions were made, or if there were
                      errors.
                    </p>
                  </Act>
                  {stage.stage === 'shadow' && (
                    <Act
                      name="Promote it to a canary of 10%"
                      button={`Promote ${id} to a canary`}
                      fields={{ act: 'promote', to: '10' }}
                    >
                      <p>
                        From now on the rule writes in one of ten repositories, and only records its effects in the
                        others.
                      </p>
                    </Act>
                  )}
                </>
              )}
              {schedule && (
                <Act name="Run it now" button={`Run ${id} now`} fields={{ act: 'run' }}>
                  <p>
                    The bot fires its schedule once, for every repository that it is about.{' '}
                    <a href={dryPath(org, id)}>See first what it would do</a>.
                  </p>
                </Act>
              )}
            </div>
          </Section>
        )}
      </>
    );
  },
  act: async ({ call, params }, form) => {
    const [org, rule, reason] = [params['org'] ?? '', params['rule'] ?? '', form['reason']];
    switch (form['act']) {
      case 'pause':
        await call('pause', { org, rule, reason });
        return { notice: `${rule} is paused.` };
      case 'resume': {
        const { resumed } = await call('resume', { org, rule, reason });
        return { notice: resumed ? `${rule} goes on.` : `${rule} was not paused any more.` };
      }
      case 'promote': {
        const stage = form['to'] === 'live' ? ('live' as const) : Number(form['to']);
        await call('promote', { org, rule, to: stage, reason });
        return { notice: `${rule} is ${stage === 'live' ? 'live' : `a canary of ${stage}%`} now.` };
      }
      case 'run': {
        const fired = await call('runSchedule', { org, schedule: rule, reason });
        return { notice: sayFired(fired) };
      }
      default:
        throw unknownAct();
    }
  },
});
