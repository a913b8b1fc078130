// The files that other tools read (Docker, Compose, systemd, Kubernetes, Prometheus, Grafana), held against each other and
// against the gateway: ports, paths, names and times are those it really has. The tools themselves run in .ci/run.
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { healthRoutes } from '../gateway/admin/health.ts';
import { SAMPLE_SERVICES } from '../gateway/cli/sample-services.ts';
import { isWhole, loadAll, type Whole } from '../gateway/plan/load.ts';
import { renderProblems } from '../gateway/plan/problems.ts';
import type { Settings } from '../gateway/plan/settings.ts';

const ROOT = join(import.meta.dirname, '..');
/** What is let go after a drain takes no longer. */
const LETTING_GO_MS = 5_000;

const text = (path: string) => readFile(join(ROOT, path), 'utf8');
const yaml = async (path: string) => tree(parse(await text(path), { merge: true }));

/** A parsed document as far as these tests look into it: every step may be missing, which then fails where it matters. */
interface Tree {
  readonly value: unknown;
  readonly at: (...path: readonly (string | number)[]) => Tree;
  readonly list: readonly Tree[];
  readonly entries: readonly (readonly [name: string, value: Tree])[];
}

function tree(value: unknown): Tree {
  const step = (from: unknown, key: string | number): unknown =>
    typeof from === 'object' && from !== null ? Reflect.get(from, key) : undefined;
  return {
    value,
    at: (...path) => tree(path.reduce(step, value)),
    get list() {
      return Array.isArray(value) ? value.map((each) => tree(each)) : [];
    },
    get entries() {
      return Object.entries(value ?? {}).map(([name, each]) => [name, tree(each)] as const);
    },
  };
}

async function load(
  configFile: string,
  environment: Readonly<Record<string, string>> = {},
  now = Date.UTC(2026, 10, 20),
): Promise<Whole> {
  const loaded = await loadAll({ configFile, environment, now, cwd: ROOT });
  if (!isWhole(loaded)) throw new Error(renderProblems(loaded.problems, { colour: false }));
  expect(loaded.problems).toEqual([]);
  return loaded;
}

const drainMs = ({ drain }: Settings) => drain.waitMs + drain.timeoutMs + LETTING_GO_MS;
const pages = healthRoutes({
  metrics: { render: async () => ({ contentType: '', body: '' }) },
  readiness: () => ({ state: 'ready', store: { kind: 'embedded', state: 'up' }, revision: '' }),
}).map(({ path }) => path);

describe('the image', async () => {
  const lines = (await text('Dockerfile')).replace(/\\\n/g, ' ').split('\n');
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
  const said = (word: string) =>
    last.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));

  it('is of the Node that package.json asks for, slim, with what that Node needs', async () => {
    const { engines } = JSON.parse(await text('package.json'));
    const major = /\d+/.exec(engines.node)?.[0];
    expect(lines.filter((line) => line.startsWith('FROM '))).toEqual([
      `FROM node:${major}-slim AS packages`,
      `FROM node:${major}-slim`,
    ]);
    expect(last.join('\n')).toContain('libatomic1');
    expect(lines.join('\n')).toMatch(/^RUN npm ci --omit=dev /m);
  });

  it('runs as no root, writes to /data alone, and asks the gateway whether it is well', () => {
    expect(said('USER')).toEqual(['node']);
    expect(last.indexOf('USER node')).toBeLessThan(last.findIndex((line) => line.startsWith('ENTRYPOINT')));
    expect(said('VOLUME')).toEqual(['/data']);
    expect(said('HEALTHCHECK').join()).toMatch(/CMD \["node", "gateway\/sundial\.js", "status"\]$/);
    expect(said('ENTRYPOINT')).toEqual(['["node", "gateway/sundial.js"]']);
    expect(said('CMD')).toEqual(['["run"]']);
  });

  it('has what it copies, and nothing that .dockerignore keeps out', async () => {
    const ignore = (await text('.dockerignore'))
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(ignore[0]).toBe('*');
    const copied = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(copied.length).toBeGreaterThan(5);
    for (const path of copied) {
      expect(existsSync(join(ROOT, path)), path).toBe(true);
      expect(ignore, path).toContain(`!${path.split('/')[0]}`);
    }
  });

  it('starts with a gateway file that is in order and listens where the image says', async () => {
    const config = /SUNDIAL_CONFIG=\/app\/(\S+)/.exec(said('ENV').join())?.[1] ?? '';
    const { settings } = await load(config, { SUNDIAL_DATA: '/data' });
    const { https, http, metrics, admin } = settings.listeners;
    expect(said('EXPOSE')).toEqual([[https, http, metrics].map((each) => each?.address.port).join(' ')]);
    expect(settings.dataFolder).toBe('/data');
    // Inside the container only.
    expect(admin?.address.host).toBe('127.0.0.1');
    expect(metrics?.address.host).toBeUndefined();
  });
});

