import { decideBy } from '../builders/decide-all.js';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { renderToString } from 'preact-render-to-string';
import { h } from 'preact';
import { OPERATIONS, type AnswerOf, type OperationName } from '../../src/api/operations/index.js';
import type { AnyOperation } from '../../src/api/operations/operation.js';
import { describeDoctor } from '../../src/cli/print-doctor.js';
import { printExplanation } from '../../src/cli/print-explanation.js';
import { describeRuns } from '../../src/cli/runs.command.js';
import { describeStatus } from '../../src/cli/status.command.js';
import { readConfig } from '../../src/config/read-config.js';
import type { AnyPage, Ask } from '../../src/console/page.js';
import { LookContext } from '../../src/console/ui/look.js';
import { eventPage } from '../../src/console/pages/event.page.js';
import { overviewPage } from '../../src/console/pages/overview.page.js';
import { effectPage, runPage } from '../../src/console/pages/run.page.js';
import { newId } from '../../src/core/ids.js';
import type { ControlCaller } from '../../src/core/operators.js';
import { ANSWER_RULE, CHECK_RULE } from '../../src/core/own-rules.js';
import type { Reason } from '../../src/core/reason.js';
import { say } from '../../src/actions/reasons.js';
import { intentReason, runReason } from '../../src/core/run-reasons.js';
import type { NewIntent, NewRun } from '../../src/core/run.js';
import type { IntentState } from '../../src/core/states.js';
import { WAITING, type ShownWaiting, type WaitingCode } from '../../src/core/waiting.js';
import type { IntentMove } from '../../src/pipeline/journal-store.port.js';
import { StoreMaintenance } from '../../src/housekeeping/store-maintenance.port.js';
import type { Stores } from '../../src/store/open-stores.js';
import { aDelivery, anEntry, anEvent } from '../builders/arrivals.js';
import { aRun, anIntent, claimOne } from '../builders/journal.js';
import { because } from '../builders/reasons.js';
import { acmeConfig } from './support/acme-config.js';
import { aControl, type TestControl } from './support/a-control.js';
import { aForge, type TestForge } from './support/a-forge.js';

const HOUR_MS = 3_600_000;
const RULES = `version: 1
org: acme
rules:
  - { id: greet, on: repository.created, do: { label.ensure: { name: greeted, color: "#00aabb" } } }
`;
const SOCKET: ControlCaller = {
  kind: 'socket',
  name: 'socket:forgehand',
  login: null,
  scopes: ['read', 'operate', 'approve'],
  grants: null,
};

let forge: TestForge;
let running: TestControl;
let stores: Stores;
let dir: string;
const before = { ...process.env };

/** What is made of each waiting reason: the id of what waits, and of what can be explained (null = of this nothing can). */
type Made = { readonly id: string; readonly explain: string | null };

const from = (ms: number): Date => new Date(Date.now() + ms);

async function plan(code: string, over: Partial<NewIntent> = {}): Promise<string> {
  const id = newId();
  const intent = anIntent({ id, runId: newId(), orderKey: `orderKey ${id}`, effectKey: id, rule: code, ...over });
  await decide({ id: intent.runId, rule: intent.rule, org: intent.org }, [intent]);
  return id;
}

async function decide(run: Partial<NewRun>, intents: NewIntent[] = [], over: object = {}): Promise<void> {
  const cause = { kind: 'tick', tickId: newId(), subject: '7' } as const;
  await stores.journal.recordDecision({}, [{ run: aRun({ cause, runKey: newId(), ...run }), intents, ...over }]);
}

async function move(id: string, via: readonly IntentState[], last: Partial<IntentMove> = {}): Promise<string> {
  const { journal } = stores;
  const claim = await claimOne(journal, id, 'me', HOUR_MS);
  if (!claim) throw new Error(`${id} cannot be claimed`);
  let state: IntentState = 'claimed';
  for (const to of via) {
    if (to === 'sent') {
      await journal.markSent(id, claim.epoch, { id: newId(), operation: 'createLabel', requestHash: 'h' });
    } else {
      const more = to === via.at(-1) ? last : {};
      expect(await journal.move({ intentId: id, epoch: null, from: [state], to, reason: null, ...more })).toBe(true);
    }
    state = to;
  }
  return id;
}

