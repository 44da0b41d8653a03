// Checks the chart: helm lint, helm template, the Kubernetes schemas, pod security "restricted", and the config of the chart by the bot itself.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseAllDocuments, parse } from 'yaml';
import { DEPLOY, ROOT, expect, goModule, goTool, must, run } from './common.mjs';

const CHART = join(DEPLOY, 'helm');
export const HELM = 'helm.sh/helm/v3/cmd/helm@v3.18.6';
const KUBECONFORM = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.6.7';
/** It carries the OpenAPI descriptions of Kubernetes, one file for each group and version. */
const SCHEMAS = 'sigs.k8s.io/kubectl-validate@v0.0.4';
const KUBERNETES = '1.30';
/** Settings that turn on what is off by default, and off what is on. */
const VARIANTS = [
  [],
  ['--set', 'autoscaling.enabled=true'],
  ['--set', 'migration.enabled=false,networkPolicy.enabled=false,roles.web.replicas=1'],
];

export function helmChecks(scratch) {
  return [
    ['helm lint, and the values schema refuses mistakes', lints],
    ['chart fits the schemas of Kubernetes', () => fitsKubernetes(scratch)],
    ['pods of the chart are restricted and get the secrets of their role alone', podsHold],
    ['config of the chart is a good one', () => configHolds(scratch)],
  ];
}

const helm = () => goTool('helm', HELM);
const template = (args = []) => must(helm(), ['template', 'fh', CHART, '--kube-version', `${KUBERNETES}.0`, ...args]);
const objects = (args) =>
  parseAllDocuments(template(args))
    .map((one) => one.toJS())
    .filter(Boolean);

function lints() {
  must(helm(), ['lint', '--strict', CHART]);
  const mistakes = [
    'image.tags=1',
    'image.digest=latest',
    'roles.web.replicas=many',
    'secrets.web.TOKEN=plain-text',
    'autoscaling.target=0',
  ];
  for (const mistake of mistakes)
    expect(run(helm(), ['lint', CHART, '--set', mistake]).status !== 0, `--set ${mistake} is taken`);
  return `${mistakes.length} mistakes refused`;
}

function fitsKubernetes(scratch) {
  const kubeconform = goTool('kubeconform', KUBECONFORM);
  const folder = join(scratch, 'kubernetes');
  const wanted = new Set(
    VARIANTS.flatMap((args) => objects(args)).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
  );
  writeSchemas(join(goModule(SCHEMAS), 'pkg/openapiclient/builtins', KUBERNETES), folder, wanted);
  const conform = (text) => {
    const file = join(scratch, 'objects.yaml');
    writeFileSync(file, text);
    return run(kubeconform, [
      '-strict',
      '-summary',
      '-schema-location',
      `${folder}/{{.ResourceKind}}{{.KindSuffix}}.json`,
      file,
    ]);
  };
  const said = VARIANTS.map((args) => {
    const { status, text } = conform(template(args));
    expect(status === 0, `${args.join(' ')}: ${text}`);
    return /(\d+) resources?/.exec(text)?.[1];
  });
  const broken = conform(template().replace('kind: Deployment', 'kind: Deployment\nstatuss: {}'));
  expect(broken.status !== 0, 'an object with an unknown key is taken');
  return `${said.join(', ')} objects, Kubernetes ${KUBERNETES}`;
}

/** From OpenAPI to what kubeconform reads: a file for each kind that the chart makes, closed for keys that it does not name. */
function writeSchemas(from, to, wanted) {
  mkdirSync(to, { recursive: true });
  for (const apiVersion of new Set([...wanted].map((one) => one.split(' ')[0]))) {
    const path = apiVersion.includes('/') ? `apis/${apiVersion}.json` : `api/${apiVersion}.json`;
    const { schemas } = JSON.parse(readFileSync(join(from, path), 'utf8')).components;
    for (const one of Object.values(schemas)) if (one.properties) one.additionalProperties ??= false;
    for (const [key, one] of Object.entries(schemas))
      for (const { group, version, kind } of one['x-kubernetes-group-version-kind'] ?? []) {
        if (!wanted.has(`${group ? `${group}/` : ''}${version} ${kind}`)) continue;
        const file = [kind, ...(group ? [group.split('.')[0]] : []), version].join('-').toLowerCase();
        writeFileSync(
          join(to, `${file}.json`),
          JSON.stringify({ $ref: `#/components/schemas/${key}`, components: { schemas } }),
        );
      }
  }
}

