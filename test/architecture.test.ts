// Rules for the source tree: imports, clock, environment, form of files. Examples test each rule first.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  hasNarrowFolders,
  hasNoCycles,
  hasNoDefaultExport,
  hasTellingNames,
  importsOnlyWhatItsRoomMay,
  isShort,
  keepsJudgementPure,
  keepsPackagesInOneRow,
  leavesConsoleAlone,
  type Rule,
  readsClockAtTheEdge,
  readsEnvironmentAtTheEdge,
  runsOnDependencies,
  saysWhatItIs,
  standsForItself,
} from './support/house-rules.ts';
import { codeOf, importsOf, readSources, type SourceFile } from './support/source-text.ts';

const ROOT = new URL('..', import.meta.url).pathname;
const tree = readSources(ROOT, ['gateway', 'upstreams', 'test', 'build']);
const everyFile = readdirSync(join(ROOT, 'gateway'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => ({ path: relative(ROOT, join(parentPath, name)), text: '' }));

/** Path and text of each file of an example. */
type Example = Readonly<Record<string, string>>;

function judge(rule: Rule, example: Example): string[] {
  return rule(Object.entries(example).map(([path, text]) => ({ path, text })));
}

function checks(
  name: string,
  rule: Rule,
  bad: readonly Example[],
  good: readonly Example[],
  files: readonly SourceFile[] = tree,
): void {
  describe(name, () => {
    it.each(bad.map((example) => ({ example })))('reports $example', ({ example }) => {
      expect(judge(rule, example)).toHaveLength(1);
    });
    it.each(good.map((example) => ({ example })))('accepts $example', ({ example }) => {
      expect(judge(rule, example)).toEqual([]);
    });
    it('holds in the project', () => {
      expect(rule(files)).toEqual([]);
    });
  });
}

it('looks at the whole project', () => {
  const paths = tree.map(({ path }) => path);
  expect(paths.length).toBeGreaterThan(100);
  expect(paths).toEqual(
    expect.arrayContaining(['gateway/sundial.js', 'gateway/policy/contract.ts', 'upstreams/echo/echo.ts']),
  );
});

const { dependencies, peerDependencies }: Record<'dependencies' | 'peerDependencies', object> = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);
checks(
  'the gateway and the samples import no development package',
  runsOnDependencies(Object.keys({ ...dependencies, ...peerDependencies })),
  [
    { 'upstreams/identity/a.ts': "import { Provider } from 'some-provider';" },
    { 'gateway/telemetry/a.ts': "const { load } = await import('vitest');" },
  ],
  [
    { 'gateway/telemetry/a.ts': "import pino from 'pino';\nimport { join } from 'node:path';" },
    { 'upstreams/identity/a.ts': "import type { Provider } from 'some-provider';" },
    { 'test/a.test.ts': "import { it } from 'vitest';" },
  ],
);