const failed = intentReason('intent.failed', { error: 'FORGE_UNKNOWN', message: 'listLabels: status 500' });
const stepAside = async (id: string, reason: Reason = failed): Promise<string> =>
  move(id, ['planned'], { aside: true, failed: 'counted', dueAt: from(HOUR_MS), reason });

const effect = async (id: Promise<string>): Promise<Made> => ({ id: await id, explain: await id });

async function event(over: object = {}, object: object | null = null): Promise<string> {
  const made = anEvent({
    id: newId(),
    factKey: newId(),
    kind: 'repository.created',
    actor: { id: '77', login: 'zoe' },
    ...over,
  } as never);
  const entry = anEntry({ id: newId(), entryKey: newId(), org: made.org } as never);
  await stores.inbox.storeEntries([entry]);
  await decideBy(stores.inbox, entry.id, async (tx) => {
    tx.insertEvent(made, undefined, object as never);
    tx.join(made.id);
  });
  return made.id;
}

const sql = async (text: string, ...params: unknown[]): Promise<void> =>
  void (await stores.dataSource.query(text, params));

async function gathering(reason: Reason, rule: string): Promise<Made> {
  const id = newId();
  await decide({ id, rule, state: 'gathering', reason }, [], { gathering: { key: id, windowMs: HOUR_MS } });
  return { id, explain: id };
}

async function held(reason: Reason, kind: 'rule' | 'policy', rule: string): Promise<Made> {
  const id = newId();
  await decide({ id, rule, kind, state: 'error', reason });
  return { id, explain: id };
}

async function tick(org: string): Promise<string> {
  const id = newId();
  await stores.ticks.claim({ id, forge: 'main', org, schedule: `nightly ${id}`, occurrence: from(-HOUR_MS) });
  return id;
}

async function keepPlan(state: string): Promise<Made> {
  const id = newId();
  const [active] = await stores.dataSource.query<Array<{ hash: string }>>(
    `SELECT hash FROM revisions WHERE org = 'acme' AND state = 'active'`,
  );
  await sql(
    `INSERT INTO plans (hash, id, forge, org, state, plan, made_at) VALUES ($1, $2, 'main', 'acme', $3, $4, now())`,
    `${id.replaceAll('-', '')}`,
    id,
    state,
    JSON.stringify({
      ...{
        id,
        org: 'acme',
        hash: id,
        now: new Date(),
        madeAt: new Date(),
        overCaps: [],
        needsApproval: true,
        name: 'a\0b',
      },
      ...{ lines: [{ does: 'write' }], revision: { id: 'r', hash: active?.hash } },
    }),
  );
  return { id, explain: null };
}

const forgeWait = (code: 'limits' | 'silent' | 'refuses') => async (): Promise<Made> => {
  const org = `org-${code}`;
  const id = await plan(`forge.${code}`, { org });
  const reason = {
    limits: intentReason('intent.forge-limits', { credential: code }),
    silent: intentReason('intent.forge-silent', { credential: code, calls: 8 }),
    refuses: intentReason('intent.forge-refuses', { credential: code }),
  }[code];
  await stores.journal.holdForge({ credential: code, forge: 'main', orgs: [org], reason }, HOUR_MS);
  return { id, explain: id };
};

