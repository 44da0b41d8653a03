import { Encryptor } from '../../src/core/encryptor.js';
import { Secret } from '../../src/core/secret.js';

/** With a key of its own; what no other one sealed, it leaves as it is. */
export const AN_ENCRYPTOR = new Encryptor(new Secret('0123456789abcdef'.repeat(4)));
