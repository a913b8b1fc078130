// `npm run test:chart`: Helm renders the chart, kubeconform validates it. Exit code 2: Go is missing.
import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT, type Tree, text, tree, yaml } from '../support/deployed-files.ts';
import { build, hasGo, makeSchemas, run } from './tools.ts';

const CHART = join(ROOT, 'config/helm');
const GO_MISSING =
  'not installed: go 1.26 or newer, in /usr/local/go/bin or on the PATH. It builds helm and kubeconform.\n';

interface Values {
  readonly gateway?: string;
  readonly policies?: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

const GATEWAY = await text('config/helm/example/gateway.yaml');
const ORDERS = await text('config/helm/example/orders.yaml');
const DEFAULT = { gateway: GATEWAY, policies: { 'orders.yaml': ORDERS } };

/** Sets of values, with the expected ports, grace period and replicas. */
const CASES = {
  default: { values: DEFAULT, ports: { https: 8443, metrics: 9902 }, grace: 50, replicas: 2 },
  everything: {
    values: {
      ...DEFAULT,
      gateway: GATEWAY.replace('replicas: 2', 'replicas: 6').replace(
        'listeners:',
        'listeners:\n  http: { address: ":8080", mode: redirect }',
      ),
      imagePullSecrets: [{ name: 'registry' }],
      service: { type: 'LoadBalancer', annotations: { 'example.com/load-balancer': 'internal' } },
      autoscaling: { enabled: true },
      prometheus: { serviceMonitor: true, rules: true, labels: { release: 'monitoring' } },
    },
    ports: { http: 8080, https: 8443, metrics: 9902 },
    grace: 50,
    // The autoscaler decides, up to 6 as in the gateway file.
    replicas: undefined,
  },
  // Behind a proxy that terminates TLS.
  minimal: {
    values: {
      ...DEFAULT,
      gateway: GATEWAY.replace(
        /listeners:.*(?=\ndata:)/s,
        'listeners: { http: { address: ":8080", mode: serve }, metrics: { address: "0.0.0.0:9100" } }\ndrain: { wait: 5s, timeout: 2m }',
      ),
      tlsSecret: '',
      networkPolicy: { enabled: false },
    },
    ports: { http: 8080, metrics: 9100 },
    grace: 135,
    replicas: 2,
  },
};

/** Values that the chart refuses, and the message. */
const REFUSED: readonly (readonly [Values, RegExp])[] = [
  [{ ...DEFAULT, gateway: '' }, /gateway is missing: add --set-file gateway=/],
  [{ ...DEFAULT, policies: {} }, /policies is empty: add --set-file/],
  [{ ...DEFAULT, gateway: 'a: [' }, /gateway: error converting YAML/],
  [
    { ...DEFAULT, gateway: GATEWAY.replace('":9902"', '"127.0.0.1:9902"') },
    /listeners\.metrics\.address is "127/,
  ],
  [{ ...DEFAULT, gateway: GATEWAY.replace(/^ {2}metrics:.*$/m, '') }, /listeners\.metrics\.address is ""/],
  [{ ...DEFAULT, gateway: GATEWAY.replace('replicas: 2', '') }, /replicas is 1: write how many/],
  [
    { ...DEFAULT, gateway: GATEWAY.replace(/^store:.*$/m, '') },
    /store is embedded: several gateways need Redis/,
  ],
  [{ ...DEFAULT, gateway: GATEWAY.replace('wait: 10s', 'wait: 1s') }, /drain\.wait is under 5s/],
  [
    { ...DEFAULT, gateway: GATEWAY.replace('timeout: 30s', 'timeout: 1h') },
    /drain\.timeout is 1h: write seconds/,
  ],
  [{ ...DEFAULT, replicaCount: 3 }, /additional properties 'replicaCount' not allowed/],
];

async function test(folder: string): Promise<void> {
  const [helm, kubeconform, schemas] = [await build('helm'), await build('kubeconform'), await makeSchemas()];
  const valuesFile = join(folder, 'values.json');
  const rendered = join(folder, 'rendered.yaml');

  async function render(values: Values): Promise<readonly Tree[]> {
    await writeFile(valuesFile, JSON.stringify(values));
    const { stdout } = await run(helm, ['template', 'sundial', CHART, '--values', valuesFile]);
    await writeFile(rendered, stdout);
    return parseAllDocuments(stdout).map((document) => {
      deepEqual(document.errors, []);
      return tree(document.toJS());
    });
  }
  const validate = (file: string) =>
    run(kubeconform, ['-strict', '-summary', '-schema-location', schemas, file]);

  for (const [name, { values, ...expected }] of Object.entries(CASES)) {
    const objects = await render(values);
    const { stdout } = await validate(rendered);
    match(stdout, new RegExp(`Summary: ${objects.length} resources .* Invalid: 0, Errors: 0, Skipped: 0`));
    await run(helm, ['lint', '--strict', CHART, '--values', valuesFile]);
    agree(objects, expected);
    process.stdout.write(`${name}: ${stdout}`);
  }

  const found = async (values: Values, kind: string, name = 'sundial') =>
    (await render(values)).find(
      (each) => each.at('kind').value === kind && each.at('metadata', 'name').value === name,
    ) ?? tree(undefined);

  equal((await found(DEFAULT, 'ConfigMap')).at('data', 'gateway.yaml').value, GATEWAY);
  const pod = (await found(DEFAULT, 'Deployment')).at('spec', 'template').value;
  const policies = { 'orders.yaml': `${DEFAULT.policies['orders.yaml']}# changed\n` };
  deepEqual((await found({ ...DEFAULT, policies }, 'Deployment')).at('spec', 'template').value, pod);
  deepEqual(
    (await found({ ...DEFAULT, policies }, 'ConfigMap', 'sundial-policies')).at('data').value,
    policies,
  );
  const gateway = `${GATEWAY}# changed\n`;
  const checksum = async (values: Values) =>
    (await found(values, 'Deployment')).at('spec', 'template', 'metadata', 'annotations', 'checksum/gateway')
      .value;
  equal((await checksum({ ...DEFAULT, gateway })) === (await checksum(DEFAULT)), false);
  process.stdout.write('a changed gateway file restarts pods, a changed policy does not\n');

  const everything = CASES.everything.values;
  equal((await found(everything, 'Service')).at('spec', 'externalTrafficPolicy').value, 'Local');
  const scaler = (await found(everything, 'HorizontalPodAutoscaler')).at('spec');
  deepEqual([scaler.at('minReplicas').value, scaler.at('maxReplicas').value], [2, 6]);
  const files = await readdir(join(ROOT, 'config/prometheus/rules'));
  for (const file of files) {
    const rule = await found(everything, 'PrometheusRule', `sundial-${file.replace('.yml', '')}`);
    deepEqual(rule.at('spec').value, (await yaml(`config/prometheus/rules/${file}`)).value);
    equal(rule.at('metadata', 'labels', 'release').value, 'monitoring');
  }
  process.stdout.write(`PrometheusRules are those of config/prometheus/rules: ${files.join(', ')}\n`);

  for (const [values, words] of REFUSED) await rejects(render(values), { stderr: words });
  process.stdout.write(`${REFUSED.length} sets of values are refused with their reason\n`);

  await render(everything);
  const valid = await readFile(rendered, 'utf8');
  for (const key of ['readOnlyRootFilesystem', 'averageUtilization', 'jobLabel', 'annotations']) {
    await writeFile(rendered, valid.replaceAll(key, `${key}s`));
    await rejects(validate(rendered), { stdout: new RegExp(`additional properties '${key}s' not allowed`) });
  }
  process.stdout.write('the schemas refuse a misspelt key\n');
}

interface Expected {
  readonly ports: Readonly<Record<string, number>>;
  readonly grace: number;
  readonly replicas: number | undefined;
}

/** The objects select the pods of the Deployment, and have its ports and the times of the gateway file. */
function agree(objects: readonly Tree[], { ports, grace, replicas }: Expected): void {
  const specs = (kind: string) =>
    objects.filter((each) => each.at('kind').value === kind).map(({ at }) => at('spec'));
  const [deployment = tree(undefined)] = specs('Deployment');
  const pod = deployment.at('template');
  const labels = pod.at('metadata', 'labels').value;
  deepEqual(labels, { 'app.kubernetes.io/name': 'sundial', 'app.kubernetes.io/instance': 'sundial' });
  const selectors = [
    ...specs('Service').map(({ at }) => at('selector')),
    ...specs('NetworkPolicy').map(({ at }) => at('podSelector', 'matchLabels')),
    ...['Deployment', 'PodDisruptionBudget', 'ServiceMonitor']
      .flatMap(specs)
      .map(({ at }) => at('selector', 'matchLabels')),
  ];
  for (const { value } of selectors) deepEqual(value, labels);
  const opened = pod.at('spec', 'containers', 0, 'ports').list;
  deepEqual(Object.fromEntries(opened.map(({ at }) => [at('name').value, at('containerPort').value])), ports);
  const reached = specs('Service').flatMap(({ at }) => at('ports').list.map((port) => port.at('targetPort')));
  deepEqual(reached.map(({ value }) => value).toSorted(), Object.keys(ports).toSorted());
  const allowed = specs('NetworkPolicy').map(({ at }) =>
    at('ingress').list.flatMap((rule) => rule.at('ports').list),
  );
  for (const rules of allowed)
    deepEqual(rules.map(({ at }) => at('port').value).toSorted(), Object.keys(ports).toSorted());
  const annotation = pod.at('metadata', 'annotations', 'prometheus.io/port').value;
  equal(annotation, specs('ServiceMonitor').length === 0 ? String(ports.metrics) : undefined);
  equal(pod.at('spec', 'terminationGracePeriodSeconds').value, grace);
  equal(deployment.at('replicas').value, replicas);
}

async function main(): Promise<number> {
  if (!(await hasGo())) {
    process.stderr.write(GO_MISSING);
    return 2;
  }
  const folder = await mkdtemp(join(tmpdir(), 'sundial-chart-'));
  try {
    await test(folder);
    return 0;
  } finally {
    await rm(folder, { recursive: true });
  }
}

process.exitCode = await main();