describe('the composition', async () => {
  const compose = await yaml('docker-compose.yml');
  const services = compose.at('services').entries;
  const samples = services.filter(([, each]) => each.at('network_mode').value === 'service:gateway');
  const gateway = compose.at('services', 'gateway');

  it('has the gateway, every sample service, Redis, Prometheus and Grafana', () => {
    const names = services.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(['gateway', 'redis', 'prometheus', 'grafana']));
    const started = samples.map(([, each]) => each.at('command').value);
    expect(started).toEqual(SAMPLE_SERVICES.map(({ start }) => start));
    expect(names).toHaveLength(4 + SAMPLE_SERVICES.length);
  });

  it.each(services)(
    '%s is of a pinned image, may write nothing but its volumes, and has no rights',
    (_name, service) => {
      expect(service.at('image').value).toMatch(/^[a-z/]+:v?\d+\.\d+\.\d+(-alpine)?$/);
      expect(service.at('read_only').value).toBe(true);
      expect(service.at('cap_drop').value).toEqual(['ALL']);
      expect(service.at('security_opt').value).toEqual(['no-new-privileges:true']);
      expect(service.at('privileged').value).toBeUndefined();
      expect(service.at('user').value ?? 'of the image').not.toMatch(/^(root|0)/);
    },
  );

  it.each(services)(
    '%s is published to this machine alone, and what it mounts and waits for is there',
    (_name, service) => {
      for (const port of service.at('ports').list) expect(port.value).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
      const volumes = compose.at('volumes').entries.map(([name]) => name);
      for (const { value } of service.at('volumes').list) {
        const [from = ''] = String(value).split(':');
        if (from.startsWith('.')) expect(existsSync(join(ROOT, from)), from).toBe(true);
        else expect(volumes).toContain(from);
      }
      for (const [name, { at }] of service.at('depends_on').entries) {
        const other = compose.at('services', name);
        expect(other.value).toBeDefined();
        if (at('condition').value === 'service_healthy')
          expect(other.at('healthcheck', 'test').value).toBeDefined();
      }
    },
  );

  it('gives the gateway a file in order, the ports it has, and the time that its drain takes', async () => {
    const environment = Object.fromEntries(
      gateway.at('environment').entries.map(([name, { value }]) => [name, String(value)]),
    );
    const { settings } = await load('config/container/gateway.yaml', {
      SUNDIAL_DATA: '/data',
      ...environment,
    });
    const { https, http, metrics } = settings.listeners;
    const published = gateway.at('ports').list.map(({ value }) => Number(String(value).split(':')[2]));
    // And the page of the sample client, which shares its network.
    expect(published).toEqual([https?.address.port, http?.address.port, 4008]);
    expect(gateway.at('expose').value).toEqual([String(metrics?.address.port)]);
    expect(settings.store).toEqual({ kind: 'redis', url: 'redis://redis:6379' });
    expect(Number.parseInt(String(gateway.at('stop_grace_period').value), 10) * 1_000).toBeGreaterThan(
      drainMs(settings),
    );
    for (const name of Object.keys(environment))
      expect(await text('config/container/gateway.yaml')).toContain(`\${env:${name}`);
  });

  it('has Prometheus scrape the metrics listener, and Grafana read that Prometheus', async () => {
    const { settings } = await load('config/container/gateway.yaml');
    const [job] = (await yaml('config/prometheus/prometheus.yml')).at('scrape_configs').list;
    expect(job?.at('static_configs', 0, 'targets').value).toEqual([
      `gateway:${settings.listeners.metrics?.address.port}`,
    ]);
    expect(pages).toContain(job?.at('metrics_path').value);
    const [source] = (await yaml('config/grafana/provisioning/datasources/prometheus.yaml')).at(
      'datasources',
    ).list;
    const { hostname, port } = new URL(String(source?.at('url').value));
    expect(
      compose.at('services', hostname, 'ports').list.map(({ value }) => String(value).split(':')[2]),
    ).toEqual([port]);
  });
});

