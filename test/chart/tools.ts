// The programs and schemas of `npm run test:chart`, at pinned versions, built once into .cache/chart/.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const run = promisify(execFile);

const FOLDER = new URL('../../.cache/chart/', import.meta.url).pathname;
// On Debian, the PATH has an older Go.
const PATH = `/usr/local/go/bin:${process.env.PATH}`;

const PROGRAMS = {
  helm: { path: 'helm.sh/helm/v3/cmd/helm', version: 'v3.21.4' },
  kubeconform: { path: 'github.com/yannh/kubeconform/cmd/kubeconform', version: 'v0.8.0' },
};

const PACKAGES = [
  'kubernetes-models@5.1.0',
  '@kubernetes-models/prometheus-operator@6.0.0',
  'ts-json-schema-generator@2.10.0',
];

/** Each kind of the chart, and the module in `PACKAGES` with its type. */
const KINDS = {
  ConfigMap: 'kubernetes-models/v1/ConfigMap',
  Deployment: 'kubernetes-models/apps/v1/Deployment',
  HorizontalPodAutoscaler: 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler',
  NetworkPolicy: 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy',
  PodDisruptionBudget: 'kubernetes-models/policy/v1/PodDisruptionBudget',
  PrometheusRule: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule',
  Service: 'kubernetes-models/v1/Service',
  ServiceMonitor: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor',
};

/** Whether Go is installed, in a version that can build `PROGRAMS`. */
export const hasGo = (): Promise<boolean> =>
  run('go', ['version'], { env: { ...process.env, PATH } }).then(
    ({ stdout }) => Number(/go1\.(\d+)/.exec(stdout)?.[1]) >= 26,
    () => false,
  );

/** Builds a program if it is missing. Resolves with its path. */
export async function build(name: keyof typeof PROGRAMS): Promise<string> {
  const { path, version } = PROGRAMS[name];
  const folder = join(FOLDER, version);
  const program = join(folder, name);
  if (!existsSync(program))
    await run('go', ['install', `${path}@${version}`], { env: { ...process.env, PATH, GOBIN: folder } });
  return program;
}

/** Resolves with the schema location for kubeconform. The schemas refuse unknown keys. */
export async function makeSchemas(): Promise<string> {
  const folder = join(FOLDER, PACKAGES.join('-').replaceAll('/', '-'));
  const at = (kind: string) => join(folder, `${kind.toLowerCase()}.json`);
  if (!Object.keys(KINDS).every((kind) => existsSync(at(kind)))) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    const quiet = ['--no-audit', '--no-fund', '--ignore-scripts'];
    await run('npm', ['install', '--save-exact', ...quiet, ...PACKAGES], { cwd: folder });
    const types = Object.entries(KINDS).map(
      ([kind, module]) => `import type { I${kind} } from '${module}';\nexport type ${kind} = I${kind};\n`,
    );
    await writeFile(join(folder, 'kinds.ts'), types.join(''));
    const generator = join(folder, 'node_modules/ts-json-schema-generator/bin/ts-json-schema-generator.js');
    const options = ['--path', 'kinds.ts', '--no-type-check', '--minify', '--out', 'all.json'];
    await run(process.execPath, [generator, ...options], { cwd: folder });
    const { definitions } = JSON.parse(await readFile(join(folder, 'all.json'), 'utf8'));
    for (const kind of Object.keys(KINDS))
      await writeFile(at(kind), JSON.stringify({ $ref: `#/definitions/${kind}`, definitions }));
  }
  return join(folder, '{{.ResourceKind}}.json');
}
