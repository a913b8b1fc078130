// A toy section of a policy file, applied to a copy of the tree: how many files it takes, and that it then works.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** What stands before or in place of a text of a file; a file that is not there is made of a single text. */
type Edits = readonly (readonly [found: string, put: string])[] | string;

/** Windows in which requests are refused: of an API, taken over by its versions, and of an operation. */
const TOY: Readonly<Record<string, Edits>> = {
  'gateway/policy/maintenance/closed.ts': `// Windows in which a service is closed.
import { type EpochMs, type RetryLater, retryLater } from '../contract.ts';

export interface ClosedWindow {
  readonly from: EpochMs;
  readonly until: EpochMs;
}

export type ClosedRefusal = RetryLater<'closed'>;

export function refuseClosed(windows: readonly ClosedWindow[], now: EpochMs): ClosedRefusal | undefined {
  const window = windows.find(({ from, until }) => from <= now && now < until);
  return window && retryLater('closed', Math.ceil((window.until - now) / 1000), now);
}
`,
  'gateway/sections/closed/grammar.ts': `// The \`closed\` windows of an API, a version and an operation.
import { z } from 'zod';
import { instant } from '../../policy/notation.ts';

export const closedSection = z
  .array(z.strictObject({ from: instant('Begin of the window.'), until: instant('End of the window.') }))
  .meta({ description: 'Windows in which requests get 503.' });
`,
  'gateway/sections/closed/compile.ts': `// When a version and an operation are closed.
import type { VersionRules } from '../../plan/plan.ts';
import type { OperationInput, VersionInput } from '../section.ts';

export function closedOfVersion({ version }: VersionInput): Pick<VersionRules, 'closed'> {
  return { closed: version.closed ?? [] };
}

export function closedOfOperation({ operation, rules }: OperationInput): Pick<VersionRules, 'closed'> {
  return { closed: operation.closed ?? rules.closed };
}
`,
  'gateway/sections/list.ts': [
    [
      'import type { Section }',
      "import { closedOfOperation, closedOfVersion } from './closed/compile.ts';\nimport type { Section }",
    ],
    [
      'const LIST = [',
      "const LIST = [\n  { inherited: { closed: ['closed'] }, compileVersion: closedOfVersion, compileOperation: closedOfOperation },",
    ],
  ],
  'gateway/sections/policy-file.ts': [
    ["import { z } from 'zod';", "import { z } from 'zod';\nimport { closedSection } from './closed/grammar.ts';"],
    ['  max_body: maxBodySection', '  closed: closedSection.optional(),\n  max_body: maxBodySection'],
  ],
  'gateway/plan/plan.ts': [
    [
      'import type { Maintenance }',
      "import type { ClosedWindow } from '../policy/maintenance/closed.ts';\nimport type { Maintenance }",
    ],
    ['  readonly maintenance:', '  readonly closed: readonly ClosedWindow[];\n  readonly maintenance:'],
  ],
  'gateway/exchange/directive.ts': [
    [
      'import type { MaintenanceRefusal }',
      "import type { ClosedRefusal } from '../policy/maintenance/closed.ts';\nimport type { MaintenanceRefusal }",
    ],
    ['  | MaintenanceRefusal', '  | ClosedRefusal\n  | MaintenanceRefusal'],
  ],
  'gateway/exchange/pipeline.ts': [
    [
      "import { literalOf } from '../policy/paths/rules.ts';",
      "import { refuseClosed } from '../policy/maintenance/closed.ts';\nimport { literalOf } from '../policy/paths/rules.ts';",
    ],
    [
      '  // Maintenance: ',
      `  const inWindow = first(judged, ({ version }) => refuseClosed(version.closed, now), asked, decision);
  if (inWindow !== undefined) return inWindow;

  // Maintenance: `,
    ],
  ],
  'gateway/exchange/answers/refusal.ts': [
    [
      "    case 'maintenance':",
      "    case 'closed':\n      return unavailable('This service is closed.', refusal);\n    case 'maintenance':",
    ],
  ],
  'gateway/telemetry/requests/request-labels.ts': [
    ['  maintenance: { kind', "  closed: { kind: 'request' },\n  maintenance: { kind"],
  ],
};

const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: public
closed: [ { from: 2026-12-24, until: 2026-12-27 } ]
upstreams: { v1: { targets: [http://127.0.0.1:4001] }, v2: { targets: [http://127.0.0.1:4002] } }
versions:
  v1: { released: 2024-06-01, operations: { GET /open: { closed: [] } } }
  v2: { released: 2026-01-15, closed: [ { from: 2026-12-30, until: 2026-12-31 } ] }
`;
const GATEWAY = `public: https://api.example.com
listeners: { https: { address: "127.0.0.1:8443" } }
policies: ../policies/*.yaml
`;

let copy: string;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'sundial-toy-'));
  await cp(join(ROOT, 'gateway'), join(copy, 'gateway'), { recursive: true });
  await cp(join(ROOT, 'package.json'), join(copy, 'package.json'));
  await write('tsconfig.json', JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), include: [join(copy, 'gateway')] }));
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const [path, edits] of Object.entries(TOY)) await apply(path, edits);
  await write('config/gateway.yaml', GATEWAY);
  await write('policies/orders.yaml', POLICY);
});
afterAll(() => rm(copy, { recursive: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(copy, path)), { recursive: true });
  await writeFile(join(copy, path), text);
}

async function apply(path: string, edits: Edits): Promise<void> {
  if (typeof edits === 'string') return write(path, edits);
  let text = await readFile(join(copy, path), 'utf8');
  for (const [found, put] of edits) {
    expect(text, path).toContain(found);
    text = text.replaceAll(found, put);
  }
  await write(path, text);
}

async function sundial(...words: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, ['gateway/sundial.js', ...words], { cwd: copy });
  return stdout;
}

async function judged(request: string, at: string): Promise<unknown> {
  const { answer } = JSON.parse(await sundial('explain', request, '--at', at, '--format', 'json'));
  return answer.kind === 'answered' ? `${answer.status} ${answer.reason}` : answer.kind;
}

it('needs at most 10 files', () => {
  expect(Object.keys(TOY).length).toBeLessThanOrEqual(10);
});

it('is all that the compiler asks for', async () => {
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  const { stdout } = await run(compiler, ['--noEmit'], { cwd: copy }).catch((error) => error);
  expect(stdout).toBe('');
});

it('refuses requests in the windows of the API, of a version and of an operation', async () => {
  expect(await judged('GET /api/v1/orders', '2026-12-25')).toBe('503 closed');
  expect(await judged('GET /api/v1/orders/open', '2026-12-25')).toBe('forwarded');
  expect(await judged('GET /api/v1/orders', '2026-12-27')).toBe('forwarded');
  expect(await judged('GET /api/v2/orders', '2026-12-25')).toBe('forwarded');
  expect(await judged('GET /api/v2/orders', '2026-12-30')).toBe('503 closed');
});

it('has a place in the schema for editors', async () => {
  await sundial('schema', '--folder', 'schema');
  const schema = await readFile(join(copy, 'schema/policy.schema.json'), 'utf8');
  expect(schema.match(/Windows in which requests get 503\./g)).toHaveLength(3);
});
