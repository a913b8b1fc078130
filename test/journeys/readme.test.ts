// Runs the README: starts its demo, reads the banner, and tries its curl lines and its table.
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAMPLE_SERVICES } from '../../gateway/cli/demo/sample-services.ts';
import { type CurlCommand, parseCurl, sendCurl } from '../support/readme-curl.ts';
import { type Demo, movePorts, openWorkspace, startDemo, type Workspace } from '../support/readme-demo.ts';
import { readReadme, shellLines, spansOf, writtenPorts } from '../support/readme-text.ts';

const readme = readReadme();
const curls = [...new Set(shellLines(readme))].filter((line) => line.startsWith('curl '));
const operating = [
  ...new Set(shellLines(readme).filter((line) => /^npx sundial (pause|pin|notify)\b/.test(line))),
];
const written = writtenPorts(readme);

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace[Symbol.asyncDispose]());

describe('the demo of the README', () => {
  let ports: ReadonlyMap<string, number>;
  let demo: Demo;
  beforeAll(async () => {
    ports = await movePorts([...written.keys()]);
    demo = await startDemo(workspace.folder, ports);
  });
  afterAll(async () => {
    demo.child.kill('SIGKILL');
    await demo.ended;
  });

  const port = (variable: string) => ports.get(variable) ?? 0;
  const moved = (from: number) => {
    const [variable] = Array.from(written).find(([, number]) => number === from) ?? [];
    if (variable === undefined) throw new Error(`the README names no variable that moves ${from}`);
    return port(variable);
  };
  // A token lasts an hour, so one per client serves all lines.
  const printed = new Map<string, string>();
  const once = (command: string): string => {
    const text = printed.get(command) ?? demo.shell(command);
    printed.set(command, text);
    return text;
  };
  const read = (line: string): CurlCommand => parseCurl(line, once);

  it('prints its addresses, the store, the certificate fingerprint and the place of its log', async () => {
    const rows = new Map(
      Array.from(demo.stdout.matchAll(/^ {2}(\S+(?: \S+)?) {2,}(\S.*)$/gm), ([, name, value]) => [
        name,
        value,
      ]),
    );
    expect(rows.get('gateway')).toBe(`https://127.0.0.1:${port('SUNDIAL_HTTPS_PORT')}`);
    expect(rows.get('plain http')).toContain(`http://127.0.0.1:${port('SUNDIAL_HTTP_PORT')} `);
    expect(rows.get('admin')).toContain(`http://127.0.0.1:${port('SUNDIAL_ADMIN_PORT')} `);
    expect(rows.get('store')).toContain('embedded');
    expect(rows.get('clock')).toContain('2026-11-20');
    expect(rows.get('certificate')).toBe(`SHA-256 ${await fingerprintAt(port('SUNDIAL_HTTPS_PORT'))}`);
    const log = readFileSync(join(workspace.folder, 'data/gateway.log'), 'utf8');
    expect(rows.get('log')).toContain('gateway.log');
    expect(log).toContain('"message":"started"');
    expect(demo.stderr).toBe('');
  });

  it('prints four curl lines that work, one of them with a token', async () => {
    const lines = demo.stdout.split('\n').filter((line) => line.includes('curl '));
    expect(lines).toHaveLength(4);
    expect(lines.filter((line) => line.includes('Authorization: Bearer $('))).toHaveLength(1);
    const statuses = [];
    for (const line of lines) statuses.push(...(await statusesOf(read(line), (bound) => bound)));
    expect(statuses).toEqual([200, 301, 410, 200]);
  });

  const promised = (readme.tables.get('request') ?? []).flatMap(([request = '', answer = '']) => {
    const [, method, path] = /^`(GET|POST) (\/\S+)`(?: with(?:out)? a token)?$/.exec(request) ?? [];
    return method === undefined || path === undefined ? [] : [{ request, method, path, answer }];
  });

  it('has a curl line in the README for each row of the table', () => {
    expect(promised.length).toBeGreaterThanOrEqual(6);
    const shown = curls.map((line) => parseCurl(line, () => 'token').urls[0]);
    const paths = shown.map((url) => `${url?.pathname}${url?.search}`);
    expect(paths).toEqual(expect.arrayContaining(promised.map(({ path }) => path)));
  });

  it.each(promised)('$request: $answer', async ({ request, method, path, answer }) => {
    const token = request.endsWith('with a token') ? `-H "Authorization: Bearer $(npm run -s token)"` : '';
    const line = `curl -k -X ${method} ${token} 'https://127.0.0.1:8443${path}'`;
    const [got] = await sendCurl(read(line), moved);
    expect(got?.status).toBe(Number(/^\d{3}/.exec(answer)?.[0]));
    const names = spansOf(answer).filter((span) => /^[A-Z][\w-]+$/.test(span) && span !== 'POST');
    expect(Object.keys(got?.headers ?? {})).toEqual(
      expect.arrayContaining(names.map((name) => name.toLowerCase())),
    );
    if (answer.includes('no lifecycle headers')) expect(got?.headers).not.toHaveProperty('deprecation');
    const limit = /limit of (\d+) a minute/.exec(answer)?.[1];
    if (limit !== undefined) expect(got?.headers['x-ratelimit-limit']).toBe(limit);
    if (got?.status === 401) expect(got.headers).toHaveProperty('www-authenticate');
    const members = got?.status === 410 ? ['replacement', 'migration_guide', 'reason'] : [];
    expect(members.filter((member) => got?.json[member] === undefined)).toEqual([]);
  });

  // After the table, because the last of these lines uses up the limit of v1.
  it.each(curls)('%s', async (line) => {
    const command = read(line);
    expect(command.expected).not.toEqual([]);
    expect(await statusesOf(command, moved)).toEqual(command.expected);
  });

  // In the order of the page, because a line may show or undo the effect of the one before.
  it.each(operating)('%s', (line) => {
    const said = demo.shell(line.replace('npx sundial', 'node gateway/sundial.js'));
    expect(said).not.toBe('');
    if (line.includes('--dry-run'))
      expect(said).toMatch(/^To: api@acme\.example \(acme\)\nSubject: orders v1 /m);
  });

  it('has a receiver that gets events of payments and announcements of versions', async () => {
    const line = curls.find((each) => each.includes('/received')) ?? '';
    const arrived = async () => JSON.stringify((await sendCurl(read(line), moved))[0]?.json);
    const said = Array.from(line.matchAll(/\b(?:payment|version)\.\w+/g), ([type]) => type);
    expect(said).toHaveLength(2);
    for (const type of said) await expect.poll(arrived).toContain(`"type":"${type}"`);
  });

  it('answers 502 with the name of a stopped service', async () => {
    process.kill(demo.services.get('orders-v2') ?? 0);
    const line = curls.find((each) => each.includes('Bearer') && each.includes('/v2/orders')) ?? '';
    const command = read(line);
    await expect.poll(() => demo.stderr, { timeout: 10_000 }).toContain('orders-v2 ended');
    const [answer] = await sendCurl(command, moved);
    expect(answer?.status).toBe(502);
    expect(answer?.json.service).toBe('orders-v2');
  });

  it('exits with 0 on Ctrl-C, and leaves no process and no listener', async () => {
    demo.child.kill('SIGINT');
    expect(await demo.ended).toEqual({ code: 0, signal: null });
    expect(demo.services.size).toBe(SAMPLE_SERVICES.length);
    for (const pid of demo.services.values()) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    for (const number of ports.values()) expect(await isOpen(number)).toBe(false);
  });
});

/** Statuses in the order of arrival, without repetitions. */
async function statusesOf(command: CurlCommand, portOf: (port: number) => number): Promise<number[]> {
  const answers = await sendCurl(command, portOf);
  return [...new Set(answers.map(({ status }) => status))];
}

function fingerprintAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
