import { z } from 'zod';
import { orgMail } from './mail-schema.js';
import { POWERS } from './app-config.js';
import { auth, between, flag, group, identifier, text, whole } from './config-values.js';
import { secretReference } from './secret-reference.js';

const orNull = <Value extends z.ZodType>(value: Value) => value.optional().transform((written) => written ?? null);

const secrets = z.union([secretReference, z.array(secretReference).min(1)], {
  error: 'a secret is given as { env: NAME }, { file: PATH } or { credential: NAME }, never as its value',
});

const wallTime = z.string().regex(/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$/, {
  error: 'a day (2026-12-24) or a time (2026-12-24T18:00), on the clock of tz',
});

/** Numbers of repositories are read as text, since forges count beyond what a number of JSON holds. */
const repositoryId = z
  .union([z.int().positive(), z.string().regex(/^[1-9]\d{0,18}$/, { error: 'the number of a repository' })], {
    error: 'the number of a repository',
  })
  .transform(String);

const perHour = z
  .union([whole(1), z.literal('none')], {
    error: 'effects per hour: a whole number of 1 or more, or none (no limit)',
  })
  .transform((written) => (written === 'none' ? null : written));

/** A host, or a host and whole segments of a path; never what two readers of addresses could take for two places. */
export const mirrorPlace = z
  .string()
  .refine(
    (entry) =>
      /^(http:\/\/)?([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(\/[A-Za-z0-9._~-]+)*\/?$/.test(entry) &&
      !/\/\.\.?(\/|$)/.test(entry),
    {
      error:
        'a host or host:port, behind http:// for plain http, with the beginning of a path like /acme/ or without; no user name, escapes or dots',
    },
  );

const limit = (what: string) =>
  z
    .enum(['refuse', 'allow'])
    .optional()
    .describe(`${what}: allow or refuse. Default: refuse for rules from a repository, allow for rules from a folder`);

/** What only one organization can have. */
const itsOwn = {
  name: text.describe('the organization as the forge writes it'),
  auth: auth('the account for this organization alone').optional(),
  hooks: z
    .array(
      z.strictObject({
        id: identifier.describe('deliveries come to POST /webhooks/ID'),
        secret: secrets.optional().describe('secret of the hook; a list during a rotation'),
        authorization: secrets.optional().describe('value of the Authorization header that the forge sends'),
      }),
    )
    .default([]),
  repositories: z
    .array(repositoryId)
    .max(10_000)
    .default([])
    .describe('numbers of its repositories, for a forge that finds none by number'),
};

/** What one organization may have as another has it. */
const shared = {
  forge: identifier.describe('id of its forge; required here or in `defaults`'),
  rules: z.strictObject({
    path: text
      .optional()
      .describe('folder or file with rules, from the folder of the config file (also in a file of orgs.d)'),
    repository: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,100}\/[A-Za-z0-9._-]{1,100}$/, { error: 'owner/name' })
      .optional()
      .describe('owner/name of the repository that has the rules, instead of path'),
    branch: text.optional().describe('its branch, for a forge that does not name the default branch'),
    repository_id: repositoryId.optional().describe('its number. Default: the number that the bot sees first'),
    every_s: between(0.2, 86400).default(300).describe('seconds between two checks without a push'),
    accept: z
      .literal('open-branch', { error: 'open-branch, or nothing' })
      .optional()
      .describe('accept rules from a branch to which writers may push without a review'),
    require: group({
      reviews: whole(0, 20).default(0).describe('approvals of the pull request that brought the newest commit'),
      signed: flag(false).describe('the newest commit must have a signature that the forge verified'),
    }),
    extends_from: z.array(text).max(10).default([]).describe('folders whose files rule files may extend'),
    built_in_sets: flag(true).describe('rule files may extend the rule sets of the program, such as forgehand/stale@1'),
    shadow: z.strictObject({ path: text.describe('rules tried beside the live ones; they never write') }).optional(),
  }),
  powers: z.array(z.enum(POWERS)).default([]).describe('powers that rules may use'),
  mirror_hosts: z
    .array(mirrorPlace)
    .default([])
    .describe(
      'hosts, or hosts with the beginning of a path, that push mirrors may point to; a raw address or an internal name must be listed itself, and http:// before the host allows plain http',
    ),
  trusted: flag(false).describe(
    'apply policies that are new to this store at once. Default: each waits once for `forgehand approve` of its plan; rules never wait',
  ),
  limits: group({
    merges: limit('merges of pull requests'),
    approve_and_merge: z
      .enum(['refuse', 'allow'])
      .default('refuse')
      .describe(
        'review.approve and pull_request.merge in one set of rules: then nobody but the bot need look at a change',
      ),
    private_mirrors: limit('push mirrors of private repositories'),
    private_reads: limit('after reading a private repository, effects on objects that others may read'),
  }),
  notify_hosts: z
    .array(mirrorPlace)
    .default([])
    .describe(
      'hosts, or hosts with the beginning of a path, that `notify` may send messages to, written as in mirror_hosts; a mail server as host:port. Default: none',
    ),
  mail: orgMail.optional(),
  secrets: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), secretReference)
    .default({})
    .describe('names that rules may use as secrets.NAME'),
  tasks: group({
    calls_per_poll: whole(0, 1000).default(5).describe('maximum number of task lists in one poll'),
  }),
  feed: group({
    every_s: between(0.1, 86400).default(60).describe('seconds between two polls of a quiet organization'),
    grace_s: between(0, 86400).default(120).describe('seconds that a row waits for its delivery; then it is a gap'),
  }),
  lists: group({
    every_s: between(0, 604_800)
      .default(3600)
      .describe('seconds between two reads of the lists of issues and releases; 0 = never'),
    calls_per_visit: whole(1, 1000).default(10).describe('maximum number of calls of one such read'),
  }),
  answers: group({
    enabled: flag(true).describe(
      'answer people when the bot refuses, holds or fails what they asked for by a command or a label',
    ),
    bots: z
      .array(text)
      .max(100)
      .default([])
      .describe('logins of other bots, which the bot never answers; logins that end in -bot count as bots'),
  }),
  freeze: z
    .array(
      z.strictObject({
        from: wallTime.optional().describe('first day or time in which schedules do not fire'),
        to: wallTime.optional().describe('last day or time'),
        cron: z.string().optional().describe('starts of a window that repeats, five fields'),
        for: z.string().optional().describe('how long such a window lasts: 90m, 62h'),
        tz: z.string().default('UTC').describe('time zone of these times'),
        reason: text.max(200).describe('reason that people see'),
      }),
    )
    .max(100)
    .default([]),
  promotion: group({
    min_decisions: whole(1, 100_000).default(20).describe('decisions without an error that forgehand promote needs'),
  }),
  budgets: group({
    effects_per_hour: perHour.prefault('none').describe('effects of all rules of the organization in any hour'),
    per_repository: perHour.prefault('none').describe('in one repository'),
    per_rule: perHour.prefault(1000).describe('of one rule'),
    per_actor: perHour.prefault('none').describe('started by one account'),
    per_stranger: perHour.prefault(5).describe('started by one account outside the organization'),
    effects_per_plan: orNull(whole(1)).describe('the bot applies no plan with more effects'),
    percent_of_subjects: orNull(whole(1, 100)).describe('the bot applies no plan that changes more of its subjects'),
  }),
};

/** An organization, with what `defaults` gave it. */
export const orgSchema = z.strictObject({ ...itsOwn, ...shared });

/** Keys of `orgs[]` for the organizations that lack them. */
export const defaultsSchema = z
  .strictObject({
    orgs: z
      .array(text)
      .min(1)
      .optional()
      .describe('names of the organizations that the other keys of `defaults` hold for. Default: all'),
    ...z.strictObject(shared).partial().shape,
  })
  .optional();
