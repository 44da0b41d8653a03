import { isMailAddress, isMailAllowed, mailAddressesIn } from '../../core/mail-address.js';
import { MOST_RECIPIENTS, type MailSettings } from '../../core/message.js';
import type { Reason } from '../../core/reason.js';
import { say } from '../reasons.js';
import { faultOfAddress } from './mirror-target.js';

/**
 * Whether mail may go to these recipients by this server.
 * @param list of addresses, with commas or spaces between them
 * @param hosts `orgs[].notify_hosts`: the server must be there as `host:port`
 * @returns null when it may; a reason that names no recipient otherwise
 */
export function refuseMail(list: string, mail: MailSettings | null, hosts: readonly string[]): Reason | null {
  if (mail === null) return say('cannot.mail', { why: 'no-server' });
  const fault = faultOfAddress(addressOf(mail), hosts);
  if (fault) return say('cannot.notify', { ...fault, host: `${mail.host}:${mail.port}` });
  const recipients = mailAddressesIn(list);
  if (recipients.length === 0) return say('cannot.mail', { why: 'nobody' });
  if (recipients.length > MOST_RECIPIENTS) return say('cannot.mail', { why: 'too-many' });
  if (!recipients.every(isMailAddress)) return say('cannot.mail', { why: 'no-address' });
  if (!recipients.every((one) => isMailAllowed(one, mail.recipients))) return say('cannot.mail', { why: 'unlisted' });
  return null;
}

/** As the lists of hosts are asked: a path is needed there, and means nothing. */
export function addressOf({ host, port }: Pick<MailSettings, 'host' | 'port'>): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}/mail`;
}
