import { isOfTheMachine } from '../core/address-range.js';
import { isSecretReference } from '../core/encryptor.js';
import { hashOf } from '../core/ids.js';
import type { Json } from '../core/json.js';
import { MESSAGE_FORMATS } from '../core/message.js';
import { RIGHTS } from '../core/rights.js';
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
import { faultOfAddress, nameToResolve, type AddressFault } from './support/mirror-target.js';
import { chat, choice, flag, optional, secret } from './support/params.js';
import { valueOf } from './support/unfit.js';

const MAX_TEXT = 4_000;

const params = {
  to: secret('address of the place, as ${{ secrets.NAME }}, on a host of orgs[].notify_hosts'),
  format: choice(
    'slack (Slack, Mattermost, Rocket.Chat, and Discord with an address that ends in /slack), webhook (signed JSON), or matrix',
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

  async look({ call, addressesOf, notifyHosts }, { to }) {
    if (call) return undefined;
    const address = to.reveal();
    const fault = faultOfAddress(address, notifyHosts);
    const host = fault ? null : nameToResolve(address);
    const addresses = host === null ? null : await addressesOf(host);
    return { fault: fault ?? insideFault(host, addresses), addresses };
  },

  compare({ seen }) {
    const { fault = null, addresses = null } = seen ?? {};
    return fault ? refused(say('cannot.notify', fault)) : toWrite(addresses);
  },

  async write({ target, key, send }, { to, format, text, credential = null }, addresses) {
    await send({ format, to, credential, text, key, facts: { org: target.name } }, addresses);
    return changed(say('made.sent', { format }));
  },

  recover: {
    settle: 'none',
    unread: ({ format, again }) => (format === 'matrix' ? 'refused-twice' : again ? 'again' : 'unconfirmed'),
  },
});

/** A name that somebody listed may lead to the machine itself meanwhile. */
function insideFault(host: string | null, addresses: readonly string[] | null): AddressFault | null {
  return host !== null && addresses?.some(isOfTheMachine) ? { why: 'leads-inside', host } : null;
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
