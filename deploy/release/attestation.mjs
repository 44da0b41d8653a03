// What says where the files of a release come from: digests, an in-toto statement with SLSA provenance, and a signature over it in a DSSE envelope.
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const SUMS = 'SHA256SUMS';
export const STATEMENT = 'provenance.intoto.json';
export const ENVELOPE = 'provenance.dsse.json';
const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** @returns rows [name, SHA-256 in hex] of the files that are released, by name; not of those that speak of them */
export function digestsOf(folder) {
  return readdirSync(folder)
    .filter((name) => ![SUMS, STATEMENT, ENVELOPE].includes(name))
    .sort()
    .map((name) => [name, sha256(readFileSync(join(folder, name)))]);
}

/** As `sha256sum --check` reads it. */
export const sumsOf = (digests) => digests.map(([name, digest]) => `${digest}  ${name}\n`).join('');

/**
 * @param digests rows of `digestsOf`
 * @param source `{ repository, ref, commit }`: where the source is
 * @param build `{ builder, run, startedAt, base }`: who built it, in which run, since when (ISO 8601), and the image it was built on (null = no image)
 */
export function statementOf(digests, { repository, ref, commit }, { builder, run, startedAt, base }) {
  const dependencies = [{ uri: `git+${repository}@${ref}`, digest: { gitCommit: commit } }];
  if (base) dependencies.push({ uri: base, digest: { sha256: base.split('@sha256:')[1] } });
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: digests.map(([name, digest]) => ({ name, digest: { sha256: digest } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}/deploy/release/make.mjs`,
        externalParameters: { repository, ref },
        resolvedDependencies: dependencies,
      },
      runDetails: {
        builder: { id: builder },
        metadata: { invocationId: run, startedOn: startedAt, finishedOn: new Date().toISOString() },
      },
    },
  };
}

/** What DSSE signs: the payload with its type and both lengths (PAE). */
function signedBytes(type, payload) {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload]);
}

function ed25519(key, what) {
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${what} is ${key.asymmetricKeyType}, not ed25519`);
  return key;
}

/** SHA-256 of the public key as DER (SPKI): it says which key to take, and proves nothing. */
const keyId = (publicKey) => sha256(publicKey.export({ type: 'spki', format: 'der' }));

/** @param pem an ed25519 private key, PKCS #8 */
export function envelopeOf(statement, pem) {
  const key = ed25519(createPrivateKey(pem), 'the signing key');
  const payload = Buffer.from(JSON.stringify(statement));
  const sig = sign(null, signedBytes(PAYLOAD_TYPE, payload), key).toString('base64');
  return {
    payloadType: PAYLOAD_TYPE,
    payload: payload.toString('base64'),
    signatures: [{ keyid: keyId(createPublicKey(key)), sig }],
  };
}

/** @returns the statement. @throws Error when no signature of the envelope is by this key */
export function openEnvelope({ payloadType, payload, signatures }, publicPem) {
  const key = ed25519(createPublicKey(publicPem), 'the public key');
  const bytes = Buffer.from(payload, 'base64');
  const holds = signatures.some(({ sig }) =>
    verify(null, signedBytes(payloadType, bytes), key, Buffer.from(sig, 'base64')),
  );
  if (!holds) throw new Error(`${ENVELOPE}: no signature of it is by the key ${keyId(key)}`);
  if (payloadType !== PAYLOAD_TYPE) throw new Error(`${ENVELOPE} holds ${payloadType}, not ${PAYLOAD_TYPE}`);
  return JSON.parse(bytes.toString());
}