const MAKERS: Readonly<Record<WaitingCode, () => Promise<Made>>> = {
  'effect.read': () => effect(plan('effect.read').then((id) => stepAside(id))),
  'effect.cause': () =>
    effect(plan('effect.cause').then((id) => stepAside(id, intentReason('intent.cause-unknown', { because: failed })))),
  'effect.outcome': () =>
    effect(plan('effect.outcome').then((id) => move(id, ['sent', 'unknown'], { reason: failed }))),
  'effect.person': () => effect(plan('effect.person').then((id) => move(id, ['sent', 'unknown', 'waiting']))),
  'effect.object': async () => {
    const object = 'label bug';
    await stepAside(await plan('effect.read', { orderKey: 'of object', object }));
    return effect(plan('effect.object', { orderKey: 'of object', object: 'issue 1', names: [object] }));
  },
  'effect.key': async () => {
    await move(await plan('effect.outcome', { effectKey: 'the same' }), ['sent', 'unknown']);
    return effect(plan('effect.key', { effectKey: 'the same' }));
  },
  'effect.step': async () => {
    const [runId, first, second] = [newId(), newId(), newId()];
    const intents = [first, second].map((id, stepNo) =>
      anIntent({ id, runId, stepNo, rule: 'effect.step', orderKey: `step ${id}`, effectKey: id }),
    );
    await decide({ id: runId, rule: 'effect.step' }, intents);
    await move(first, []);
    return { id: second, explain: second };
  },
  'effect.order': async () => {
    await move(await plan('at work', { orderKey: 'in order' }), []);
    return effect(plan('effect.order', { orderKey: 'in order' }));
  },
  'effect.retry': () =>
    effect(
      plan('effect.retry').then((id) =>
        move(id, ['planned'], { failed: 'counted', dueAt: from(HOUR_MS), reason: failed }),
      ),
    ),
  'effect.revision': () =>
    effect(
      plan('effect.revision').then((id) =>
        move(id, ['planned'], { reason: intentReason('intent.rule-mode', { mode: 'shadow', isLocal: true }) }),
      ),
    ),
  'effect.turn': async () => {
    const id = await plan('effect.turn');
    await sql(`UPDATE intents SET due_at = now() - interval '1 minute' WHERE id = $1`, id);
    return { id, explain: id };
  },
  'effect.approval': () => effect(plan('effect.approval', { approval: 'wanted' })),
  'effect.budget': () =>
    effect(
      plan('effect.budget').then((id) =>
        move(id, ['planned'], {
          spentBudget: { limit: { key: id, kind: 'rule', of: 'effect.budget', perHour: 1 }, againInMs: HOUR_MS },
        }),
      ),
    ),
  'effect.pause': async () => {
    await stores.journal.pause({ org: 'acme', rule: 'effect.pause', by: 'ann', at: new Date() });
    return effect(plan('effect.pause'));
  },
  'effect.others': () =>
    effect(
      plan('effect.others').then((id) =>
        move(id, ['planned'], {
          waits: true,
          dueAt: from(HOUR_MS),
          reason: intentReason('intent.waits', { because: because('no approvals') }),
        }),
      ),
    ),
  'effect.queue': () =>
    effect(
      plan('effect.queue').then((id) =>
        move(id, ['planned'], {
          waits: true,
          dueAt: from(HOUR_MS),
          reason: intentReason('intent.waits', {
            because: say('queue.place', { place: 2, behind: ['12'], base: 'main' }),
          }),
        }),
      ),
    ),
  'forge.limits': forgeWait('limits'),
  'forge.silent': forgeWait('silent'),
  'forge.refuses': forgeWait('refuses'),
  'arrival.turn': async () => {
    const { id } = aDelivery();
    await stores.inbox.storeDeliveries([aDelivery({ id, org: 'acme', receivedAt: from(-60_000) } as never)]);
    return { id, explain: null };
  },
  'work.crashed': async () => {
    const id = await event();
    await stores.poisonMessages.begin({ topic: 'event', ids: [id], owner: 'gone', leaseMs: 0, dares: 1 });
    return { id, explain: id };
  },
  'work.quarantined': async () => {
    const id = await event();
    await stores.poisonMessages.begin({ topic: 'event', ids: [id], owner: 'gone', leaseMs: 0, dares: 1 });
    await stores.poisonMessages.quarantine('event', id, 'processes ended over it');
    return { id, explain: id };
  },
  'event.read': async () => {
    const id = await event();
    await stores.waiting.putOff('event', id, 'acme', failed);
    return { id, explain: id };
  },
  'event.order': async () => {
    const object = { repoId: '7', kind: 'issue', objectId: '12' };
    await event({}, object);
    const id = await event({}, object);
    return { id, explain: id };
  },
  'event.rules': async () => {
    const id = await event({ org: 'bare' });
    return { id, explain: id };
  },
  'event.turn': async () => {
    const id = await event();
    await sql(`UPDATE events SET stored_at = now() - interval '1 minute' WHERE id = $1`, id);
    return { id, explain: id };
  },
  'run.window': () => gathering(runReason('run.gathering', { seconds: 60, key: 'k' }), 'run.window'),
  'run.answer': () => gathering(runReason('run.answer.waits'), ANSWER_RULE),
  'run.check': () => gathering(runReason('run.check.waits'), CHECK_RULE),
  'run.field': () =>
    gathering(runReason('run.unknown', { fields: ['event.files'], source: 'feed', seconds: 60 }), 'run.field'),
  'run.read': async () => {
    const made = await gathering(runReason('run.gathering', { seconds: 60, key: 'k' }), 'run.read');
    await stores.waiting.putOff('run', made.id, 'acme', failed);
    return made;
  },
  'run.open': () => gathering(runReason('run.subject-gone'), 'run.open'),
  'tick.read': async () => {
    const id = await tick('acme');
    await stores.waiting.putOff('tick', id, 'acme', failed);
    return { id, explain: null };
  },
  'tick.rules': async () => ({ id: await tick('bare'), explain: null }),
  'tick.turn': async () => ({ id: await tick('acme'), explain: null }),
  'plan.approval': () => keepPlan('open'),
  'plan.approved': () => keepPlan('approved'),
  'policy.frozen': () =>
    held(
      runReason('run.held.frozen', { until: 'tomorrow', reason: 'a feast', wanted: because('1 effect') }),
      'policy',
      'policy.frozen',
    ),
  'policy.cap': () =>
    held(
      runReason('run.held.cap', { caps: [because('too many')], wanted: because('9 effects') }),
      'policy',
      'policy.cap',
    ),
  'rule.limit': () => held(runReason('run.held.limit', { fired: 3, limit: 3 }), 'rule', 'rule.limit'),
};

