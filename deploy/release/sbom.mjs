// The bill of materials of the npm package (CycloneDX 1.5): what is bundled, and what is installed beside it. `npm sbom` knows nothing of the first: for npm
// those are packages of development.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The headings that bundle.mjs writes. */
const HEADING = /^(?<name>\S+) (?<version>\d\S*) \((?<license>[^\n]*)\)$/gm;

/** @returns the document, the same for the same source */
export function bomOf(root) {
  const read = (file) => readFileSync(join(root, file), 'utf8');
  const own = JSON.parse(read('package.json'));
  const locked = Object.entries(JSON.parse(read('package-lock.json')).packages).flatMap(([path, one]) =>
    path === '' ? [] : [{ ...one, name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length) }],
  );
  const bundled = new Set(
    [...read('dist/THIRD-PARTY-NOTICES.txt').matchAll(HEADING)].map(({ groups }) => `${groups.name} ${groups.version}`),
  );
  const isBundled = ({ name, version }) => bundled.has(`${name} ${version}`);
  const shipped = locked.filter((one) => isBundled(one) || !(one.dev || one.devOptional || one.optional));
  const lacking = [...bundled].filter((one) => !shipped.some(({ name, version }) => one === `${name} ${version}`));
  if (lacking.length > 0) throw new Error(`bundled, and not in package-lock.json: ${lacking.join(', ')}`);
  const components = new Map(shipped.map((one) => [purl(one), component(one, isBundled(one))]));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { ...component(own), type: 'application', description: own.description } },
    components: [...components.keys()].sort().map((key) => components.get(key)),
  };
}

const purl = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

function component({ name, version, license, integrity }, isBundled) {
  const [algorithm, digest] = integrity?.split(' ')[0].split(/-(.*)/s) ?? [];
  return {
    type: 'library',
    'bom-ref': purl({ name, version }),
    name,
    version,
    purl: purl({ name, version }),
    ...(license ? { licenses: [{ expression: license }] } : {}),
    ...(digest
      ? { hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }] }
      : {}),
    ...(isBundled === undefined
      ? {}
      : { properties: [{ name: 'forgehand:place', value: isBundled ? 'bundled' : 'installed' }] }),
  };
}
