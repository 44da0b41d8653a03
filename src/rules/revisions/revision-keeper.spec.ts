import type { Operator } from '../../core/operators.js';
import { describe, expect, it, jest } from '@jest/globals';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { aLoadEnvironment } from '../../../test/builders/rule-environment.js';
import { ForgeError, UserError } from '../../core/errors.js';
import { silentLogger } from '../../core/logger.js';
import { loadRules } from '../language/load/load-rules.js';
import type { RuleFile } from '../language/revision.js';
import type { RevisionStore, StoredRevision } from './revision-store.port.js';
import { RevisionKeeper } from './revision-keeper.js';

class MemoryRevisions implements RevisionStore {
  readonly rows = new Map<string, StoredRevision>();

  save(revision: StoredRevision): Promise<void> {
    if (revision.state === 'active')
      for (const row of this.rows.values())
        if (row.org === revision.org && row.state === 'active') row.state = 'replaced';
    this.rows.set(revision.id, { ...revision });
    return Promise.resolve();
  }

  active(org: string): Promise<StoredRevision | null> {
    return Promise.resolve([...this.rows.values()].find((row) => row.org === org && row.state === 'active') ?? null);
  }

  activeIn(orgs: readonly string[]): Promise<StoredRevision[]> {
    return Promise.resolve(
      [...this.rows.values()].filter(({ org, state }) => state === 'active' && orgs.includes(org)),
    );
  }

  byId(id: string): Promise<StoredRevision | null> {
    return Promise.resolve(this.rows.get(id) ?? null);
  }

  missing(ids: readonly string[]): Promise<string[]> {
    return Promise.resolve(ids.filter((id) => !this.rows.has(id)));
  }

  list(): Promise<StoredRevision[]> {
    return Promise.resolve([...this.rows.values()]);
  }
}

/** A folder in memory: `write` is a change that the watcher saw. */
class MemorySource {
  private changed: () => void = () => {};
  constructor(private files: RuleFile[] | Error) {}

  read(): Promise<RuleFile[]> {
    return this.files instanceof Error ? Promise.reject(this.files) : Promise.resolve(this.files);
  }

  watch(changed: () => void): void {
    this.changed = changed;
  }

  close(): void {
    this.changed = () => {};
  }

  write(files: RuleFile[] | Error): void {
    this.files = files;
    this.changed();
  }
}

function file(id: string, folder = ''): RuleFile {
  return {
    path: `${folder}rules.yaml`,
    name: 'rules.yaml',
    text: `version: 1\norg: acme\nrules: [{id: ${id}, on: push, do: {milestone.ensure: {title: a}}}]\n`,
  };
}

const LATE = { line: 1, col: 1, message: 'loading takes too long' };

const BROKEN: RuleFile = {
  path: 'rules.yaml',
  name: 'rules.yaml',
  text: 'version: 1\norg: acme\nruels: []\npolicys: []\n',
};

/** So many that may approve. */
function operators(count: number): Operator[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `${n}`,
    name: `op${n}`,
    login: null,
    scopes: ['approve'],
    madeAt: new Date(0),
    madeBy: 'owner',
    expiresAt: new Date(8.64e15),
    revokedAt: null,
    revokedBy: null,
  }));
}

/** @param lateLoads so many loads are ended by their deadline, and those after them are not */
function start(source: MemorySource, store = new MemoryRevisions(), approvers?: () => number, lateLoads = 0) {
  const alerts: string[] = [];
  const clock = new ManualClock();
  let loads = 0;
  const activated: string[] = [];
  const keeper = new RevisionKeeper(
    { all: [{ name: 'acme', source }] },
    {
      load: async (org, files, known) => {
        loads += 1;
        if (loads <= lateLoads) return { ok: false, problems: [{ ...LATE, file: org }], wasLate: true };
        return loadRules(files, { ...aLoadEnvironment(), ...(known || !approvers ? {} : { approvers: approvers() }) });
      },
    },
    { list: async () => operators(approvers?.() ?? 0) },
    store,
    clock,
    silentLogger,
    { raise: (key) => alerts.push(`raise ${key}`), resolve: (key) => alerts.push(`resolve ${key}`) },
  );
  keeper.onActivated((_org, { revision }) => void activated.push(revision.rules[0]!.id));
  const active = async (): Promise<string | null> => (await keeper.active('acme'))?.revision.rules[0]?.id ?? null;
  /** Reloads run one after the other: stopping waits for them all. */
  const settled = async (): Promise<void> => keeper.stop();
  return { keeper, store, clock, loads: () => loads, alerts, activated, active, settled };
}

