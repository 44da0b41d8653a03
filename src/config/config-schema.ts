import { z } from 'zod';
import { isAddressRange } from '../core/address-range.js';
import {
  address,
  addressByRole,
  socketByRole,
  auth,
  between,
  flag,
  group,
  httpUrl,
  identifier,
  insecureHttp,
  secretAddress,
  text,
  whole,
} from './config-values.js';
import { MESSAGE_FORMATS } from '../core/message.js';
import { alertMail } from './mail-schema.js';
import { defaultsSchema, orgSchema } from './org-schema.js';
import { secretReference } from './secret-reference.js';

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
  defaults: defaultsSchema,
  orgs: z.array(orgSchema).default([]),
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
      .describe(
        'seconds between two looks of a worker for due work for which nobody rang: so late may start what waits for a time, as a retry does',
      ),
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
    socket: socketByRole
      .optional()
      .describe(
        'Unix socket of the control API, or one for each role, as `listen`: processes that share a machine and this file cannot share a socket. Default: beside the data of an embedded store',
      ),
    listen: addressByRole
      .optional()
      .describe(
        'its TCP address, which callers must use exactly so; a port alone is on 127.0.0.1. Or one for each role, as `metrics.listen`: commands talk to the first that is named of all, worker, scheduler, console, web',
      ),
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
      listen: addressByRole.describe(
        'address of /metrics, /healthz and /readyz; a port alone is on 127.0.0.1. Roles that share a machine and this file need one each: { web: 9091, worker: 9092, scheduler: 9093, console: 9094 }; a role without one does not listen',
      ),
      token: secretReference.optional().describe('bearer token of /metrics; needed where other machines reach it'),
      max_orgs: whole(0, 100_000)
        .default(100)
        .describe(
          'organizations of the config, from its beginning, that metrics name; of all others, organization, hook and rule are `other`',
        ),
    })
    .optional(),
  alerts: z
    .strictObject({
      format: z
        .enum(MESSAGE_FORMATS)
        .default('webhook')
        .describe('how alerts are sent, as with `notify`: webhook (signed JSON), slack, matrix or mail'),
      url: z
        .union([httpUrl, secretReference], {
          error: 'an http or https address, or one as { env: NAME }, { file: PATH } or { credential: NAME }',
        })
        .optional()
        .describe('address that takes the alerts; needed but with mail. For slack and matrix as `to` of `notify`'),
      secret: secretReference
        .optional()
        .describe('key that signs them (webhook), or access token of the account (matrix)'),
      insecure_http: insecureHttp,
      mail: alertMail.optional(),
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
      .describe(
        'days that the bot keeps events with all that came of them, findings, plans, stages of rules, gaps and outages after their end',
      ),
    acts_days: whole(400, 36_500).optional().describe('days that the bot keeps acts of people. Default: for ever'),
    repeat_days: whole(1, 3650)
      .optional()
      .describe(
        'days for which the bot recognizes the text of a delivery that comes again; needs a max_age that is not longer. Default: for ever',
      ),
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

/** JSON Schema (draft-07) of the file as an operator writes it: an organization may lack what `defaults` has. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(configSchema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === orgSchema) jsonSchema.required = ['name'];
    },
  });
  return { ...schema, $id: 'https://json.schemastore.org/forgehand-config.json', title: 'Forgehand config' };
}
