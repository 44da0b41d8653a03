import { z } from 'zod';
import { POWERS } from './app-config.js';
import { isAddressRange } from '../core/address-range.js';
import { secretReference } from './secret-reference.js';

const text = z.string().min(1);
const whole = (least: number, most?: number) =>
  most === undefined ? z.int().min(least) : z.int().min(least).max(most);
const between = (least: number, most: number) => z.number().min(least).max(most);
const flag = (otherwise: boolean) => z.boolean().default(otherwise);
const orNull = <Value extends z.ZodType>(value: Value) => value.optional().transform((written) => written ?? null);
/** A part that may be left out whole. */
const group = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape).prefault({} as never);
const identifier = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: 'letters, digits, ".", "_" and "-", at most 64' });
const secrets = z.union([secretReference, z.array(secretReference).min(1)], {
  error: 'a secret is given as { env: NAME }, { file: PATH } or { credential: NAME }, never as its value',
});
const hostAndPort = { error: 'host:port, or a port (then on 127.0.0.1)' };
const address = z
  .union([z.string(), whole(0, 65535)], hostAndPort)
  .transform(String)
  .pipe(
    z
      .string()
      .regex(/^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):\d{1,5}$|^\d{1,5}$/, hostAndPort)
      .refine((text) => Number(text.slice(text.lastIndexOf(':') + 1)) <= 65535, { error: 'a port is 65535 at most' }),
  );
export const httpUrl = z.url({ protocol: /^https?$/, error: 'an http or https address' });

const insecureHttp = z
  .string({ error: 'the reason why plain http is safe here, in words' })
  .min(1)
  .max(200)
  .optional()
  .describe('why plain http is safe on the way to this address; without it the bot allows only https and this machine');

const wallTime = z.string().regex(/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$/, {
  error: 'a day (2026-12-24) or a time (2026-12-24T18:00), on the clock of tz',
});

/** An address that may hold a password. */
const secretAddress = z.union([text, secretReference], {
  error: 'an address, or one that holds a secret as { env: NAME }, { file: PATH } or { credential: NAME }',
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

const auth = (whose: string) =>
  z.discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('token'), token: secretReference.describe(`access token of ${whose}`) }),
      z.strictObject({
        type: z.literal('basic'),
        username: text.describe(whose),
        password: secretReference.describe('its password'),
      }),
    ],
    { error: ({ code }) => (code === 'invalid_union' ? 'token or basic' : undefined) },
  );

