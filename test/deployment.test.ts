// Files of Compose, systemd, Prometheus and Grafana: their ports, paths, names and times match the gateway.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SAMPLE_SERVICES } from '../gateway/cli/demo/sample-services.ts';
import { takeInheritedSockets } from '../gateway/server/inherited-sockets.ts';
import { METRICS_PATH } from '../upstreams/webhooks/metrics-page.ts';
import { drainMs, load, pages, ROOT, text, yaml } from './support/deployed-files.ts';

describe('the Compose file', async () => {
  const compose = await yaml('docker-compose.yml');
  const services = compose.at('services').entries;
  const samples = services.filter(([, each]) => each.at('network_mode').value === 'service:gateway');
  const gateway = compose.at('services', 'gateway');

  it('has the gateway, every sample service, Redis, Prometheus, Grafana and a mail server', () => {
    const names = services.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(['gateway', 'redis', 'prometheus', 'grafana', 'mail']));
    const started = samples.map(([, each]) => each.at('command').value);
    expect(started).toEqual(SAMPLE_SERVICES.map(({ start }) => start));
    expect(names).toHaveLength(5 + SAMPLE_SERVICES.length);
  });

  it.each(services)(
    '%s has a pinned image, writes only to its volumes, and has no capabilities',
    (_name, service) => {
      expect(service.at('image').value).toMatch(/^[a-z/-]+:v?\d+\.\d+\.\d+(-alpine)?$/);
      expect(service.at('read_only').value).toBe(true);
      expect(service.at('cap_drop').value).toEqual(['ALL']);
      expect(service.at('security_opt').value).toEqual(['no-new-privileges:true']);
      expect(service.at('privileged').value).toBeUndefined();
      expect(service.at('user').value ?? 'of the image').not.toMatch(/^(root|0)/);
    },
  );

  it.each(services)(
    '%s is published on the loopback only, and its mounts and dependencies exist',
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

  it('gives the gateway a valid file, its ports, and time for its drain', async () => {
    const environment = Object.fromEntries(
      gateway.at('environment').entries.map(([name, { value }]) => [name, String(value)]),
    );
    const { settings } = await load('config/container/gateway.yaml', {
      SUNDIAL_DATA: '/data',
      ...environment,
    });
    const { https, http, metrics } = settings.listeners;
    const published = gateway.at('ports').list.map(({ value }) => Number(String(value).split(':')[2]));
    // 4008: the page of the sample client, which shares the network of the gateway.
    expect(published).toEqual([https?.address.port, http?.address.port, 4008]);
    // 9903: the metrics of the webhooks service, which also shares it.
    expect(gateway.at('expose').value).toEqual([String(metrics?.address.port), '9903']);
    expect(settings.store).toEqual({ kind: 'redis', url: 'redis://redis:6379' });
    expect(Number.parseInt(String(gateway.at('stop_grace_period').value), 10) * 1_000).toBeGreaterThan(
      drainMs(settings),
    );
    for (const name of Object.keys(environment))
      expect(await text('config/container/gateway.yaml')).toContain(`\${env:${name}`);
  });

  it('sends mails to the mail server and events to the webhooks service', async () => {
    const url = String(gateway.at('environment', 'SMTP_URL').value);
    const { settings } = await load('config/container/gateway.yaml', { SMTP_URL: url });
    expect(settings.notify?.email?.smtp).toMatchObject({ host: 'mail', port: 1025, tls: false });
    const sent = compose.at('services', 'webhooks', 'network_mode').value;
    expect([settings.notify?.intake, sent]).toEqual(['http://127.0.0.1:4006/events', 'service:gateway']);
    const [sample] = samples;
    expect(sample?.[1].at('environment', 'SUNDIAL_INTAKE').value).toBe(settings.notify?.intake);
    // Without SMTP_URL no mail is sent, and the rest works.
    expect((await load('config/container/gateway.yaml')).settings.notify?.email).toBeUndefined();
  });

  it('lets Prometheus scrape the gateway and the webhooks service, and Grafana read Prometheus', async () => {
    const { settings } = await load('config/container/gateway.yaml');
    const [job, webhooks, ...more] = (await yaml('config/prometheus/prometheus.yml')).at(
      'scrape_configs',
    ).list;
    expect(more).toEqual([]);
    expect(job?.at('static_configs', 0, 'targets').value).toEqual([
      `gateway:${settings.listeners.metrics?.address.port}`,
    ]);
    expect(pages).toContain(job?.at('metrics_path').value);
    const listens = compose.at('services', 'webhooks', 'environment', 'SUNDIAL_WEBHOOKS_METRICS').value;
    const [target] = webhooks?.at('static_configs', 0, 'targets').list ?? [];
    expect(target?.value).toBe(`gateway:${String(listens).split(':')[1]}`);
    expect(gateway.at('expose').value).toContain(String(listens).split(':')[1]);
    expect(webhooks?.at('metrics_path').value).toBe(METRICS_PATH);
    const [source] = (await yaml('config/grafana/provisioning/datasources/prometheus.yaml')).at(
      'datasources',
    ).list;
    const { hostname, port } = new URL(String(source?.at('url').value));
    expect(
      compose.at('services', hostname, 'ports').list.map(({ value }) => String(value).split(':')[2]),
    ).toEqual([port]);
  });
});

/** Returns the values of a key in a unit file. */
function saidIn(unit: string): (key: string) => readonly string[] {
  const lines = unit.split('\n');
  return (key) =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1));
}

describe('the systemd socket unit', async () => {
  const said = saidIn(await text('config/systemd/sundial.socket'));

  it('has the name of a listener of the gateway', () => {
    const [name = ''] = said('FileDescriptorName');
    const environment = { LISTEN_PID: '7', LISTEN_FDS: '1', LISTEN_FDNAMES: name };
    expect(takeInheritedSockets(environment, 7)).toMatchObject({ https: 3, http: undefined });
    expect(environment).toEqual({});
  });
});

describe('the systemd service unit', async () => {
  const said = saidIn(await text('config/systemd/sundial.service'));

  it('starts the gateway as its own user, reloads it with SIGHUP, and allows enough open files', () => {
    expect(said('Type')).toEqual(['exec']);
    expect(said('User')).toEqual(['sundial']);
    expect(said('ExecStart')).toEqual(['/usr/bin/node /opt/sundial/gateway/sundial.js run']);
    expect(said('ExecReload').at(-1)).toBe('/bin/kill -HUP $MAINPID');
    expect(Number(said('LimitNOFILE'))).toBeGreaterThanOrEqual(65_536);
  });

  it('does not restart the gateway after an error in its files or its command line', () => {
    expect(said('Restart')).toEqual(['on-failure']);
    expect(said('RestartPreventExitStatus')).toEqual(['1 2']);
  });

  it('waits longer than a drain takes', async () => {
    const { settings } = await load('config/gateway.yaml');
    expect(Number(said('TimeoutStopSec')) * 1_000).toBeGreaterThan(drainMs(settings));
  });

  it('is hardened, but keeps the memory rights of the JavaScript compiler', () => {
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

  it('names a writable folder for the data', () => {
    expect(said('StateDirectory')).toEqual(['sundial']);
    expect(said('Environment').join()).toContain('SUNDIAL_DATA=/var/lib/sundial');
    expect(said('WorkingDirectory')).toEqual(['/var/lib/sundial']);
  });
});