checks(
  'a folder imports only the folders that its row allows',
  importsOnlyWhatItsRoomMay,
  [
    { 'gateway/policy/rate-limit/a.ts': "import { b } from '../lifecycle/b.ts';" },
    { 'gateway/policy/rate-limit/a.ts': "import { b } from '../../plan/plan.ts';" },
    { 'gateway/policy/lifecycle/a.ts': "import { label } from '../versioning/label.ts';" },
    { 'gateway/policy/lifecycle/a.ts': "import type { Rules } from '../versioning/rules.ts';" },
    { 'gateway/plan/a.ts': "import { decide } from '../exchange/pipeline.ts';" },
    { 'gateway/plan/a.ts': "import { readReadiness } from '../api/admin-answers.ts';" },
    { 'gateway/plan/a.ts': "import { connect } from '../stores/redis/connect.ts';" },
    { 'gateway/sections/a/grammar.ts': "import type { PolicyFile } from '../policy-file.ts';" },
    {
      'gateway/sections/a/compile.ts': "import { createRouteTable } from '../../plan/routes/route-table.ts';",
    },
    { 'gateway/exchange/a.ts': "import { checkA } from '../sections/a/check.ts';" },
    { 'gateway/api/a.ts': "import type { GatewayPlan } from '../plan/plan.ts';" },
    { 'gateway/system/a.ts': "import type { EpochMs } from '../policy/contract.ts';" },
    { 'gateway/identity/a.ts': "import { phaseAt } from '../policy/lifecycle/phases.ts';" },
    { 'gateway/exchange/a.ts': "import type { Upstreams } from '../upstream/upstreams.ts';" },
    { 'gateway/upstream/a.ts': "import { phaseAt } from '../policy/lifecycle/phases.ts';" },
    { 'gateway/upstream/a.ts': "import type { Forwarder } from '../plane/general/call/forwarder.ts';" },
    { 'gateway/plane/general/a.ts': "import type { Intake } from '../../server/intake.ts';" },
    { 'gateway/plane/port.ts': "import { METHODS } from '../exchange/request-view.ts';" },
    { 'gateway/stores/a.ts': "import type { GatewayPlan } from '../plan/plan.ts';" },
    { 'gateway/telemetry/a.ts': "import { type Phase, phaseAt } from '../policy/lifecycle/phases.ts';" },
    { 'gateway/telemetry/a.ts': "export * from '../server/listener.ts';" },
    { 'gateway/admin/a.ts': "import { start } from '../server/listener.ts';" },
    { 'gateway/cli/a.ts': "const gateway = await import('../gateway.ts');" },
    { 'gateway/cli/a.ts': 'const gateway = await import(where);' },
    { 'gateway/server/a.ts': "import '../cli/demo.ts';" },
    { 'gateway/main.ts': "import { listen } from './server/listener.ts';" },
    { 'gateway/gateway.ts': "import { echo } from '../upstreams/echo/echo.ts';" },
    { 'upstreams/echo/a.ts': "import type { Label } from '../../gateway/policy/versioning/resolution.ts';" },
    { 'gateway/newroom/a.ts': '' },
  ],
  [
    {
      'gateway/policy/rate-limit/a.ts':
        "import type { EpochMs } from '../contract.ts';\nimport { b } from './b.ts';",
    },
    { 'gateway/policy/lifecycle/a.ts': "import type { Label } from '../versioning/resolution.ts';" },
    { 'gateway/sections/a/compile.ts': "import type { ApiPlan } from '../../plan/plan.ts';" },
    { 'gateway/sections/policy-file.ts': "import { aSection } from './a/grammar.ts';" },
    { 'gateway/telemetry/a.ts': "import { type Phase, type Stage } from '../policy/lifecycle/phases.ts';" },
    { 'gateway/upstream/a.ts': "import type { Inbound } from '../plane/port.ts';" },
    { 'gateway/plane/general/call/a.ts': "import { callUpstream } from '../../../upstream/attempts.ts';" },
    { 'gateway/gateway.ts': "import { listen } from './server/listener.ts';" },
    { 'gateway/plan/a.ts': "// import { decide } from '../exchange/pipeline.ts';\n" },
    { 'test/plan/a.test.ts': "import { decide } from '../../gateway/exchange/pipeline.ts';" },
  ],
);

checks(
  'a package is imported by one row only',
  keepsPackagesInOneRow,
  [
    { 'gateway/exchange/a.ts': "import fastify from 'fastify';" },
    { 'gateway/upstream/a.ts': "import type { FastifyReply } from 'fastify';" },
    { 'gateway/plane/fast/a.ts': "import { Pool } from 'undici';" },
    { 'gateway/upstream/a.ts': "import type { IncomingMessage } from 'node:http';" },
    { 'gateway/server/a.ts': "import type { Http2ServerResponse } from 'node:http2';" },
    { 'gateway/telemetry/a.ts': "import { z } from 'zod';" },
    { 'gateway/telemetry/a.ts': "import { b } from '@fastify/reply-from/deep/file.js';" },
    { 'gateway/server/a.ts': "import { DatabaseSync } from 'node:sqlite';" },
    { 'gateway/server/a.ts': "import { Worker } from 'node:worker_threads';" },
    { 'gateway/plan/a.ts': "import { b } from 'left-pad';" },
    { 'gateway/gateway.ts': "import { Redis } from 'ioredis';" },
    { 'gateway/plan/a.ts': "const b = require('commander');" },
  ],
  [
    { 'gateway/admin/a.ts': "import fastify from 'fastify';\nimport { isIP } from 'node:net';" },
    { 'gateway/policy/rate-limit/section.ts': "import { z } from 'zod';" },
    { 'upstreams/echo/echo.ts': "import fastify from 'fastify';" },
  ],
);

