import { isOfTheMachine } from '../core/address-range.js';
import { isSecretReference } from '../core/encryptor.js';
import { hashOf } from '../core/ids.js';
import type { Json } from '../core/json.js';
import { MESSAGE_FORMATS } from '../core/message.js';
import type { Reason } from '../core/reason.js';
import { RIGHTS } from '../core/rights.js';
import type { Secret } from '../core/secret.js';
import { tableOf } from '../core/table.js';
import type { Unfit } from '../rules/language/catalogue.js';
import {
  changed,
  defineAction,
  refused,
  textOf,
  toWrite,
  type OperatorHosts,
  type WrittenParams,
} from './define-action.js';
import { say } from './reasons.js';
import { addressOf, refuseMail } from './support/mail-target.js';
import { faultOfAddress, nameToResolve } from './support/mirror-target.js';
import { chat, choice, flag, optional, secret } from './support/params.js';
import { valueOf } from './support/unfit.js';

const MAX_TEXT = 4_000;

const params = {
  to: secret(
    'address of the place, as ${{ secrets.NAME }}, on a host of orgs[].notify_hosts; with format: mail, addresses of orgs[].mail.recipients',
  ),
  format: choice(
    'slack (Slack, Mattermost, Rocket.Chat, and Discord with an address that ends in /slack), webhook (signed JSON), matrix, or mail (plain text, its first line is the subject)',
    { words: MESSAGE_FORMATS },
  ),
  text: chat(`message of at most ${MAX_TEXT} characters`, { max: MAX_TEXT }),
  credential: optional(
    secret('key that signs a webhook, or access token of the account for matrix, as ${{ secrets.NAME }}'),
  ),
  again: optional(
    flag(
      'true: after a lost answer the message is sent once more, and may come twice; with matrix it comes once in any case',
    ),
  ),
};

/** Formats that are nothing without a credential, and what that is. */
const CREDENTIALS = tableOf<string>({
  webhook: 'a key that the receiver knows',
  matrix: 'an access token of the account',
});

/**
 * No service tells what it took, so nothing is there to compare with: each cause sends one message, at most once. A homeserver of Matrix refuses the second
 * one of a transaction id by itself.
 */
export const notify = defineAction({
  name: 'notify',
  summary: 'Send a message to a chat or another service',
  target: 'organization',
  params,
  operations: [],
  whereOffered: [],
  sends: true,
  right: RIGHTS.code,
  naturalKey: 'to',
  itemBy: ['to', 'text'],
  keyOf: ({ to, text }) => `${secretOf(to)} ${hashOf(textOf(text)).slice(0, 16)}`,
  object: () => null,
  names: () => [],
  unfit,
  raises: [],
  example: { to: '${{ secrets.dev_chat }}', format: 'slack', text: 'main is red in acme/app' },
  about: () => ({ what: 'message' }),

  async look({ call, addressesOf, notifyHosts, mail }, { to, format }) {
    if (call) return undefined;
    const refusal = format === 'mail' ? refuseMail(to.reveal(), mail, notifyHosts) : refuseAddress(to, notifyHosts);
    const host = refusal ? null : nameToResolve(format === 'mail' && mail ? addressOf(mail) : to.reveal());
    const addresses = host === null ? null : await addressesOf(host);
    return { refusal: refusal ?? refuseInside(host, addresses), addresses, server: format === 'mail' ? mail : null };
  },

  compare({ seen }) {
    const { refusal = null, addresses = null, server = null } = seen ?? {};
    return refusal ? refused(refusal) : toWrite({ addresses, server });
  },

  async write({ target, key, send }, { to, format, text, credential = null }, { addresses, server }) {
    const message = { format, to, credential, server, text, key, facts: { org: target.name } };
    const refusedRecipients = await send(message, addresses);
    return changed(say('made.sent', { format, ...(refusedRecipients > 0 ? { refusedRecipients } : {}) }));
  },

  recover: {
    settle: 'none',
    unread: ({ format, again }) => (format === 'matrix' ? 'refused-twice' : again ? 'again' : 'unconfirmed'),
  },
});

/** A name that somebody listed may lead to the machine itself meanwhile. */
function refuseInside(host: string | null, addresses: readonly string[] | null): Reason | null {
  return host !== null && addresses?.some(isOfTheMachine) ? say('cannot.notify', { why: 'leads-inside', host }) : null;
}

function refuseAddress(to: Secret, hosts: readonly string[]): Reason | null {
  const fault = faultOfAddress(to.reveal(), hosts);
  return fault && say('cannot.notify', fault);
}

function secretOf(to: Json | undefined): string {
  return isSecretReference(to) ? to.$secret : textOf(to);
}

function unfit(inputs: WrittenParams, { notifyHosts }: OperatorHosts): Unfit | null {
  const format = valueOf(inputs, 'format');
  const credential = CREDENTIALS[String(format)];
  if (credential !== undefined && inputs['credential'] === undefined)
    return {
      reason: say('params.lacks', { param: `format: ${String(format)}`, needs: 'credential' }),
      param: 'format',
      hint: `credential: "\${{ secrets.NAME }}", ${credential}`,
    };
  if (format !== undefined && credential === undefined && inputs['credential'] !== undefined)
    return {
      reason: say('params.needs', { param: 'credential', needs: 'format: webhook or format: matrix' }),
      param: 'credential',
    };
  if (notifyHosts?.length !== 0) return null;
  return {
    reason: say('cannot.notify', { why: 'no-hosts' }),
    hint: 'orgs[].notify_hosts: [HOST] in the operator’s config',
    isWarning: true,
  };
}