describe('the unit', async () => {
  const lines = (await text('config/systemd/sundial.service')).split('\n');
  const said = (key: string) =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1));

  it('starts the gateway as a user of its own, reloads it by SIGHUP, and lets it open enough files', () => {
    expect(said('Type')).toEqual(['exec']);
    expect(said('User')).toEqual(['sundial']);
    expect(said('ExecStart')).toEqual(['/usr/bin/node /opt/sundial/gateway/sundial.js run']);
    expect(said('ExecReload').at(-1)).toBe('/bin/kill -HUP $MAINPID');
    expect(Number(said('LimitNOFILE'))).toBeGreaterThanOrEqual(65_536);
  });

  it('does not start again what the files or the command line keep from starting', () => {
    expect(said('Restart')).toEqual(['on-failure']);
    expect(said('RestartPreventExitStatus')).toEqual(['1 2']);
  });

  it('waits for a whole drain', async () => {
    const { settings } = await load('config/gateway.yaml');
    expect(Number(said('TimeoutStopSec')) * 1_000).toBeGreaterThan(drainMs(settings));
  });

  it('takes from it what a gateway does not need, and not the compiler of JavaScript', () => {
    const hardened = [
      'NoNewPrivileges',
      'PrivateTmp',
      'PrivateDevices',
      'ProtectHome',
      'ProtectKernelModules',
      'RestrictNamespaces',
    ];
    for (const key of hardened) expect(said(key), key).toEqual(['yes']);
    expect(said('ProtectSystem')).toEqual(['strict']);
    expect(said('CapabilityBoundingSet')).toEqual(['']);
    expect(said('MemoryDenyWriteExecute')).toEqual([]);
  });

  it('names a folder for the data that it may write to', () => {
    expect(said('StateDirectory')).toEqual(['sundial']);
    expect(said('Environment').join()).toContain('SUNDIAL_DATA=/var/lib/sundial');
    expect(said('WorkingDirectory')).toEqual(['/var/lib/sundial']);
  });
});