const CODES = Object.keys(WAITING) as WaitingCode[];
const made = new Map<WaitingCode, Made>();
let status: AnswerOf<'status'>;
let doctor: AnswerOf<'doctor'>;
let waiting: readonly ShownWaiting[];
let overview: string;

async function call<Name extends OperationName>(name: Name, sent: object = {}): Promise<AnswerOf<Name>> {
  const operation: AnyOperation = OPERATIONS[name];
  const handle = running.control.operations[name] as (input: unknown, by: ControlCaller) => Promise<unknown>;
  return (await handle(operation.input.parse(sent), SOCKET)) as AnswerOf<Name>;
}

async function show(page: AnyPage, id = ''): Promise<string> {
  const ask = { caller: SOCKET, now: new Date(), params: { id }, query: {}, call, may: () => true };
  const value = { path: '/', query: {}, csrf: 'c', nonce: 'n' };
  const children = page.view(await page.load(ask as unknown as Ask));
  return renderToString(h(LookContext.Provider, { value, children }));
}

/** Pauses, budgets, quarantine and consent have lines of their own there. */
const OTHERWISE: Partial<Record<WaitingCode, RegExp>> = {
  'effect.pause': /paused/i,
  'effect.budget': /budget of/,
  'work.quarantined': /quarantined|set aside/,
};
const ALSO_ON_PAGE: Partial<Record<WaitingCode, RegExp>> = {
  ...OTHERWISE,
  'effect.approval': /wait(s)? for approval/,
  'plan.approval': /number of plans|waits for approval|plan/i,
};