/** The operator's file as written. Unknown keys are errors; units are in the names. */
export const configSchema = z.strictObject({
  forges: z
    .array(
      z.strictObject({
        id: identifier.describe('name of this forge in other keys'),
        base_url: httpUrl.describe('address of its API, ending in /api/v1'),
        auth: auth('the bot account'),
        oauth: z
          .strictObject({
            client_id: z
              .string()
              .regex(/^[\x21-\x7e]{1,200}$/, { error: 'the client id that the forge shows' })
              .describe('client id of an OAuth2 application at this forge'),
            client_secret: secretReference.describe('secret of that application'),
          })
          .optional()
          .describe('lets people log in to the Console with their account at this forge'),
        ca_file: z.string().optional().describe('certificate of a private authority, PEM'),
        insecure_http: insecureHttp,
        proxy: z
          .union([httpUrl, secretReference], {
            error:
              'an http or https address, or one with a password as { env: NAME }, { file: PATH } or { credential: NAME }',
          })
          .optional()
          .describe('HTTP proxy for the calls to this forge; as a secret where it needs a password'),
        concurrency: whole(1, 64).default(4).describe('calls at once, of each process'),
        rate_per_s: z.number().positive().max(1000).default(10).describe('calls per second, of each process'),
        settle_s: between(0, 3600)
          .default(60)
          .describe(
            'longest life of a request at the forge and its proxies; the bot reads an unknown outcome only after this time',
          ),
        marks: flag(true).describe(
          'a label or milestone that is made again after an unknown outcome gets a mark in its description',
        ),
        account: z
          .strictObject({
            description: z.string().max(255).optional().describe('description of the account'),
            diff_view_style: z.string().optional().describe('how the forge shows diffs to it'),
            full_name: z.string().max(100).optional().describe('its name for people'),
            hide_activity: z.boolean().optional().describe('whether its activity is hidden'),
            hide_email: z.boolean().optional().describe('whether its address is hidden'),
            language: z.string().optional().describe('its language'),
            location: z.string().max(50).optional().describe('where it is'),
            theme: z.string().optional().describe('its theme'),
            website: z.string().max(255).optional().describe('its web page'),
          })
          .optional(),
      }),
    )
    .min(1, { error: 'at least one forge' }),
  orgs: z
    .array(
      z.strictObject({
        name: text.describe('the organization as the forge writes it'),
        forge: identifier.describe('id of its forge'),
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
        rules: z.strictObject({
          path: text.optional().describe('folder or file with rules, relative to this file'),
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
          shadow: z
            .strictObject({ path: text.describe('rules tried beside the live ones; they never write') })
            .optional(),
        }),
        repositories: z
          .array(repositoryId)
          .max(10_000)
          .default([])
          .describe('numbers of its repositories, for a forge that finds none by number'),
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
          private_mirrors: limit('push mirrors of private repositories'),
          private_reads: limit('after reading a private repository, effects on objects that others may read'),
        }),
        notify_hosts: z.array(text).default([]).describe('hosts that rules may notify'),
        secrets: z
          .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), secretReference)
          .default({})
          .describe('names that rules may use as secrets.NAME'),
        tasks: group({
          calls_per_poll: whole(0, 1000).default(5).describe('maximum number of task lists in one poll'),
        }),
        feed: group({
          every_s: between(0.1, 86400).default(60).describe('seconds between two polls of a quiet organization'),
          grace_s: between(0, 86400)
            .default(120)
            .describe('seconds that a row waits for its delivery; then it is a gap'),
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
          min_decisions: whole(1, 100_000)
            .default(20)
            .describe('decisions without an error that forgehand promote needs'),
        }),
        budgets: group({
          effects_per_hour: perHour.prefault('none').describe('effects of all rules of the organization in any hour'),
          per_repository: perHour.prefault('none').describe('in one repository'),
          per_rule: perHour.prefault(1000).describe('of one rule'),
          per_actor: perHour.prefault('none').describe('started by one account'),
          per_stranger: perHour.prefault(5).describe('started by one account outside the organization'),
          effects_per_plan: orNull(whole(1)).describe('the bot applies no plan with more effects'),
          percent_of_subjects: orNull(whole(1, 100)).describe(
            'the bot applies no plan that changes more of its subjects',
          ),
        }),
      }),
    )
    .min(1, { error: 'at least one organization' }),
  store: z.strictObject({
    url: secretAddress.describe('embedded:FOLDER or postgres://…'),
    group: z
      .int({ error: 'the number of a group (getent group NAME shows it)' })
      .min(0)
      .max(4294967294)
      .optional()
      .describe(
        'number of the group that may read the files of an embedded store. Default: only the user of the bot may',
      ),
  }),
  queue: group({
    url: secretAddress
      .default('embedded')
      .describe('redis://…, or embedded: with PostgreSQL, processes ring for each other by its notifications'),
    sweep_s: between(0.2, 3600)
      .default(1)
      .describe('seconds between two looks of a worker for due work for which nobody rang'),
  }),
  server: group({
    host: z.string().default('0.0.0.0').describe('address the webhook endpoint listens on'),
    port: whole(0, 65535).default(8080).describe('its port; 0 = a free one'),
    public_url: httpUrl.optional().describe('address under which the forge reaches it'),
    max_body_bytes: whole(1024, 268435456)
      .default(5 * 1024 * 1024)
      .describe('largest delivery that the bot accepts'),
    trusted_proxies: z
      .array(
        z.string().refine(isAddressRange, { error: 'an address or a range of addresses, like 10.0.0.7 or 10.0.0.0/8' }),
      )
      .max(100)
      .default([])
      .describe(
        'addresses of proxies whose X-Forwarded-For the bot trusts; any other proxy counts as the sender of everything that comes through it',
      ),
    unverified_bytes: whole(1)
      .optional()
      .describe(
        'memory for requests of all senders before their signature is verified; at least 4 x max_body_bytes. Default: 40 MiB, or 8 x max_body_bytes if that is more',
      ),
    unverified_bytes_per_address: whole(1)
      .optional()
      .describe(
        'the same for one sender (an IPv4 address or an IPv6 /64); at least 4 x max_body_bytes. Default: half of unverified_bytes',
      ),
    undecided_bytes: whole(1)
      .default(1024 ** 3)
      .describe(
        'bytes of all deliveries that are stored and not decided; the bot refuses more with 429, and polling finds their events',
      ),
    undecided_bytes_per_hook: whole(1)
      .default(256 * 1024 ** 2)
      .describe('the same for one hook'),
  }),
  control: group({
    socket: z
      .string()
      .optional()
      .describe('Unix socket of the control API. Default: beside the data of an embedded store'),
    listen: address
      .optional()
      .describe('its TCP address, which callers must use exactly so; a port alone is on 127.0.0.1'),
    token: secretReference
      .optional()
      .describe(
        'token with every scope for callers over TCP, recorded as `config-token`; people have tokens of their own (`forgehand operators`)',
      ),
    tls: z
      .strictObject({
        cert_file: text.describe('certificate of the control API, PEM; the commands trust it'),
        key_file: text.describe('its private key, PEM; the bot refuses a key that everybody on the machine can read'),
      })
      .optional(),
  }),
  console: group({
    enabled: flag(true).describe('whether the roles `all` and `console` serve the Console'),
    listen: address
      .default('127.0.0.1:8090')
      .describe('address of the Console; a port alone is on 127.0.0.1. Other addresses need an https `public_url`'),
    public_url: httpUrl
      .optional()
      .describe('address under which browsers reach the Console, without a path: https, or http on this machine'),
    operators: z
      .array(
        z.string().regex(/^([^\s@:]+|id:[1-9]\d{0,18})@[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
          error: 'login@forge, such as ann@main, or id:NUMBER@forge with the number of the account',
        }),
      )
      .max(100)
      .default([])
      .describe(
        'people who see and do everything there: `login@forge`, or `id:NUMBER@forge`, which no other account can take over',
      ),
  }),
  metrics: z
    .strictObject({
      listen: address.describe('address of /metrics, /healthz and /readyz; a port alone is on 127.0.0.1'),
      token: secretReference.optional().describe('bearer token of /metrics; needed where other machines reach it'),
    })
    .optional(),
  alerts: z
    .strictObject({
      url: httpUrl.describe('the bot posts alerts there as JSON'),
      secret: secretReference.describe('key of their signature'),
      insecure_http: insecureHttp,
    })
    .optional(),
  retention: group({
    inbox_days: whole(1, 3650).default(90).describe('days that the bot keeps bodies of decided arrivals'),
    max_age: text
      .optional()
      .describe(
        'the bot holds deliveries whose act is older on arrival until `forgehand release`: 1h to 3650d, such as 7d. Default: it holds none',
      ),
    archive: text.optional().describe('folder for the bodies after that time; without it they are lost'),
    history_days: whole(30, 3650)
      .default(400)
      .describe('days that the bot keeps findings, plans, stages of rules, gaps and outages after their end'),
    tick_days: whole(7, 3650).default(90).describe('days that the bot keeps decided ticks of schedules'),
  }),
  housekeeping: group({
    audits: flag(true).describe('whether audits run by themselves; if not, only by hand'),
    stale_branch_days: whole(1, 3650).default(90).describe('days without a commit after which a branch is reported'),
  }),
  keys: group({
    data: secretReference
      .optional()
      .describe('key that seals mirror passwords, variable values and answers about private repositories in the store'),
  }),
  log: group({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
      .default('info')
      .describe('lowest level of the lines that are logged'),
  }),
});

export type WrittenConfig = z.infer<typeof configSchema>;
export type WrittenForge = WrittenConfig['forges'][number];
export type WrittenOrg = WrittenConfig['orgs'][number];

/** JSON Schema (draft 2020-12) of the file as an operator writes it. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' });
}
