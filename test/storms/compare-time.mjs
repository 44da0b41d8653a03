// node compare-time.mjs DIST ROUNDS SAMPLES: does the time of the signature check depend on what is compared?
// npm run storms -- compare      prints one t value per pair of classes, and that of a compare that is known to leak, as JSON. Status 1 when a pair
// differs, or when the leak is not seen: this machine then does too much else.
import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [dist, ...counts] = process.argv.slice(2);
/** Rounds, and samples in each. */
const [ROUNDS, SAMPLES] = counts.map(Number);
const POOL = 256;
/** A t statistic above this shows a difference in time (goal G7). */
const T_LIMIT = 4.5;
const load = (file) => import(pathToFileURL(join(dist, file)).href);
const { verify } = await load('webhooks/receive-delivery.js');
const { Secret } = await load('core/secret.js');

const key = randomBytes(16).toString('hex');
const signed = { secrets: [new Secret(key)], authorizations: [] };

/** Another one of its kind: the check that it is hexadecimal must see digits and letters where they were. */
const otherThan = (sign) => (/\d/.test(sign) ? String((Number(sign) + 1) % 10) : 'bcdefa'['abcdef'.indexOf(sign)]);
/** A text made anew, in one piece and by the same steps wherever it is wrong: how it came about, and what that left in memory, must not be what is measured. */
function wrongAt(secret, at) {
  const bytes = Buffer.from(secret, 'latin1');
  bytes[at] = otherThan(secret[at]).charCodeAt(0);
  return bytes.toString('latin1');
}

/** As many different deliveries as the processor cannot learn by heart, each with a signature of its own. */
function makeDelivery() {
  const text = Buffer.from(JSON.stringify({ ref: 'refs/heads/main', after: randomBytes(20).toString('hex') }));
  const signature = createHmac('sha256', key).update(text).digest('hex');
  const authorization = `Bearer ${randomBytes(24).toString('hex')}`;
  return { text, signature, authorization, authorized: { secrets: [], authorizations: [new Secret(authorization)] } };
}

/** Which class is made first is tossed for each delivery, so that neither lies better in memory. */
function pools(make0, make1) {
  const made = [[], []];
  for (const delivery of Array.from({ length: POOL }, makeDelivery)) {
    const order = Math.random() < 0.5 ? [0, 1] : [1, 0];
    for (const which of order) made[which].push({ delivery, headers: (which === 0 ? make0 : make1)(delivery) });
  }
  return made;
}

const signatureWrongAt =
  (at) =>
  ({ signature }) => ({ 'x-gitea-signature': wrongAt(signature, at) });
const authorizationWrongAt =
  (at) =>
  ({ authorization }) => ({ authorization: wrongAt(authorization, at) });
const bySignature = ({ headers, delivery }) => verify(signed, headers, delivery.text);
const byAuthorization = ({ headers, delivery }) => verify(delivery.authorized, headers, delivery.text);

/** Byte by byte, away at the first difference: what must never be written. */
const leaky = ({ headers, delivery: { signature } }) => {
  const given = headers['x-gitea-signature'];
  for (let i = 0; i < signature.length; i += 1) if (given.charCodeAt(i) !== signature.charCodeAt(i)) return null;
  return 'signed';
};

const cases = {
  'first or last digit of the signature wrong': [bySignature, signatureWrongAt(0), signatureWrongAt(63)],
  'first or middle digit of the signature wrong': [bySignature, signatureWrongAt(0), signatureWrongAt(32)],
  'first or last sign of the authorization wrong': [byAuthorization, authorizationWrongAt(7), authorizationWrongAt(54)],
  'a leaky compare': [leaky, signatureWrongAt(0), signatureWrongAt(63)],
};

/** Mean of the times of each class, in ns, without the slowest tenth: pauses of the machine, which say nothing about the compare. */
function measure(check, samples) {
  const times = [[], []];
  // Which class comes is tossed each time: drift and pauses meet both alike.
  for (let n = 0; n < SAMPLES; n += 1) {
    const which = Math.random() < 0.5 ? 0 : 1;
    const sample = samples[which][Math.floor(Math.random() * POOL)];
    const began = process.hrtime.bigint();
    const verdict = check(sample);
    times[which].push(Number(process.hrtime.bigint() - began));
    if (verdict !== null) throw new Error('a wrong signature was taken');
  }
  const limit = times.flat().sort((x, y) => x - y)[Math.floor(SAMPLES * 0.9)];
  return times.map((all) => mean(all.filter((time) => time <= limit)));
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * t of the differences of the rounds: each has texts of its own, so that where they happen to lie in memory is noise and no result. Every other round
 * has the classes in each other's places: those alone differ by two or three nanoseconds, whatever is in them.
 */
function tOf(check, make0, make1) {
  measure(check, pools(make0, make1)); // warm: the first calls are those of another compiler
  const differences = Array.from({ length: ROUNDS }, (_, round) => {
    const [first, second] = measure(check, round % 2 === 0 ? pools(make0, make1) : pools(make1, make0));
    return round % 2 === 0 ? first - second : second - first;
  });
  const middle = mean(differences);
  const variance = mean(differences.map((difference) => (difference - middle) ** 2)) * (ROUNDS / (ROUNDS - 1));
  return middle / Math.sqrt(variance / ROUNDS);
}

const result = {};
for (const [name, [check, make0, make1]] of Object.entries(cases))
  result[name] = Number(tOf(check, make0, make1).toFixed(2));
console.log(JSON.stringify(result));
const { 'a leaky compare': leak, ...all } = result;
const isEven = Object.values(all).every((t) => Math.abs(t) < T_LIMIT);
process.exitCode = isEven && Math.abs(leak) > 3 * T_LIMIT ? 0 : 1;
