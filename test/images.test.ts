// The images of Dockerfile: each has the files and packages that run in it, and Compose uses them correctly.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasPlan, loadAll } from '../gateway/plan/load.ts';
import { load, pages, ROOT, type Tree, text, yaml } from './support/deployed-files.ts';
import {
  BUILT,
  filesIn,
  healthCommandOf,
  isSent,
  lineage,
  operands,
  packagesIn,
  readStages,
} from './support/dockerfile.ts';
import { packageOf } from './support/house-rules.ts';
import { freePorts } from './support/ports.ts';
import { importsOf, type SourceFile } from './support/source-text.ts';

const stages = readStages();
const IMAGES = ['gateway', 'samples'];
const {
  engines,
  bin,
  dependencies,
}: { engines: { node: string }; bin: { sundial: string }; dependencies: Record<string, string> } = JSON.parse(
  await text('package.json'),
);

const said = (image: string, word: string) =>
  lineage(stages, image).flatMap((stage) => operands(stage, word));

/** The TypeScript and JavaScript files of an image. */
const sourcesIn = (image: string): Promise<SourceFile[]> =>
  Promise.all(
    [...filesIn(stages, image)]
      .filter((path) => /\.(ts|js)$/.test(path))
      .map(async (path) => ({ path, text: await readFile(join(ROOT, path), 'utf8') })),
  );

const healthCommand = healthCommandOf(stages);

/** Resolves with the exit code of the image's HEALTHCHECK. */
function healthOf(port: number): Promise<number | null> {
  const [command = '', ...words] = healthCommand;
  const child = spawn(command, words, { env: { HEALTH_PORT: String(port) }, stdio: 'ignore' });
  return new Promise((resolve) => child.once('close', resolve));
}

async function answerWith(status: number) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    asked,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

describe.each(IMAGES)('the image of the %s', (image) => {
  it('has the Node version of package.json, slim, with the library that Node needs', () => {
    const major = /\d+/.exec(engines.node)?.[0];
    expect(lineage(stages, image)[0]?.from).toBe(`node:${major}-slim`);
    expect(said(image, 'RUN').join('\n')).toContain('libatomic1');
  });

  it('runs without root, and writes only to /data', () => {
    expect(said(image, 'USER')).toEqual(['node']);
    const last = stages.find(({ name }) => name === image)?.instructions ?? [];
    expect(last.indexOf('USER node')).toBeLessThan(last.findIndex((line) => line.startsWith('ENTRYPOINT')));
    expect(said(image, 'VOLUME')).toEqual(['/data']);
    expect(said(image, 'ENV').join()).toContain('SUNDIAL_DATA=/data');
  });

  it('has the files that it copies, and none that .dockerignore excludes', () => {
    const files = [...filesIn(stages, image)];
    expect(files).toContain('upstreams/orders/v1.openapi.yaml');
    expect(files.filter((file) => !isSent(file))).toEqual([]);
  });
});

describe('the image of the samples', () => {
  it('has every file and package that its files import', async () => {
    const image = 'samples';
    const [files, packages] = [filesIn(stages, image), packagesIn(stages, image, Object.keys(dependencies))];
    expect(files).toContain('package.json');
    const imports = (await sourcesIn(image)).flatMap(importsOf).filter(({ typeOnly }) => !typeOnly);
    expect(imports.length).toBeGreaterThan(100);
    const missing = imports.filter((found) => {
      const name = packageOf(found);
      if (found.relative) return !files.has(found.to);
      return name !== undefined && !name.startsWith('node:') && !packages.has(name);
    });
    expect(missing.map(({ from, to }) => `${from}: ${to}`)).toEqual([]);
  });
});

