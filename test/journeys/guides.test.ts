// Runs the pages of docs/ that show files: writes their files in an empty folder and runs their commands.
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayProcess, startProcess } from '../support/gateway-process.ts';
import { type GuideStep, operateIn, readGuide } from '../support/guide.ts';
import { freePorts } from '../support/ports.ts';
import { parseCurl, sendCurl } from '../support/readme-curl.ts';
import { ROOT } from '../support/readme-text.ts';

/** Ports in the pages: of the gateway and of the reader's services. */
const GATEWAY_PORTS = [8443, 9901, 9902, 8080];
const SERVICE_PORTS = [3000, 3001];
/** The day on which commands on files run. */
const TODAY = Date.UTC(2026, 10, 20);
const ON_FILES = /^npx sundial (check|explain|timeline|diff|extend|init|openapi)\b/;

const guides = globSync('docs/{start,guides}/*.md', { cwd: ROOT })
  .map((page) => ({ page, steps: readGuide(page) }))
  .filter(({ steps }) => steps.some(({ kind }) => kind === 'file'));

it('several pages are tested', () => expect(guides.length).toBeGreaterThan(2));

describe.each(guides)('$page', ({ steps }) => {
  const stack = new AsyncDisposableStack();
  const ports = new Map<number, number>();
  const portOf = (written: number) => ports.get(written) ?? written;
  const withPorts = (text: string) => text.replace(/(?<=:)\d{4}\b/g, (port) => String(portOf(Number(port))));
  /** The files of the page: `written` for commands on files, `moved` with the ports of this run. */
  let written = '';
  let moved = '';
  let gateway: GatewayProcess | undefined;
  let printed = '';

  beforeAll(async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'sundial-guide-')));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    [written, moved] = [join(folder, 'written'), join(folder, 'moved')];
    await Promise.all([mkdir(written), mkdir(moved)]);
    const free = await freePorts(GATEWAY_PORTS.length);
    for (const [index, port] of GATEWAY_PORTS.entries()) ports.set(port, free[index] ?? 0);
    for (const port of SERVICE_PORTS) {
      const service = createServer((_, response) => response.end('{}\n'));
      await new Promise<void>((listening) => service.listen(0, '127.0.0.1', listening));
      stack.defer(() => {
        service.close();
        service.closeAllConnections();
      });
      ports.set(port, (service.address() as AddressInfo).port);
    }
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await stack.disposeAsync();
  });

  async function writeIn(folder: string, path: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }

  async function run(line: string): Promise<void> {
    const [, command = '', output, comment = ''] = /^(.*?)(?: > (\S+))?(?: +# (.*))?$/.exec(line) ?? [];
    const expected = Number(/^exits with (\d)/.exec(comment)?.[1] ?? 0);
    if (command.startsWith('npx sundial run')) {
      await gateway?.[Symbol.asyncDispose]();
      gateway = startProcess(command.split(' ').slice(2), {}, [], ROOT, [], moved);
      await gateway.ready;
      return;
    }
    // Only the shell of a reader writes files.
    if (command === 'umask 077') return;
    if (!command.startsWith('npx sundial ')) throw new Error(`a guide has no such command: ${line}`);
    const onFiles = ON_FILES.test(command) && !command.includes('--live');
    const ended = await operateIn(moved, withPorts(command), onFiles ? { now: () => TODAY } : {});
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ exitCode: expected });
    printed = ended.stdout;
    if (onFiles) printed = (await operateIn(written, command, { now: () => TODAY })).stdout;
    if (output !== undefined) await writeIn(moved, output, ended.stdout);
    // `init` writes the default ports.
    const made = join(moved, 'config/gateway.yaml');
    if (command.startsWith('npx sundial init')) await writeFile(made, withPorts(readFileSync(made, 'utf8')));
  }

  async function send(line: string): Promise<void> {
    const command = parseCurl(line, (inner) => {
      const [, file = ''] = /^cat (\S+)$/.exec(inner) ?? [];
      return readFileSync(join(moved, file), 'utf8').trim();
    });
    const answers = await sendCurl(command, portOf);
    expect(command.expected).not.toEqual([]);
    expect([...new Set(answers.map(({ status }) => status))]).toEqual(command.expected);
    // The comment names headers, and sometimes their values: X-API-Version-Served: 2026-06-01.
    const comment = line.split(' # ')[1] ?? '';
    for (const [, name = '', value] of comment.matchAll(
      /\b(Deprecation|Sunset|Link|Warning|X-[\w-]+)\b(?:: (\S+))?/g,
    ))
      expect(answers[0]?.headers[name.toLowerCase()], name).toEqual(value ?? expect.anything());
  }

  const named = steps.map((step: GuideStep) => ({
    step,
    title:
      step.kind === 'file'
        ? `writes ${step.path}`
        : step.kind === 'output'
          ? 'prints the shown output'
          : step.line,
  }));

  it.each(named)('$title', async ({ step }) => {
    if (step.kind === 'output') expect(printed).toBe(step.text);
    else if (step.kind === 'file') {
      await writeIn(written, step.path, step.text);
      await writeIn(moved, step.path, withPorts(step.text));
    } else if (step.line.startsWith('curl ')) await send(step.line);
    else await run(step.line);
  });
});
