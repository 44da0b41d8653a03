import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeliveryRecord } from '../../src/sandbox/deliveries/delivery-queue.js';
import { hookEventOf, HOOK_EVENTS, type HookEventType } from '../../src/sandbox/deliveries/hook-events.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { jsonTextOf } from '../recordings-tool/act-file.js';
import { aWorld, doEverything } from './every-act.js';
import { keySetsOf, kindsOf, missingPlaces, strangeKinds, strangeShapes } from './key-sets.js';
import {
  groupBodies,
  groupRecorded,
  hasFullSet,
  readRecordedDeliveries,
  readShapes,
  SERVERS,
} from './recorded-shapes.js';

/** Not every act was recorded: these are compared with the nearest that was. */
const STAND_INS: Record<string, string> = {
  'wiki/edited': 'wiki/created',
  'issue_comment/created': 'issue_comment/deleted',
};

/** What was never recorded: who asks for a rerun, and a Forgejo run that is not the first of its line. */
const UNRECORDED = [
  /^workflow_run\/requested .*previous_attempt_url: string instead of null$/,
  /^action_run_\S+ .*last_run/,
  /^action_run_recover/,
];
const isRecorded = (line: string): boolean => !UNRECORDED.some((known) => known.test(line));

const withFullSet = hasFullSet ? it : it.skip;

describe.each(SERVERS)('sandbox/deliveries, beside the recordings of %s', (server, profile) => {
  const recorded = readRecordedDeliveries(server);
  let sandbox: Sandbox;
  let sent: readonly DeliveryRecord[];

  beforeAll(async () => {
    sandbox = await startSandbox({ profile, populate: (parts) => aWorld(parts) });
    sandbox.parts.deliveries.faults.dropPercent(100, 1);
    await doEverything(sandbox.parts);
    sent = sandbox.parts.deliveries.history();
  });

  afterAll(() => sandbox.close());

  /** Runs a comparison over every type and action of ours. */
  function compare<T>(
    theirs: ReadonlyMap<string, T>,
    findDifferences: (bodies: unknown[], known: T) => string[],
  ): string[] {
    const lines = [...groupBodies(sent, ({ text }) => text)].flatMap(([name, bodies]) => {
      const known = theirs.get(name) ?? theirs.get(STAND_INS[name] ?? '');
      return known ? findDifferences(bodies, known).map((line) => `${name} ${line}`) : [`${name}: never recorded`];
    });
    return lines.filter(isRecorded);
  }

  it('sends every type of event that the server knows', () => {
    const types = new Set(sent.map((record) => record.text.type));
    const known = HOOK_EVENTS.map(({ type }) => type).filter((type) => !sandbox.parts.profile.telling.silent.has(type));

    expect(known.filter((type) => !types.has(type))).toEqual([]);
  });

  it('has an object of the same keys in the same order at every place of every body', () => {
    expect(compare(readShapes(server), (bodies, known) => strangeShapes(keySetsOf(bodies), known))).toEqual([]);
  });

  it('knows every action of every type that was recorded', () => {
    const ours = groupBodies(sent, ({ text }) => text);

    expect([...readShapes(server).keys()].filter((name) => !ours.has(name))).toEqual([]);
  });

  withFullSet('has a value of a recorded kind at every place of every body', () => {
    expect(compare(groupRecorded(recorded), (bodies, known) => strangeKinds(kindsOf(bodies), kindsOf(known)))).toEqual(
      [],
    );
  });

  withFullSet('leaves out no object that every recorded body has', () => {
    expect(compare(groupRecorded(recorded), (bodies, known) => missingPlaces(keySetsOf(bodies), known))).toEqual([]);
  });

  withFullSet('has nothing in the file of shapes that was not recorded', () => {
    const theirs = groupRecorded(recorded);

    const strange = [...readShapes(server)].flatMap(([name, shapes]) =>
      strangeShapes(shapes, keySetsOf(theirs.get(name) ?? [])).map((line) => `${name} ${line}`),
    );

    expect(strange).toEqual([]);
  });

  it('writes the same indentation', () => {
    const indentOf = (json: string): number | undefined => /^\{\n( +)/.exec(json)?.[1]?.length;
    const indents = new Map<string, number | undefined>(
      recorded.map((one) => [one.event_type, indentOf(jsonTextOf(one))]),
    );

    expect(
      sent
        .filter(({ text }) => indents.has(text.type) && indentOf(text.json) !== indents.get(text.type))
        .map(({ text }) => text.type),
    ).toEqual([]);
  });

  it('sends the same family name for every type', () => {
    const families = new Map(
      recorded.map((one) => [one.event_type, one.headers.find(([name]) => name === 'X-Gitea-Event')?.[1]]),
    );

    const { namelessTypes } = sandbox.parts.profile.telling.requests;
    const familyOf = (type: HookEventType): string => (namelessTypes.includes(type) ? '' : hookEventOf(type).family);

    expect(
      sent
        .filter(({ text }) => families.has(text.type) && families.get(text.type) !== familyOf(text.type))
        .map(({ text }) => text.type),
    ).toEqual([]);
  });
});