describe('integration/waiting: each waiting reason', () => {
  beforeAll(async () => {
    forge = await aForge({ org: 'acme' });
    dir = mkdtempSync(join(tmpdir(), 'fh-waiting-'));
    mkdirSync(join(dir, 'rules'));
    writeFileSync(join(dir, 'rules', 'r.yaml'), RULES);
    writeFileSync(join(dir, 'forgehand.yaml'), JSON.stringify(acmeConfig(forge)));
    Object.assign(process.env, { FORGE_TOKEN: forge.botToken, HOOK: 'the secret of the hook' });
    running = await aControl(readConfig(join(dir, 'forgehand.yaml')));
    // The maintenance of the store is all of it.
    stores = running.part(StoreMaintenance) as unknown as Stores;
    await call('status');
    for (const code of CODES) made.set(code, await MAKERS[code]());
    status = await call('status');
    doctor = await call('doctor', { limit: 1_000 });
    waiting = await call('waiting');
    overview = await show(overviewPage);
  });

  afterAll(async () => {
    await running?.close();
    await forge?.close();
    for (const name of ['FORGE_TOKEN', 'HOOK'])
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    if (dir) rmSync(dir, { recursive: true, force: true });
  });

  const lineOf = (code: WaitingCode): ShownWaiting | undefined =>
    status.waiting.find((one) => one.code === code && one.ids.includes(made.get(code)?.id ?? ''));

  it.each(CODES)('%s says what waits, since when, and what to do, in `status`', (code) => {
    const line = lineOf(code);

    expect(line).toMatchObject({ code, what: WAITING[code].what, since: expect.any(Date) });
    expect(line?.since.getTime()).toBeLessThanOrEqual(Date.now());
    expect(describeStatus(status, true)).toMatch(OTHERWISE[code] ?? new RegExp(`waits: .*${code};`));
  });

  it.each(CODES)('%s is a check of `doctor`, and a finding unless somebody wanted it so', (code) => {
    const id = made.get(code)?.id ?? '';
    const check = doctor.rows.find((one) => one.code === `waiting.${code}` && one.said.includes(id));

    expect(check).toMatchObject({
      check: `waiting.${code.split('.')[0] ?? ''}`,
      fix: lineOf(code)?.todo ? [lineOf(code)?.todo] : [],
    });
    if (lineOf(code)?.byPlan) expect(check?.state).toBe('note');
    else expect(['warning', 'note']).toContain(check?.state);
    expect(describeDoctor(doctor, false)).not.toContain('nothing is wrong');
  });

  it.each(CODES)('%s stands below `runs`', (code) => {
    const text = describeRuns([], { waiting, notAsked: [] }, { hides: false, next: null });

    expect(text).toContain(`(${code}; `);
    expect(text).toContain(made.get(code)?.id);
  });

  it.each(CODES)(
    '%s is told by `explain` of what waits, where that can be explained, and on its page of the Console',
    async (code) => {
      const id = made.get(code)?.explain ?? null;
      if (id === null) return void expect(overview).toMatch(ALSO_ON_PAGE[code] ?? new RegExp(`<code>${code}</code>`));
      const found = await call('explain', { id });

      expect(found.waiting?.map((one) => one.code)).toContain(code);
      expect(printExplanation(found)).toContain(`(${code}; `);
      const page =
        found.about === 'event'
          ? eventPage
          : code.startsWith('run.') || ('run' in found && found.run.id === id)
            ? runPage
            : effectPage;
      expect(await show(page, id)).toContain(`<code>${code}</code>`);
      expect(overview).toMatch(ALSO_ON_PAGE[code] ?? new RegExp(`<code>${code}</code>`));
    },
  );

  it('names what stands before it', () => {
    const behind = (code: WaitingCode): string | null | undefined => lineOf(code)?.behind;

    for (const code of ['effect.object', 'effect.key', 'effect.step', 'effect.order', 'event.order'] as const)
      expect([code, behind(code)]).toEqual([code, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(behind('forge.silent')).toBe('silent');
    expect(lineOf('effect.read')?.because).toBe('listLabels: status 500');
    expect(lineOf('event.read')?.because).toBe('listLabels: status 500');
  });

  it('says why a rule has no run for an event, and never a guess', async () => {
    const explained = async (id: string): Promise<string> =>
      printExplanation(await call('explain', { id, rule: 'greet' }));

    expect(await explained(made.get('event.read')?.id ?? '')).toMatch(
      /the event is not decided yet: an event cannot be decided: .*listLabels: status 500, since /,
    );
    const decided = await event();
    await stores.journal.recordDecision({ eventId: decided }, []);
    expect(await explained(decided)).toContain('the event was decided before this rule was there');
  });

  it('is gone from everywhere once it goes on', async () => {
    const id = made.get('event.read')?.id ?? '';
    await stores.journal.recordDecision({ eventId: id }, []);
    await stores.waiting.goOn('event', id);
    await stores.journal.releaseForge('silent');

    const now = await call('waiting');
    expect(now.some(({ ids }) => ids.includes(id))).toBe(false);
    expect(now.some(({ code }) => code === 'forge.silent')).toBe(false);
    expect(await call('waiting', { event: id })).toEqual([]);
  });
});
