import { z } from 'zod';
import { secretReference } from './secret-reference.js';

export const text = z.string().min(1);
export const whole = (least: number, most?: number) =>
  most === undefined ? z.int().min(least) : z.int().min(least).max(most);
export const between = (least: number, most: number) => z.number().min(least).max(most);
export const flag = (otherwise: boolean) => z.boolean().default(otherwise);
/** A part that may be left out whole. */
export const group = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape).prefault({} as never);
export const identifier = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: 'letters, digits, ".", "_" and "-", at most 64' });
const hostAndPort = { error: 'host:port, or a port (then on 127.0.0.1)' };
export const address = z
  .union([z.string(), whole(0, 65535)], hostAndPort)
  .transform(String)
  .pipe(
    z
      .string()
      .regex(/^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):\d{1,5}$|^\d{1,5}$/, hostAndPort)
      .refine((text) => Number(text.slice(text.lastIndexOf(':') + 1)) <= 65535, { error: 'a port is 65535 at most' }),
  );
/** For every process of the file, or for each role its own: two processes of one machine cannot share a port. */
export const addressByRole = z.union(
  [
    address,
    z.strictObject({
      all: address.optional(),
      web: address.optional(),
      worker: address.optional(),
      scheduler: address.optional(),
      console: address.optional(),
    }),
  ],
  { error: 'host:port, or a port (then on 127.0.0.1), or one for each role, like { web: 9091, worker: 9092 }' },
);
export type AddressByRole = z.output<typeof addressByRole>;

export const socketByRole = z.union(
  [
    z.string(),
    z.strictObject({
      all: text.optional(),
      web: text.optional(),
      worker: text.optional(),
      scheduler: text.optional(),
      console: text.optional(),
    }),
  ],
  { error: 'a path, or one for each role, like { web: run/web.sock, worker: run/worker.sock }' },
);
export const httpUrl = z.url({ protocol: /^https?$/, error: 'an http or https address' });

export const insecureHttp = z
  .string({ error: 'the reason why plain http is safe here, in words' })
  .min(1)
  .max(200)
  .optional()
  .describe('why plain http is safe on the way to this address; without it the bot allows only https and this machine');

/** An address that may hold a password. */
export const secretAddress = z.union([text, secretReference], {
  error: 'an address, or one that holds a secret as { env: NAME }, { file: PATH } or { credential: NAME }',
});

export const auth = (whose: string) =>
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
