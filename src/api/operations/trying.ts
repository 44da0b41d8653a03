import { z } from 'zod';
import { UserError } from '../../core/errors.js';
import { opensSealed, type ControlCaller } from '../../core/operators.js';
import { fields, maybeText, maybeTime, text } from '../../core/schema.js';
import type { Visibility } from '../../core/visibility.js';
import type { HistoryAnswer } from '../../insight/history-store.port.js';
import { tellHistory } from '../../insight/tell-history.js';
import { draftBacktest, draftCheck, eventTrial, objectTrial, ruleLanguage } from '../../insight/trying/try-answers.js';
import { readObjectReference } from '../../core/object-reference.js';
import type { Needs } from './needs.js';
import { operation } from './operation.js';
import { historyOfId } from './shared.js';

/** A path is a label here: nothing is read from it or written to it. */
const PATH = 300;
const FILE = 256 * 1024;
const MAX_EDITS = 50;
/** Several edited files at once; each of them may be as large as a rule file. */
const BODY = 1024 * 1024;

const draft = {
  org: z.string().min(1),
  files: z
    .array(
      z.strictObject({
        path: z.string().min(1).max(PATH),
        text: z.string().max(FILE).nullable().describe('Null = the file is gone.'),
      }),
    )
    .max(MAX_EDITS)
    .default([])
    .describe('Files that differ from the active ones.'),
};