describe('rules/revisions/revision-keeper', () => {
  it('takes a good state of the files, stores it and tells those who wait for it', async () => {
    const source = new MemorySource([file('one')]);
    const { keeper, store, activated, active } = start(source);

    await keeper.start();

    expect(await active()).toBe('one');
    expect(activated).toEqual(['one']);
    expect([...store.rows.values()]).toMatchObject([
      { org: 'acme', state: 'active', problems: [], files: [file('one')] },
    ]);
  });

  it('lets who needs the rules wait until they are loaded, and answers null where the files are refused or cannot be read', async () => {
    const LONG_MS = 3_600_000;
    const good = start(new MemorySource([file('one')]));
    const waiting = good.keeper.loaded('acme', LONG_MS);
    await good.keeper.start();
    const broken = start(new MemorySource([BROKEN]));
    const refused = broken.keeper.loaded('acme', LONG_MS);
    await broken.keeper.start();
    const away = new MemorySource(new ForgeError('not-sent', 'no answer', { operation: 'getRepo' }));
    const later = start(away);
    await later.keeper.start();
    const none = await later.keeper.loaded('acme', 1);
    const read = later.keeper.loaded('acme', LONG_MS);
    away.write([file('two')]);

    expect((await waiting)?.revision.rules[0]?.id).toBe('one');
    expect((await good.keeper.loaded('acme', LONG_MS))?.revision.rules[0]?.id).toBe('one');
    expect(await refused).toBeNull();
    expect(none).toBeNull();
    expect((await read)?.revision.rules[0]?.id).toBe('two');
  });

  it('replaces it when the files change, and not when they do not', async () => {
    const source = new MemorySource([file('one')]);
    const { keeper, store, activated, active, settled } = start(source);
    await keeper.start();

    source.write([file('one')]);
    source.write([file('two')]);
    await settled();

    expect(await active()).toBe('two');
    expect(activated).toEqual(['one', 'two']);
    expect([...store.rows.values()].map(({ state }) => state)).toEqual(['replaced', 'active']);
  });

  it('tries files again that were refused for what lies outside of them, once that has changed, and asks no more of what was active', async () => {
    let approvers = 1;
    const text =
      'version: 1\norg: acme\nrules: [{id: two, on: push, do: {milestone.ensure: {title: a}, approval: two-people}}]\n';
    const source = new MemorySource([{ ...file('two'), text }]);
    const { keeper, store, active, settled } = start(source, new MemoryRevisions(), () => approvers);
    const again = (): Promise<void> => keeper['tryHeldAgain']();
    await keeper.start();

    const refused = [keeper.heldBack('acme'), await active()];
    await again();
    const unchanged = await active();
    approvers = 2;
    await again();
    const taken = [keeper.heldBack('acme'), await active()];
    await settled();
    const later = start(source, store, () => 1);
    await later.keeper.start();
    await later.settled();

    expect(refused).toEqual([[expect.stringContaining('only one operator')], null]);
    expect(unchanged).toBeNull();
    expect(taken).toEqual([[], 'two']);
    expect([await later.active(), later.keeper.heldBack('acme')]).toEqual(['two', []]);
  });

  it('tries files again whose load was ended by its deadline, after twice the time each time, and takes them when it is in time', async () => {
    const { keeper, clock, loads, active, alerts, settled } = start(
      new MemorySource([file('one')]),
      undefined,
      undefined,
      3,
    );
    const look = (): Promise<void> => keeper['tryLateAgain']();
    await keeper.start();

    const after: Array<[number, number]> = [];
    for (const s of [9, 1, 19, 1, 39, 1, 3600]) {
      clock.advance(s * 1000);
      await look();
      after.push([s, loads()]);
    }
    await settled();

    expect(after).toEqual([
      [9, 1],
      [1, 2],
      [19, 2],
      [1, 3],
      [39, 3],
      [1, 4],
      [3600, 4],
    ]);
    expect([await active(), keeper.heldBack('acme')]).toEqual(['one', []]);
    expect([...new Set(alerts)]).toEqual(['raise rules.broken/acme', 'resolve rules.broken/acme']);
  });

  it('does not try files again that are wrong', async () => {
    const { keeper, clock, loads } = start(new MemorySource([BROKEN]));
    await keeper.start();
    clock.advance(3_600_000);
    await keeper['tryLateAgain']();

    expect(loads()).toBe(1);
  });

  it('asks a place that it refused no more often than its own source asks', async () => {
    let approvers = 1;
    const source = new MemorySource(new UserError('RULES_UNPROTECTED', 'the branch is not protected'));
    const { keeper, settled } = start(source, new MemoryRevisions(), () => approvers);
    await keeper.start();
    const read = jest.spyOn(source, 'read');

    for (approvers of [1, 2, 3]) await keeper['tryHeldAgain']();
    await settled();

    expect(keeper.heldBack('acme')).toEqual(['the branch is not protected']);
    expect(read).not.toHaveBeenCalled();
  });

  it('stores the active revision again when the store was put back to a time before it', async () => {
    const source = new MemorySource([file('one')]);
    const { keeper, store, active, activated, settled } = start(source);
    await keeper.start();
    source.write([file('two')]);
    await settled();
    const known = (await keeper.active('acme'))?.id ?? '';
    store.rows.delete(known);
    for (const row of store.rows.values()) row.state = 'active';

    await keeper.lookAgain('acme');

    expect(await active()).toBe('two');
    expect(activated).toEqual(['one', 'two']);
    expect(await store.active('acme')).toMatchObject({ id: known, files: [file('two')] });
  });

  it('finds by a look at the store that the active revision is missing there, and reads no files while none is', async () => {
    const source = new MemorySource([file('one')]);
    const { keeper, store } = start(source);
    await keeper.start();
    const read = jest.spyOn(source, 'read');

    await keeper['lookAtStore']();
    expect(read).not.toHaveBeenCalled();
    const [row] = store.rows.values();
    store.rows.clear();
    await keeper['lookAtStore']();

    expect([...store.rows.values()]).toEqual([row]);
  });

  it('never lets a broken state replace the running one, and keeps it visible until it is mended', async () => {
    const source = new MemorySource([file('one')]);
    const { keeper, store, alerts, active, settled } = start(source);
    await keeper.start();

    source.write([BROKEN]);
    await settled();

    expect(await active()).toBe('one');
    expect(keeper.heldBack('acme')[0]).toBe('rules.yaml:3:1: unknown key "ruels" in the file (did you mean "rules"?)');
    expect(keeper.heldBack('acme')[1]).toBe(
      'rules.yaml:4:1: unknown key "policys" in the file (did you mean "policies"?)',
    );
    expect([...store.rows.values()].map(({ state, problems }) => [state, problems.length])).toEqual([
      ['active', 0],
      ['broken', 2],
    ]);

    await keeper.start();
    source.write([file('two')]);
    await settled();

    expect(await active()).toBe('two');
    expect(keeper.heldBack('acme')).toEqual([]);
    expect(alerts).toEqual(['resolve rules.broken/acme', 'raise rules.broken/acme', 'resolve rules.broken/acme']);
  });

  it('takes the last good revision from the store when it starts on broken files', async () => {
    const store = new MemoryRevisions();
    const first = start(new MemorySource([file('one')]), store);
    await first.keeper.start();
    await first.settled();

    const second = start(new MemorySource([BROKEN]), store);
    await second.keeper.start();

    expect(await second.active()).toBe('one');
    expect(second.keeper.heldBack('acme')).toHaveLength(2);
  });

  it('has no revision when there never was a good one', async () => {
    const { keeper, active } = start(
      new MemorySource(new UserError('NO_RULE_FOLDER', 'the rule folder x does not exist')),
    );

    await keeper.start();

    expect(await active()).toBeNull();
    expect(keeper.heldBack('acme')).toEqual(['the rule folder x does not exist']);
  });

  it('gives one state of the files one id, wherever the process runs', async () => {
    const here = start(new MemorySource([file('one', '/srv/here/')]));
    const there = start(new MemorySource([file('one', '/opt/there/')]));
    await here.keeper.start();
    await there.keeper.start();

    const ids = await Promise.all([here, there].map(async ({ keeper }) => keeper.active('acme')));

    expect(ids[0]?.id).toBe(ids[1]?.id);
    expect(ids[0]?.revision.hash).toBe(ids[1]?.revision.hash);
  });

  describe('follows a reload of the config', () => {
    const named = (name: string, source: MemorySource) => ({ name, source });

    function startWith(...orgs: Array<ReturnType<typeof named>>) {
      const loads: string[] = [];
      const resolved: string[] = [];
      const sources = { all: orgs };
      const keeper = new RevisionKeeper(
        sources,
        {
          load: async (org, files) => (
            loads.push(org),
            loadRules(
              files.map((one) => ({ ...one, text: one.text.replace('org: acme', `org: ${org}`) })),
              { ...aLoadEnvironment(), org },
            )
          ),
        },
        { list: async () => [] },
        new MemoryRevisions(),
        new ManualClock(),
        silentLogger,
        { raise: () => undefined, resolve: (key) => void resolved.push(key) },
      );
      return { keeper, sources, loads, resolved };
    }

    it('loads what is new or says something else, and nothing that stayed', async () => {
      const [acme, beta] = [
        named('acme', new MemorySource([file('one')])),
        named('beta', new MemorySource([file('b')])),
      ];
      const { keeper, sources, loads } = startWith(acme, beta);
      await keeper.start();
      const changed = named('beta', new MemorySource([file('b')]));
      sources.all = [acme, changed, named('gamma', new MemorySource([file('c')]))];

      await keeper.followConfig();

      expect(loads).toEqual(['acme', 'beta', 'beta', 'gamma']);
      expect((await keeper.active('gamma'))?.revision.rules[0]?.id).toBe('c');
      // Its new source is followed, and the old one is not.
      beta.source.write([file('old')]);
      changed.source.write([file('new')]);
      await keeper.stop();
      expect((await keeper.active('beta'))?.revision.rules[0]?.id).toBe('new');
    });

    it('loads several at once, and no more than four', async () => {
      let [now, most] = [0, 0];
      class SlowSource extends MemorySource {
        override async read(): Promise<RuleFile[]> {
          most = Math.max(most, (now += 1));
          await new Promise((resolve) => setImmediate(resolve));
          now -= 1;
          return super.read();
        }
      }
      const all = Array.from({ length: 12 }, (_, n) => named(`org-${n}`, new SlowSource([file(`rule-${n}`)])));
      const { keeper, loads } = startWith(...all);

      await keeper.start();
      await keeper.stop();

      expect([most, loads.length]).toEqual([4, 12]);
    });

    it('forgets what went, with its alert, and hears no more of its files', async () => {
      const [acme, beta] = [named('acme', new MemorySource([file('one')])), named('beta', new MemorySource([BROKEN]))];
      const { keeper, sources, loads, resolved } = startWith(acme, beta);
      await keeper.start();
      expect(keeper.heldBack('beta')).not.toEqual([]);
      sources.all = [acme];

      await keeper.followConfig();
      beta.source.write([file('late')]);
      await keeper.stop();

      expect([await keeper.active('beta'), keeper.heldBack('beta')]).toEqual([null, []]);
      expect(resolved).toContain('rules.broken/beta');
      expect(loads).toEqual(['acme', 'beta']);
    });

    it('keeps the running revision where the files are refused now', async () => {
      const { keeper, sources } = startWith(named('acme', new MemorySource([file('one')])));
      await keeper.start();
      sources.all = [named('acme', new MemorySource([BROKEN]))];

      await keeper.followConfig();

      expect((await keeper.active('acme'))?.revision.rules[0]?.id).toBe('one');
      expect(keeper.heldBack('acme')).not.toEqual([]);
      await keeper.stop();
    });
  });
});