checks(
  'policies and the exchange import no module with I/O',
  keepsJudgementPure,
  [
    { 'gateway/policy/lifecycle/a.ts': "import { connect } from 'node:net';" },
    { 'gateway/exchange/a.ts': "import { readFile } from 'node:fs/promises';" },
  ],
  [
    { 'gateway/exchange/a.ts': "import { createHash } from 'node:crypto';" },
    { 'gateway/upstream/a.ts': "import { connect } from 'node:net';" },
  ],
);

checks(
  'there is no import cycle',
  hasNoCycles,
  [
    { 'gateway/plan/a.ts': "import './a.ts';" },
    {
      'gateway/plan/a.ts': "import { b } from './b.ts';",
      'gateway/plan/b.ts': "import type { A } from './a.ts';",
    },
    {
      'gateway/plan/a.ts': "export { b } from './b.ts';",
      'gateway/plan/b.ts': "import { c } from '../exchange/c.ts';",
      'gateway/exchange/c.ts': "import { a } from '../plan/a.ts';",
    },
  ],
  [
    {
      'gateway/plan/a.ts': "import './b.ts';\nimport './c.ts';",
      'gateway/plan/b.ts': "import './c.ts';",
      'gateway/plan/c.ts': '',
    },
  ],
);

checks(
  'a file name is specific',
  hasTellingNames,
  [
    { 'gateway/plan/utils.ts': '' },
    { 'gateway/helpers/dates.ts': '' },
    { 'gateway/plan/date-utils.ts': '' },
    { 'test/support/common.ts': '' },
    { 'upstreams/echo/misc.ts': '' },
    { 'gateway/plan/index.test.ts': '' },
  ],
  [{ 'gateway/plan/indexes.ts': '' }, { 'test/support/exchange-samples.ts': '' }],
);

checks(
  'a gateway file is short',
  isShort,
  [{ 'gateway/plan/a.ts': 'x\n'.repeat(221) }, { 'upstreams/echo/a.ts': 'x\n'.repeat(400) }],
  [{ 'gateway/plan/a.ts': 'x\n'.repeat(220) }],
);

const filesIn = (folder: string, count: number): Example =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/a${index}.ts`, '']));
checks(
  'a folder has few files',
  hasNarrowFolders,
  [filesIn('gateway/plan', 26), filesIn('gateway/stores/redis', 30)],
  [filesIn('gateway/plan', 25), { ...filesIn('gateway/plan', 20), ...filesIn('gateway/plan/read', 20) }],
  everyFile,
);

const IMPORTS_A = "import { a } from './a.ts';\n";
checks(
  'a short file is not split from its only importer',
  standsForItself,
  [
    { 'gateway/plan/a.ts': 'x\n', 'gateway/plan/b.ts': IMPORTS_A },
    { 'gateway/plan/a.ts': 'x\n'.repeat(45), 'gateway/plan/b.ts': IMPORTS_A.padEnd(150, '\n') },
  ],
  [
    { 'gateway/plan/a.ts': 'x\n'.repeat(46), 'gateway/plan/b.ts': IMPORTS_A },
    { 'gateway/plan/a.ts': 'x\n', 'gateway/plan/b.ts': IMPORTS_A, 'gateway/plan/c.ts': IMPORTS_A },
    { 'gateway/cli/a.ts': 'x\n', 'gateway/cli/b.ts': "const { a } = await import('./a.ts');" },
    { 'gateway/plan/a.ts': 'x\n', 'gateway/plan/read/b.ts': "import { a } from '../a.ts';\n" },
    { 'gateway/plan/a.ts': 'x\n'.repeat(40), 'gateway/plan/b.ts': `${IMPORTS_A}${'x\n'.repeat(180)}` },
  ],
);

checks(
  'there is no default export',
  hasNoDefaultExport,
  [
    { 'gateway/plan/a.ts': 'export default function load() {}' },
    { 'test/support/a.ts': 'const a = 1;\nexport { a as default };' },
  ],
  [{ 'gateway/plan/a.ts': "export const text = 'export default 1'; // export default" }],
);

checks(
  'only entry points read the environment',
  readsEnvironmentAtTheEdge,
  [
    { 'gateway/gateway.ts': 'const port = process.env.PORT;' },
    { 'gateway/plan/a.ts': "const port = process['env'];" },
    { 'gateway/plan/a.ts': 'const { PORT } = process\n  .env;' },
    { 'gateway/plan/a.ts': `const text = \`port \${process.env.PORT}\`;` },
  ],
  [
    { 'gateway/main.ts': 'const port = process.env.PORT;' },
    { 'gateway/cli/demo.ts': 'const port = process.env.PORT;' },
    { 'gateway/plan/a.ts': "/* process.env */ const a = 'process.env'; const b = /process.env/;" },
  ],
);

