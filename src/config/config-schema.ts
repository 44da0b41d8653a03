import { z } from 'zod';
import { POWERS } from './app-config.js';
import { secretReference } from './secret-reference.js';

const identifier = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: 'letters, digits, ".", "_" and "-", at most 64' });
const secrets = z.union([secretReference, z.array(secretReference).min(1)], {
  error: 'a secret is given as { env: NAME } or { file: PATH }, never as its value',
});
const address = z
  .union([z.string(), z.int().min(0).max(65535)])
  .transform(String)
  .pipe(z.string().regex(/^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):\d{1,5}$|^\d{1,5}$/, { error: 'host:port, or a port (then on 127.0.0.1)' }));
const httpUrl = z.url({ protocol: /^https?$/, error: 'an http or https address' });

const wallTime = z.string().regex(/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$/, { error: 'a day (2026-12-24) or a time (2026-12-24T18:00), on the clock of tz' });

const perHour = z.union([z.int().min(1), z.literal('none')], { error: 'effects per hour: a whole number of 1 or more, or none (no limit)' });

/** The operator's file as written. Unknown keys are errors; units are in the names. */
export const configSchema = z.strictObject({
  forges: z
    .array(
      z.strictObject({
        id: identifier,
        base_url: httpUrl,
        auth: z.discriminatedUnion('type', [
          z.strictObject({ type: z.literal('token'), token: secretReference }),
          z.strictObject({ type: z.literal('basic'), username: z.string().min(1), password: secretReference }),
        ]),
        ca_file: z.string().optional(),
        proxy: httpUrl.optional(),
        concurrency: z.int().min(1).max(64).default(4),
        rate_per_s: z.number().positive().max(1000).default(10),
        settle_s: z.number().min(0).max(3600).default(60),
        marks: z.boolean().default(true),
      }),
    )
    .min(1),
  orgs: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        forge: identifier,
        hooks: z.array(z.strictObject({ id: identifier, secret: secrets.optional(), authorization: secrets.optional() })).default([]),
        rules: z.strictObject({
          path: z.string().min(1).optional(),
          repository: z
            .string()
            .regex(/^[A-Za-z0-9._-]{1,100}\/[A-Za-z0-9._-]{1,100}$/, { error: 'owner/name' })
            .optional(),
          branch: z.string().min(1).optional(),
          repository_id: z
            .union([z.int().positive(), z.string().regex(/^[1-9]\d{0,18}$/, { error: 'the number of the repository' })])
            .transform(String)
            .optional(),
          every_s: z.number().min(0.2).max(86400).default(300),
          extends_from: z.array(z.string().min(1)).max(10).default([]),
          shadow: z.strictObject({ path: z.string().min(1) }).optional(),
        }),
        powers: z.array(z.enum(POWERS as [string, ...string[]])).default([]),
        mirror_hosts: z.array(z.string().min(1)).default([]),
        notify_hosts: z.array(z.string().min(1)).default([]),
        secrets: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), secretReference).default({}),
        tasks: z.strictObject({ calls_per_poll: z.int().min(0).max(1000).default(5) }).prefault({}),
        feed: z.strictObject({ every_s: z.number().min(0.1).max(86400).default(60), grace_s: z.number().min(0).max(86400).default(120) }).prefault({}),
        freeze: z
          .array(
            z.strictObject({
              from: wallTime.optional(),
              to: wallTime.optional(),
              cron: z.string().optional(),
              for: z.string().optional(),
              tz: z.string().default('UTC'),
              reason: z.string().min(1).max(200),
            }),
          )
          .max(100)
          .default([]),
        promotion: z.strictObject({ min_decisions: z.int().min(1).max(100_000).default(20) }).prefault({}),
        budgets: z
          .strictObject({
            effects_per_hour: perHour.default('none'),
            per_repository: perHour.default('none'),
            per_rule: perHour.default(1000),
            per_actor: perHour.default('none'),
            per_stranger: perHour.default(5),
            effects_per_plan: z.int().min(1).optional(),
            percent_of_subjects: z.int().min(1).max(100).optional(),
          })
          .prefault({}),
      }),
    )
    .min(1),
  store: z.strictObject({ url: z.union([z.string().min(1), secretReference]) }),
  queue: z
    .strictObject({ url: z.union([z.string().min(1), secretReference]).default('embedded'), sweep_s: z.number().min(0.2).max(3600).default(2) })
    .prefault({}),
  server: z
    .strictObject({
      host: z.string().default('0.0.0.0'),
      port: z.int().min(0).max(65535).default(8080),
      public_url: httpUrl.optional(),
      max_body_bytes: z
        .int()
        .min(1024)
        .max(268435456)
        .default(5 * 1024 * 1024),
    })
    .prefault({}),
  control: z.strictObject({ socket: z.string().optional(), listen: address.optional(), token: secretReference.optional() }).prefault({}),
  metrics: z.strictObject({ listen: address }).optional(),
  alerts: z.strictObject({ url: httpUrl, secret: secretReference }).optional(),
  retention: z.strictObject({ inbox_days: z.int().min(1).max(3650).default(90) }).prefault({}),
  keys: z.strictObject({ data: secretReference.optional() }).prefault({}),
  log: z.strictObject({ level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info') }).prefault({}),
});

export type WrittenConfig = z.infer<typeof configSchema>;