function podsHold() {
  const all = VARIANTS.flatMap((args) => objects(args));
  const pods = all.filter(({ spec }) => spec?.template?.spec?.containers);
  for (const { metadata, spec } of pods) {
    const { securityContext, containers, automountServiceAccountToken, hostNetwork } = spec.template.spec;
    const at = `${metadata.name}: `;
    expect(securityContext.runAsNonRoot === true && securityContext.runAsUser === 10_001, `${at}may be root`);
    expect(securityContext.seccompProfile.type === 'RuntimeDefault', `${at}has no seccomp profile`);
    expect(automountServiceAccountToken === false && !hostNetwork, `${at}gets a token of the cluster, or its network`);
    for (const { securityContext: own, env } of containers) {
      expect(own.allowPrivilegeEscalation === false && own.readOnlyRootFilesystem === true, `${at}is not locked`);
      expect(own.capabilities.drop.join() === 'ALL', `${at}keeps capabilities`);
      expect(
        env.every(({ value, valueFrom }) => !value && valueFrom.secretKeyRef),
        `${at}has a secret in the open`,
      );
      const names = env.map(({ name }) => name);
      const isWeb = metadata.name.endsWith('-web');
      expect(
        !isWeb || !names.some((name) => /FORGE_TOKEN|DATA_KEY|CONTROL/.test(name)),
        `${at}web gets ${names.join(', ')}`,
      );
    }
  }
  const kinds = (args) => objects(args).map(({ kind }) => kind);
  for (const kind of ['NetworkPolicy', 'PodDisruptionBudget', 'Job', 'Service'])
    expect(kinds([]).includes(kind), `makes no ${kind}`);
  expect(!kinds([]).includes('HorizontalPodAutoscaler'), 'scales by default');
  expect(kinds(VARIANTS[1]).includes('HorizontalPodAutoscaler'), 'does not scale when told');
  return `${pods.length} pods`;
}

/** `forgehand check` reads the ConfigMap as a pod does, with the environment of each role. */
function configHolds(scratch) {
  const all = objects([]);
  const { data } = all.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'fh-forgehand');
  const { volumes, containers } = all.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith('-worker'),
  ).spec.template.spec;
  const folder = join(scratch, 'chart-config');
  for (const { key, path } of volumes.find(({ name }) => name === 'config').configMap.items) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), data[key]);
  }
  expect(parse(data['forgehand.yaml']).metrics.listen.endsWith(':9091'), 'metrics are not where the probes ask');
  const cli = join(ROOT, 'dist/cli/forgehand.js');
  if (!existsSync(cli)) must('npm', ['run', '--silent', 'build']);
  const text = { DATABASE_URL: 'postgres://bot@db/forgehand', REDIS_URL: 'redis://redis:6379' };
  const secrets = Object.fromEntries(containers[0].env.map(({ name }) => [name, text[name] ?? 's'.repeat(64)]));
  const env = { PATH: process.env.PATH, ACME_HOOK_SECRET: 'h'.repeat(64), ...secrets };
  for (const [n, name] of ['FORGEHAND_CONTROL_TOKEN', 'FORGEHAND_METRICS_TOKEN', 'FORGEHAND_DATA_KEY'].entries())
    env[name] = `${n}a`.repeat(32);
  return must(process.execPath, [cli, 'check', '--config', join(folder, 'forgehand.yaml')], { env }).split('\n')[0];
}