describe('the image of the gateway', () => {
  it('is the default target of the build', () => expect(stages.at(-1)?.name).toBe('gateway'));

  it('runs the command of the built package', () => {
    expect(said('gateway', 'COPY')).toContain(`${BUILT} ./`);
    expect(isSent(`${BUILT}/package.json`)).toBe(true);
    expect(said('gateway', 'ENTRYPOINT')).toEqual([`["node", "${bin.sundial}"]`]);
    expect(said('gateway', 'CMD')).toEqual(['["run"]']);
  });

  it('has no other program and no packages', async () => {
    expect(await sourcesIn('gateway')).toEqual([]);
    expect([...packagesIn(stages, 'gateway', Object.keys(dependencies))]).toEqual([]);
  });

  it.each([
    [200, 0],
    [503, 1],
  ])('has a health check in bash: %i of the metrics listener gives exit code %i', async (status, code) => {
    await using server = await answerWith(status);
    expect(healthCommand[0]).toBe('bash');
    expect(await healthOf(server.port)).toBe(code);
    expect(server.asked).toEqual([pages.find((page) => page.endsWith('/ready'))]);
  });

  it('is unhealthy while nothing listens', async () => {
    const [port = 0] = await freePorts(1);
    expect(await healthOf(port)).toBe(1);
  });

  it('starts with a valid gateway file, whose ports are those of the image', async () => {
    const config = /SUNDIAL_CONFIG=\/app\/(\S+)/.exec(said('gateway', 'ENV').join('\n'))?.[1] ?? '';
    const { settings } = await load(config, { SUNDIAL_DATA: '/data' });
    const { https, http, metrics, admin } = settings.listeners;
    expect(said('gateway', 'EXPOSE')).toEqual([
      [https, http, metrics].map((each) => each?.address.port).join(' '),
    ]);
    expect(said('gateway', 'ENV')).toContain(`HEALTH_PORT=${metrics?.address.port}`);
    expect(settings.dataFolder).toBe('/data');
    // Only reachable inside the container.
    expect(admin?.address.host).toBe('127.0.0.1');
    expect(metrics?.address.host).toBeUndefined();
  });

  it('has every file that its policies reference', async () => {
    const app = await mkdtemp(join(tmpdir(), 'sundial-image-'));
    try {
      const read = [...filesIn(stages, 'gateway')].filter((path) => !path.startsWith('gateway/'));
      for (const path of read) await cp(join(ROOT, path), join(app, path), { recursive: true });
      const now = Date.UTC(2026, 10, 20);
      const configFile = 'config/container/gateway.yaml';
      const loaded = await loadAll({ configFile, environment: {}, now, cwd: app });
      expect(loaded.problems).toEqual([]);
      expect(hasPlan(loaded)).toBe(true);
    } finally {
      await rm(app, { recursive: true });
    }
  });
});

describe('the Compose file', async () => {
  const compose = await yaml('docker-compose.yml');
  const services = compose.at('services').entries;
  const builds = services.filter(([, each]) => each.at('build').value !== undefined);
  /** The stage that a service's image is built from. Undefined for images of others. */
  const stageOf = (service: Tree): string | undefined => {
    const of = builds.find(([, each]) => each.at('image').value === service.at('image').value);
    return of === undefined ? undefined : String(of[1].at('build', 'target').value);
  };
  const words = (...lists: readonly Tree[]) =>
    lists.flatMap(({ list }) => list.map(({ value }) => String(value)));

  it('builds each image once, from the project', () => {
    expect(builds.map(([, each]) => each.at('build', 'target').value).toSorted()).toEqual(IMAGES);
    for (const [, each] of builds) expect(each.at('build', 'context').value).toBe('.');
    expect(services.filter(([, each]) => stageOf(each) === 'samples')).toHaveLength(9);
  });

  it('runs only files that exist in the image', async () => {
    const said = `${await text('docker-compose.yml')}${await text('docs/operate/deploy.md')}${await text('upstreams/README.md')}`;
    const typed = Array.from(
      said.matchAll(/docker compose exec (\S+) node (\S+)/g),
      ([, name = '', file = '']) => [stageOf(compose.at('services', name)), file],
    );
    expect(typed.length).toBeGreaterThan(1);
    const run = services.flatMap(([, each]) => {
      const stage = stageOf(each);
      const files = words(each.at('entrypoint'), each.at('command'), each.at('healthcheck', 'test'));
      return stage === undefined
        ? []
        : files.filter((word) => /\.(ts|js)$/.test(word)).map((file) => [stage, file]);
    });
    expect(run).toHaveLength(9);
    for (const [stage = '', file = ''] of [...typed, ...run])
      expect(
        [...filesIn(stages, stage), ...(stage === 'gateway' ? [bin.sundial] : [])],
        `${stage}: ${file}`,
      ).toContain(file);
  });

  it('mounts a shared folder so that both services can use it', () => {
    const mounts = services.flatMap(([name, each]) =>
      words(each.at('volumes')).map((volume) => ({ name, stage: stageOf(each), parts: volume.split(':') })),
    );
    const shared = Map.groupBy(mounts, ({ parts }) => parts[0]);
    for (const [volume, users] of shared) {
      if (users.length === 1) continue;
      // All our images have the same user, so that one service can read the private files of another.
      for (const { name, stage } of users)
        expect(said(stage ?? '', 'USER'), `${volume}: ${name}`).toEqual(['node']);
      // A second service writes only to the data folder of its image.
      for (const { parts } of users)
        expect(parts[1] === '/data' || parts[2] === 'ro', parts.join(':')).toBe(true);
    }
    const client = compose.at('services', 'client');
    const certificate = String(client.at('environment', 'SUNDIAL_GATEWAY_CA').value);
    expect(words(client.at('volumes'))).toContain(`gateway:${dirname(certificate)}:ro`);
  });
});
