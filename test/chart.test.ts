// The Helm chart without Helm: its templates, values and example match each other and the gateway.
import { readdirSync, realpathSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Settings } from '../gateway/plan/settings.ts';
import { LETTING_GO_MS, load, pages, ROOT, text, tree, yaml } from './support/deployed-files.ts';

const CHART = 'config/helm';
const LABELS = '<include "sundial.labels" .>';

/** A template as YAML: every condition holds, and an expression becomes text in angle brackets. */
const outline = (template: string): string =>
  template
    .replace(/^ *\{\{[^{}]*\}\}\n/gm, '')
    .replace(/\{\{-? ?(.*?) ?-?\}\}/g, (_, expression: string) => `<${expression}>`);

describe('the chart', async () => {
  const names = readdirSync(join(ROOT, CHART, 'templates'));
  const texts = await Promise.all(names.map((name) => text(`${CHART}/templates/${name}`)));
  const templates = texts.filter((_, index) => names[index]?.endsWith('.yaml'));
  const reader = await text(`${CHART}/templates/_gateway-file.tpl`);
  const values = await yaml(`${CHART}/values.yaml`);
  const objects = templates.flatMap((template) =>
    parseAllDocuments(outline(template)).map((document) => {
      expect(document.errors).toEqual([]);
      return tree(document.toJS());
    }),
  );
  const of = (kind: string) => objects.filter((each) => each.at('kind').value === kind);
  const the = (kind: string) => of(kind)[0] ?? tree(undefined);
  const pod = the('Deployment').at('spec', 'template');
  const container = pod.at('spec', 'containers', 0);
  const volumes = new Map(pod.at('spec', 'volumes').list.map((each) => [each.at('name').value, each]));
  const mounts = new Map(
    container.at('volumeMounts').list.map((each) => [each.at('mountPath').value, each.at('name').value]),
  );

  /** Loads the example's gateway file, changed by `edit`, with its folders under a temporary one. */
  async function settingsInPod(edit = (file: string) => file): Promise<Settings> {
    const made = await mkdtemp(join(tmpdir(), 'sundial-pod-'));
    try {
      const pair = await generate([{ name: 'commonName', value: 'api.example.com' }]);
      const here = (path: string) => join(made, path);
      const files: Readonly<Record<string, string>> = {
        '/etc/sundial-tls/tls.crt': pair.cert,
        '/etc/sundial-tls/tls.key': pair.private,
        '/run/secrets/sundial/admin-token': 'a-token-of-more-than-thirty-two-characters',
        '/run/secrets/sundial/store': 'redis://redis:6379',
        '/etc/sundial-policies/orders.yaml': await text(`${CHART}/example/orders.yaml`),
      };
      for (const [path, content] of Object.entries(files)) {
        // Every folder that the gateway file names is mounted.
        expect([...mounts.keys()]).toContain(path.slice(0, path.lastIndexOf('/')));
        await mkdir(here(path.slice(0, path.lastIndexOf('/'))), { recursive: true });
        // The `defaultMode` of the volumes.
        await writeFile(here(path), content, { mode: 0o440 });
      }
      const written = edit(await text(`${CHART}/example/gateway.yaml`));
      const config = here('gateway.yaml');
      await writeFile(config, written.replace(/(\/etc\/sundial-|\/run\/secrets\/)/g, `${made}$1`));
      // The certificate has just become valid.
      return (await load(config, {}, Date.now())).settings;
    } finally {
      await rm(made, { recursive: true });
    }
  }

  it('has the expected kinds, and their selectors match the labels of the pods', () => {
    expect(objects.map((each) => each.at('kind').value).toSorted()).toEqual([
      'ConfigMap',
      'ConfigMap',
      'Deployment',
      'HorizontalPodAutoscaler',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'PrometheusRule',
      'Service',
      'Service',
      'ServiceMonitor',
    ]);
    expect(pod.at('metadata', 'labels').value).toBe(LABELS);
    for (const service of of('Service')) expect(service.at('spec', 'selector').value).toBe(LABELS);
    for (const kind of ['Deployment', 'PodDisruptionBudget', 'ServiceMonitor'])
      expect(the(kind).at('spec', 'selector', 'matchLabels').value).toBe(LABELS);
    expect(the('NetworkPolicy').at('spec', 'podSelector', 'matchLabels').value).toBe(LABELS);
    const name = the('Deployment').at('metadata', 'name').value;
    expect(the('HorizontalPodAutoscaler').at('spec', 'scaleTargetRef').value).toMatchObject({
      kind: 'Deployment',
      name,
    });
  });

  it('has a valid example, whose listeners are those that the chart publishes', async () => {
    const { listeners, replicas, store } = await settingsInPod();
    const published = [...reader.matchAll(/range \$name := list (.*) -/g)].flatMap(([, list = '']) =>
      list.split(' ').map((name) => name.replaceAll('"', '')),
    );
    expect([...published, 'admin'].toSorted()).toEqual(Object.keys(listeners).toSorted());
    const { https, metrics, admin } = listeners;
    expect([https?.address.host, metrics?.address.host]).toEqual([undefined, undefined]);
    expect(admin?.address.host).toBe('127.0.0.1');
    expect(store.kind).toBe('redis');
    expect(replicas).toBe(values.at('autoscaling', 'minReplicas').value);
    for (const service of of('Service'))
      for (const port of service.at('spec', 'ports').list)
        expect(published).toContain(port.at('targetPort').value);
    expect(pages).toContain(pod.at('metadata', 'annotations', 'prometheus.io/path').value);
    const [endpoint] = the('ServiceMonitor').at('spec', 'endpoints').list;
    expect(pages).toContain(endpoint?.at('path').value);
    expect(endpoint?.at('port').value).toBe(of('Service')[1]?.at('spec', 'ports', 0, 'name').value);
  });

  it('gives a pod time to drain, and time to leave the endpoints before it stops accepting', async () => {
    const grace = /"grace" \(add \$wait \$timeout (\d+)\)/.exec(reader);
    expect(Number(grace?.[1]) * 1_000).toBeGreaterThanOrEqual(LETTING_GO_MS);
    expect(pod.at('spec', 'terminationGracePeriodSeconds').value).toBe('<$gateway.grace>');
    const probe = container.at('readinessProbe');
    const noticed =
      Number(probe.at('periodSeconds').value) * Number(probe.at('failureThreshold').value) * 1_000;
    const least = Number(/lt \$wait (\d+)/.exec(reader)?.[1]) * 1_000;
    expect(least).toBeGreaterThan(2 * noticed);
    expect((await settingsInPod()).drain.waitMs).toBeGreaterThanOrEqual(least);
  });

  it('has the same default drain as the gateway', async () => {
    const { drain } = await settingsInPod((file) => file.replace(/^drain: .*$/m, ''));
    expect(reader).toContain(`dig "drain" "wait" "${drain.waitMs / 1_000}s"`);
    expect(reader).toContain(`dig "drain" "timeout" "${drain.timeoutMs / 1_000}s"`);
  });

  it.each(['startupProbe', 'readinessProbe', 'livenessProbe'])(
    'has a %s that requests an existing page of the metrics listener',
    (name) => {
      const { at } = container.at(name, 'httpGet');
      expect(pages).toContain(at('path').value);
      expect(at('port').value).toBe('metrics');
    },
  );

  it('runs the container without root, capabilities or a writable file system', () => {
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
  });

  it('has the version of the package, and so does its image', async () => {
    const { version } = JSON.parse(await text('package.json'));
    const about = await yaml(`${CHART}/Chart.yaml`);
    expect([about.at('version').value, about.at('appVersion').value]).toEqual([version, version]);
    expect(String(values.at('image').value)).toMatch(new RegExp(`:${RegExp.escape(version)}$`));
  });

  it('requests more memory than a gateway uses under load in docs/operate/performance.md', async () => {
    const [, measured] = /full load about (\d+) MB/.exec(await text('docs/operate/performance.md')) ?? [];
    const [asked, limit] = ['requests', 'limits'].map((each) =>
      Number(/^(\d+)Mi$/.exec(String(values.at('resources', each, 'memory').value))?.[1]),
    );
    expect(asked).toBeGreaterThan(Number(measured));
    expect(limit).toBeGreaterThanOrEqual(2 * Number(measured));
  });

  it('mounts its own ConfigMaps and existing Secrets, and contains no secret', () => {
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

  it('links to the Prometheus rules instead of copying them', () => {
    expect(realpathSync(join(ROOT, CHART, 'rules'))).toBe(
      realpathSync(join(ROOT, 'config/prometheus/rules')),
    );
  });

  it('uses exactly the values in values.yaml, and its schema has the same', async () => {
    const schema = await yaml(`${CHART}/values.schema.json`);
    // Only subcharts and parent charts read `global`.
    const known = schema
      .at('properties')
      .entries.filter(([name]) => name !== 'global')
      .flatMap(([name, { at }]) => {
        const inner = at('properties').entries.map(([key]) => `${name}.${key}`);
        return inner.length === 0 ? [name] : inner;
      });
    const had = values.entries.flatMap(([name, group]) =>
      schema.at('properties', name, 'properties').value === undefined
        ? [name]
        : group.entries.map(([key]) => `${name}.${key}`),
    );
    const used = [...texts.join('').matchAll(/\.Values\.([a-zA-Z]+(?:\.[a-zA-Z]+)?)/g)].map(
      ([, path]) => path ?? '',
    );
    expect(had.toSorted()).toEqual(known.toSorted());
    expect([...new Set(used)].toSorted()).toEqual(known.toSorted());
  });
});
