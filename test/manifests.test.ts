// The Kubernetes manifests, held against each other and against the gateway: ports, paths, names and times.
// The other files that tools read stand in deployment.test.ts.
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Settings } from '../gateway/plan/settings.ts';
import { LETTING_GO_MS, load, pages, ROOT, tree } from './support/deployed-files.ts';

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