describe('the manifests', async () => {
  const folder = join(ROOT, 'config/kubernetes');
  const objects = await Promise.all(
    readdirSync(folder).map((file) => readFile(join(folder, file), 'utf8')),
  ).then((texts) =>
    texts.flatMap((each) =>
      parseAllDocuments(each).map((document) => {
        expect(document.errors).toEqual([]);
        return tree(document.toJS());
      }),
    ),
  );
  const of = (kind: string) => objects.filter((each) => each.at('kind').value === kind);
  const named = (kind: string, name: string) =>
    of(kind).find((each) => each.at('metadata', 'name').value === name) ?? tree(undefined);
  const pod = named('Deployment', 'sundial').at('spec', 'template');
  const container = pod.at('spec', 'containers', 0);
  const volumes = new Map(pod.at('spec', 'volumes').list.map((each) => [each.at('name').value, each]));
  const mounts = new Map(
    container.at('volumeMounts').list.map((each) => [each.at('mountPath').value, each.at('name').value]),
  );

  /** The gateway file of the ConfigMap, with its folders made under a temporary one. */
  async function settingsInPod(): Promise<Settings> {
    const made = await mkdtemp(join(tmpdir(), 'sundial-pod-'));
    try {
      const pair = await generate([{ name: 'commonName', value: 'api.example.com' }]);
      const here = (path: string) => join(made, path);
      const files: Readonly<Record<string, string>> = {
        '/etc/sundial-tls/tls.crt': pair.cert,
        '/etc/sundial-tls/tls.key': pair.private,
        '/run/secrets/sundial/admin-token': 'a-token-of-more-than-thirty-two-characters',
        '/run/secrets/sundial/store': 'redis://redis:6379',
        ...Object.fromEntries(
          named('ConfigMap', 'sundial-policies')
            .at('data')
            .entries.map(([name, { value }]) => [`/etc/sundial-policies/${name}`, String(value)]),
        ),
      };
      for (const [path, content] of Object.entries(files)) {
        // Every folder that the gateway file names is mounted.
        expect([...mounts.keys()]).toContain(path.slice(0, path.lastIndexOf('/')));
        await mkdir(here(path.slice(0, path.lastIndexOf('/'))), { recursive: true });
        // As `defaultMode` of the volumes has it.
        await writeFile(here(path), content, { mode: 0o440 });
      }
      const written = String(named('ConfigMap', 'sundial').at('data', 'gateway.yaml').value);
      const config = here('gateway.yaml');
      await writeFile(config, written.replace(/(\/etc\/sundial-|\/run\/secrets\/)/g, `${made}$1`));
      // The pair is of this moment.
      return (await load(config, {}, Date.now())).settings;
    } finally {
      await rm(made, { recursive: true });
    }
  }

  it('are one of each, labelled alike, and select what the Deployment makes', () => {
    expect(objects.map((each) => each.at('kind').value).toSorted()).toEqual([
      'ConfigMap',
      'ConfigMap',
      'Deployment',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'Service',
    ]);
    const labels = pod.at('metadata', 'labels').value;
    for (const service of of('Service')) expect(service.at('spec', 'selector').value).toEqual(labels);
    expect(named('PodDisruptionBudget', 'sundial').at('spec', 'selector', 'matchLabels').value).toEqual(
      labels,
    );
    expect(named('NetworkPolicy', 'sundial').at('spec', 'podSelector', 'matchLabels').value).toEqual(labels);
    expect(named('Deployment', 'sundial').at('spec', 'selector', 'matchLabels').value).toEqual(labels);
  });

  it('give the gateway files that are in order, at the ports that they publish', async () => {
    const { listeners, replicas, store } = await settingsInPod();
    const ports = new Map(
      container.at('ports').list.map((each) => [each.at('name').value, each.at('containerPort').value]),
    );
    expect(ports.get('https')).toBe(listeners.https?.address.port);
    expect(ports.get('metrics')).toBe(listeners.metrics?.address.port);
    expect(listeners.admin?.address.host).toBe('127.0.0.1');
    expect(store.kind).toBe('redis');
    expect(named('Deployment', 'sundial').at('spec', 'replicas').value).toBe(replicas);
    for (const service of of('Service'))
      for (const port of service.at('spec', 'ports').list)
        expect([...ports.keys()]).toContain(port.at('targetPort').value);
    const annotations = pod.at('metadata', 'annotations');
    expect(annotations.at('prometheus.io/port').value).toBe(String(listeners.metrics?.address.port));
    expect(pages).toContain(annotations.at('prometheus.io/path').value);
  });

  it('end a pod later than its drain, and have it out of the endpoints before it stops accepting', async () => {
    const { drain } = await settingsInPod();
    const grace = Number(pod.at('spec', 'terminationGracePeriodSeconds').value) * 1_000;
    expect(grace).toBeGreaterThanOrEqual(drain.waitMs + drain.timeoutMs + LETTING_GO_MS);
    const probe = container.at('readinessProbe');
    const noticed =
      Number(probe.at('periodSeconds').value) * Number(probe.at('failureThreshold').value) * 1_000;
    expect(drain.waitMs).toBeGreaterThan(2 * noticed);
  });

  it.each(['startupProbe', 'readinessProbe', 'livenessProbe'])(
    'ask by the %s for a page that the metrics listener has',
    (name) => {
      const { at } = container.at(name, 'httpGet');
      expect(pages).toContain(at('path').value);
      expect(at('port').value).toBe('metrics');
    },
  );

  it('let the process do nothing but serve', () => {
    expect(pod.at('spec', 'securityContext').value).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.at('securityContext').value).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.at('spec', 'automountServiceAccountToken').value).toBe(false);
    expect(container.at('image').value).toMatch(/:\d+\.\d+\.\d+$/);
  });

  it('mount what there is: ConfigMaps of their own, Secrets by name, no secret in any file', () => {
    for (const name of mounts.values()) expect(volumes.has(name), String(name)).toBe(true);
    const maps = of('ConfigMap').map((each) => each.at('metadata', 'name').value);
    for (const volume of volumes.values()) {
      const map = volume.at('configMap', 'name').value;
      if (map !== undefined) expect(maps).toContain(map);
    }
    expect(of('Secret')).toEqual([]);
    const [variable] = container.at('env').list;
    expect(variable?.value).toEqual({ name: 'SUNDIAL_CONFIG', value: '/etc/sundial/gateway.yaml' });
    expect(mounts.has('/etc/sundial')).toBe(true);
  });
});
