import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import tls, { type SecureContext } from 'node:tls';
import { UserError } from '../../core/errors.js';

export interface Trust {
  /** Always; NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off. */
  readonly rejectUnauthorized: true;
  readonly secureContext?: SecureContext;
}

/**
 * Whom we believe to be the forge: the usual authorities, and those of a PEM file beside them.
 * The context is built once: reading all authorities again for every connection costs tens of milliseconds.
 * @throws UserError when the file cannot be read or holds no certificate
 */
export function trustOf(caFile: string | null): Trust {
  if (caFile === null) return { rejectUnauthorized: true };
  const usual =
    'getCACertificates' in tls
      ? (tls as { getCACertificates(kind: string): string[] }).getCACertificates('default')
      : [...tls.rootCertificates];
  return {
    rejectUnauthorized: true,
    secureContext: tls.createSecureContext({ ca: [...usual, readCertificates(caFile)] }),
  };
}

function readCertificates(caFile: string): string {
  try {
    const pem = readFileSync(caFile, 'utf8');
    new X509Certificate(pem);
    return pem;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new UserError('FORGE_CA_FILE', `ca_file ${caFile} holds no certificate that can be read (${code})`);
  }
}
