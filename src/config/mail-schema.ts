import { z } from 'zod';
import { isMailAddress, isMailDomain } from '../core/mail-address.js';
import { MOST_RECIPIENTS, type MailServer } from '../core/message.js';
import { flag, text, whole } from './config-values.js';
import type { ConfigFile } from './config-file.js';
import type { Path } from './composed-config.js';
import { isLoopback } from './safe-address.js';
import { secretReference } from './secret-reference.js';
import type { SecretGroup } from './secrets-of-role.js';

const mailAddress = z.string().refine(isMailAddress, { error: 'a plain mail address, like bot@example.org' });

const mailServer = {
  host: z
    .string()
    .regex(/^([A-Za-z0-9][A-Za-z0-9.-]{0,252}|\[[0-9A-Fa-f:.]+\])$/, { error: 'the name or the address of a host' })
    .describe('the mail server'),
  port: whole(1, 65535).optional().describe('its port. Default: 465 with secure, otherwise 587'),
  secure: flag(false).describe('TLS from the first byte. Default: STARTTLS, without which the bot sends nothing'),
  insecure_smtp: z
    .string({ error: 'the reason why mail without TLS is safe here, in words' })
    .min(1)
    .max(200)
    .optional()
    .describe(
      'why mail without TLS is safe on the way to this server; without it only a server on this machine may do without TLS',
    ),
  ca_file: z.string().optional().describe('certificate of a private authority, PEM'),
  from: mailAddress.describe('address that the mail comes from'),
  user: text.optional().describe('name that the bot logs in with'),
  password: secretReference.optional().describe('its password'),
};

/** `alerts.mail` */
export const alertMail = z.strictObject({
  ...mailServer,
  to: z
    .array(mailAddress)
    .min(1)
    .max(MOST_RECIPIENTS)
    .describe(`addresses that get the alerts, at most ${MOST_RECIPIENTS}`),
});

/** `orgs[].mail` */
export const orgMail = z.strictObject({
  ...mailServer,
  recipients: z
    .array(
      z.string().refine((entry) => isMailAddress(entry) || isMailDomain(entry), {
        error: 'a mail address like ann@example.org, or a domain like example.org',
      }),
    )
    .min(1)
    .max(1000)
    .describe('addresses and domains that mail may go to; a domain does not stand for those below it'),
});

export function readMailServer(
  file: ConfigFile,
  group: SecretGroup,
  written: Omit<z.infer<typeof orgMail>, 'recipients'>,
  path: Path,
): MailServer {
  const { host, secure, from, user, insecure_smtp: reason } = written;
  const password = file.secret(group, written.password, [...path, 'password']);
  if ((user === undefined) !== (password === null))
    file.problem(
      path,
      `${path.join('.')} has one of user and password`,
      'write both, or none where the server asks for no login',
    );
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port: written.port ?? (secure ? 465 : 587),
    secure,
    allowsPlain: reason !== undefined || isLoopback(host),
    from,
    login: user === undefined || password === null ? null : { user, password },
    caFile: file.resolve(written.ca_file),
  };
}