export const tryingOperations = {
  ruleFiles: operation({
    route: 'GET /v1/rule-files/:org',
    summary: 'The active rule files of an organization, as they were read',
    scope: 'read',
    command: { none: 'the files lie in the folder or the repository that the config names' },
    input: z.strictObject({ org: z.string().min(1) }),
    answer: z.object({
      ...fields('revision state', maybeText),
      loadedAt: maybeTime,
      files: z.array(
        z.object({
          ...fields('path text', text),
          isShared: z.boolean().describe('A shared file that others extend.'),
          editUrl: maybeText.describe("The forge's own editor of the file, where the rules come from a repository."),
        }),
      ),
      newFileUrl: maybeText,
    }),
    handle: async ({ orgs, drafts }, { org: typed }, _caller, visibility) =>
      drafts.filesOf(orgs.wholeOf(typed, visibility)),
  }),
  ruleLanguage: operation({
    route: 'GET /v1/rule-language',
    summary: 'The rule language as data for editors: JSON Schema, kinds of events with their fields, functions',
    scope: 'read',
    command: { none: '`forgehand schema` prints the schema without a bot' },
    input: z.strictObject({}),
    answer: ruleLanguage,
    handle: ({ drafts }) => drafts.language(),
  }),
  checkDraft: operation({
    route: 'POST /v1/drafts/:org/check',
    summary: 'Check edited rule files; stores nothing',
    scope: 'read',
    changesNothing: true,
    maxBytes: BODY,
    command: { none: '`forgehand check` checks files without a bot' },
    input: z.strictObject(draft),
    answer: draftCheck,
    handle: async ({ orgs, drafts }, { org: typed, files }, _caller, visibility) =>
      drafts.check(await drafts.draft(orgs.wholeOf(typed, visibility), files)),
  }),
  tryDraft: operation({
    route: 'POST /v1/drafts/:org/event',
    summary: 'The verdict of edited rule files on one stored event, beside the recorded one; one rule step by step',
    scope: 'read',
    changesNothing: true,
    maxBytes: BODY,
    command: { none: '`forgehand backtest` tries a folder on stored events, and `forgehand test` on recorded ones' },
    input: z.strictObject({
      ...draft,
      id: z.string().min(1).describe('Of an event or an arrival.'),
      rule: z.string().optional().describe('The rule to show step by step.'),
    }),
    answer: eventTrial,
    handle: async (needs, { org: typed, files, id, rule = null }, caller, visibility) => {
      const org = needs.orgs.wholeOf(typed, visibility);
      const edited = await needs.drafts.draft(org, files);
      return needs.drafts.onEvent(edited, await historyOf(needs, org, id, caller, visibility), rule);
    },
  }),
  tryOnObject: operation({
    route: 'POST /v1/drafts/:org/object',
    summary:
      'What rule files would make of an issue or pull request, read from the forge now, and what they would write; writes nothing',
    scope: 'read',
    changesNothing: true,
    maxBytes: BODY,
    command: 'try',
    input: z.strictObject({
      ...draft,
      on: z.string().describe('The object: `acme/app#12`.'),
      as: z.string().optional().describe('The kind of event to make of it. Default: its opening.'),
      alone: z.boolean().default(false).describe('Try `files` without the other files of the organization.'),
    }),
    answer: objectTrial,
    handle: async ({ orgs, drafts, objectTrials }, { org: typed, files, on, as = null, alone }, caller, visibility) => {
      const org = orgs.wholeOf(typed, visibility);
      const object = readObjectReference(on);
      const name = orgs.of(org)?.name ?? org;
      if (object.owner.toLowerCase() !== name.toLowerCase())
        throw new UserError('OTHER_OWNER', `${on} is not of ${name}: rules of ${name} act on its own repositories`);
      const edited = await drafts.draft(org, files, { isAlone: alone });
      const isOpen = opensSealed(caller, org);
      const forge = orgs.of(org)?.forge ?? '';
      return objectTrials.try(edited, { ...object, forge, org, as, isOpen, by: caller.name });
    },
  }),
  draftFixture: operation({
    route: 'POST /v1/drafts/:org/fixture',
    summary: 'A stored event as a fixture for edited rule files, without secrets',
    scope: 'read',
    changesNothing: true,
    maxBytes: BODY,
    command: { none: '`forgehand test record` writes it beside the rules' },
    input: z.strictObject({ ...draft, id: z.string().min(1).describe('Of an event or an arrival.') }),
    answer: z.object({ ...fields('file text', text), rules: z.array(text), notes: z.array(text) }),
    handle: async (needs, { org: typed, files, id }, caller, visibility) => {
      const org = needs.orgs.wholeOf(typed, visibility);
      const edited = await needs.drafts.draft(org, files);
      return needs.drafts.fixture(edited, await historyOf(needs, org, id, caller, visibility));
    },
  }),
  startBacktest: operation({
    route: 'POST /v1/drafts/:org/backtest',
    summary: "Start to try rule files with edits on stored events; it takes the place of the caller's back-test before",
    scope: 'read',
    changesNothing: true,
    maxBytes: BODY,
    command: { none: '`forgehand backtest` tries a folder in its own process' },
    input: z.strictObject({ ...draft, days: z.union([z.literal(1), z.literal(7), z.literal(30)]) }),
    answer: draftBacktest,
    handle: async ({ orgs, drafts, backtests }, { org: typed, files, days }, caller, visibility) => {
      const edited = await drafts.draft(orgs.wholeOf(typed, visibility), files);
      return backtests.start(caller.name, edited, days, opensSealed(caller, edited.org));
    },
  }),
  backtest: operation({
    route: 'GET /v1/drafts/:org/backtest',
    summary: "How far the caller's back-test is, and what came of it; one that nobody asks about for a minute ends",
    scope: 'read',
    command: { none: '`forgehand backtest` shows its progress itself' },
    input: z.strictObject({ org: z.string().min(1) }),
    answer: draftBacktest,
    handle: ({ orgs, backtests }, { org: typed }, { name }, visibility) => {
      const org = orgs.wholeOf(typed, visibility);
      const backtest = backtests.of(name);
      if (backtest?.org !== org) throw new UserError('NOT_FOUND', `you have no back-test of ${org}: start one first`);
      return backtest;
    },
  }),
  cancelBacktest: operation({
    route: 'POST /v1/drafts/:org/backtest/cancel',
    summary: "End the caller's back-test",
    scope: 'read',
    changesNothing: true,
    command: { none: 'Ctrl-C ends `forgehand backtest`' },
    input: z.strictObject({ org: z.string().min(1) }),
    answer: z.object({ cancelled: z.boolean().describe('False when none was under way.') }),
    handle: ({ orgs, backtests }, { org: typed }, { name }, visibility) => {
      const org = orgs.wholeOf(typed, visibility);
      return { cancelled: backtests.of(name)?.org === org && backtests.cancel(name) };
    },
  }),
};

/** One event with its runs. @throws UserError NOT_FOUND where the organization has no such event */
async function historyOf(
  needs: Pick<Needs, 'ids' | 'inbox' | 'history' | 'config' | 'self' | 'ruleBehind' | 'encryptor'>,
  org: string,
  typed: string,
  caller: ControlCaller,
  visibility: Visibility,
): Promise<HistoryAnswer> {
  const page = await historyOfId(needs, typed, visibility);
  if (page.events[0]?.org !== org) throw new UserError('NOT_FOUND', `${org} has no event or arrival ${typed}`);
  return tellHistory(needs, org, page, opensSealed(caller, org));
}