checks(
  'only entry points read the system clock',
  readsClockAtTheEdge,
  [
    { 'gateway/policy/lifecycle/a.ts': 'const now = Date.now();' },
    { 'gateway/stores/a.ts': 'const clock = Date.now;' },
    { 'gateway/plan/a.ts': 'const now = Temporal.Now.instant();' },
    { 'gateway/plan/a.ts': 'const now = new Date();' },
    { 'gateway/plan/a.ts': 'const now = new Date;' },
    { 'gateway/plan/a.ts': 'const now = Date();' },
    { 'gateway/server/a.ts': "const ratio = a / b; const text = 'x' /* / */; const now = Date.now();" },
    { 'gateway/server/a.ts': `const text = \`at \${{ now: Date.now() }.now}\`;` },
  ],
  [
    { 'gateway/main.ts': 'const now = Date.now();' },
    { 'gateway/gateway.ts': 'const now = Date.now;' },
    { 'gateway/plan/a.ts': 'const text = new Date(instant).toISOString();' },
    {
      'gateway/plan/a.ts':
        "// Date.now()\nconst a = 'Date.now()'; const b = `new Date()`; const c = /[/]Date.now/;",
    },
    { 'gateway/plan/a.ts': 'const since = Date.UTC(2026, 0, 1);' },
  ],
);

checks(
  'the gateway does not write to the console',
  leavesConsoleAlone,
  [{ 'gateway/cli/a.ts': "console.log('x');" }, { 'gateway/cli/a.ts': "console['error']('x');" }],
  [{ 'upstreams/echo/a.ts': "console.log('x');" }, { 'gateway/cli/a.ts': "const text = 'console.log()';" }],
);

checks(
  'a gateway file starts with a comment about its purpose',
  saysWhatItIs,
  [
    { 'gateway/plan/a.ts': 'export const a = 1;' },
    { 'gateway/plan/a.ts': '\n// What it is for.\n' },
    { 'gateway/plan/a.ts': '//\n//\n' },
  ],
  [
    { 'gateway/plan/a.ts': '// What it is for.\nexport const a = 1;' },
    { 'gateway/sundial.js': '#!/usr/bin/env node\n// What it is for.\n' },
  ],
);

describe('reading source text', () => {
  const read = (text: string) => importsOf({ path: 'gateway/plan/a.ts', text });

  it('finds every form of import', () => {
    const text = `import a, { type B, c } from "./b.ts";
import type { D } from '../d.ts';
import {
  type E,
  type F,
} from './e.ts';
import * as g from 'g';
import './h.ts';
export { i } from './i.ts'; export type { J } from './j.ts';
const k = await import('./k.ts');
`;
    const summary = read(text).map(({ to, typeOnly }) => `${to}${typeOnly ? ' type' : ''}`);
    expect(summary.sort()).toEqual([
      'g',
      'gateway/d.ts type',
      'gateway/plan/b.ts',
      'gateway/plan/e.ts type',
      'gateway/plan/h.ts',
      'gateway/plan/i.ts',
      'gateway/plan/j.ts type',
      'gateway/plan/k.ts',
    ]);
  });

  it('finds no import in comments or in code that only mentions one', () => {
    expect(
      read("// import a from './a.ts';\n/*\nimport b from './b.ts';\n*/\nconst url = import.meta.url;"),
    ).toEqual([]);
    expect(read("export const words = 1;\nconst from = 'x';\nfunction exports() { return 'y'; }")).toEqual(
      [],
    );
  });

  it('keeps code and lines, and blanks comments, strings, templates and regular expressions', () => {
    const text = `a('x'); // x
b(\`x\${c(\`x\`, { d })}x\`, /x'[/]x/g, e / f / g);
/* x
 */ h("x\\"x", e /* more than a few characters of comment: x */ / f / g);`;
    const code = codeOf({ path: 'a.ts', text });
    expect(code).not.toContain('x');
    expect(code.replace(/[^a-h\n]/g, '')).toBe('a\nbcdefg\n\nhefg');
  });
});
