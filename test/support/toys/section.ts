// A sample section: `toy_windows`, an inherited list of windows in which requests get 503, `toy_closed`.
import type { Toy } from './toy.ts';

const FILE = 'gateway/sections/policy-file.ts';
const LIST = 'gateway/sections/list.ts';

export const SECTION: Toy = {
  edits: [
    {
      file: FILE,
      after: "import { upstreamSection } from './upstreams/grammar.ts';\n",
      add: "import { toyWindowsSection } from './toy-windows/grammar.ts';\n",
    },
    {
      file: FILE,
      after: 'const operation = z.strictObject({\n',
      add: '  toy_windows: toyWindowsSection.optional(),\n',
    },
    {
      file: FILE,
      after: 'const version = z.strictObject({\n',
      add: '  toy_windows: toyWindowsSection.optional(),\n',
    },
    { file: FILE, after: 'const fields = {\n', add: '  toy_windows: toyWindowsSection.optional(),\n' },
    {
      file: LIST,
      after: "import { compileSignals } from './signals/compile.ts';\n",
      add: "import { toyWindowsOfOperation, toyWindowsOfVersion } from './toy-windows/compile.ts';\nimport { toyWindowsWords } from './toy-windows/words.ts';\n",
    },
    {
      file: LIST,
      after: 'const LIST = [\n',
      add: `  {
    inherited: { toy_windows: ['toy_windows'] },
    compileVersion: toyWindowsOfVersion,
    compileOperation: toyWindowsOfOperation,
    words: toyWindowsWords,
  },
`,
    },
    {
      file: 'gateway/plan/plan.ts',
      after: '  readonly maintenance: Maintenance | undefined;\n',
      add: '  readonly toyWindows: readonly { readonly from: EpochMs; readonly until: EpochMs }[];\n',
    },
    {
      file: 'gateway/exchange/directive.ts',
      after: "  | { readonly reason: 'websockets_exhausted' }\n",
      add: "  | { readonly reason: 'toy_closed' }\n",
    },
    {
      file: 'gateway/exchange/pipeline.ts',
      after: '  if (maintained !== undefined) return maintained;\n',
      add: `  const isOpen = ({ from, until }: { readonly from: number; readonly until: number }) => from <= now && now < until;
  const closedNow = firstRefusal(
    judged,
    ({ version }) => (version.toyWindows.some(isOpen) ? { reason: 'toy_closed' } : undefined),
    request,
    decision,
  );
  if (closedNow !== undefined) return closedNow;
`,
    },
    {
      file: 'gateway/exchange/answers/request-refusal.ts',
      after: "      return refuse(505, 'Use HTTP/1.1 or HTTP/2.');\n",
      add: "    case 'toy_closed':\n      return refuse(503, 'This API is closed at this hour.');\n",
    },
  ],
  newFiles: {
    'gateway/sections/toy-windows/grammar.ts': `// The \`toy_windows\` key of an API, a version and an operation.
import { z } from 'zod';
import { instant } from '../../policy/notation.ts';

const window = z.strictObject({ from: instant('When it begins.'), until: instant('When it has ended.') });

export const toyWindowsSection = z.array(window).meta({ description: 'Windows in which requests get 503.' });
`,
    'gateway/sections/toy-windows/compile.ts': `// The windows of a version and of an operation.
import type { VersionRules } from '../../plan/plan.ts';
import type { OperationInput, VersionInput } from '../section.ts';

type Compiled = Pick<VersionRules, 'toyWindows'>;

export function toyWindowsOfVersion({ version }: VersionInput): Compiled {
  return { toyWindows: version.toy_windows ?? [] };
}

export function toyWindowsOfOperation({ operation, rules }: OperationInput): Compiled {
  return { toyWindows: operation.toy_windows ?? rules.toyWindows };
}
`,
    'gateway/sections/toy-windows/words.ts': `// How a diff shows \`toy_windows\`: by the beginning of each.
import { dateFact, type Fact } from '../facts.ts';
import type { OperationFile, VersionFile } from '../policy-file.ts';
import type { Words } from '../section.ts';

export const toyWindowsWords: Words = {
  ofVersion: { toy_windows: windowFacts },
  ofOperation: { toy_windows: windowFacts },
};

function windowFacts({ toy_windows: windows = [] }: VersionFile | OperationFile): readonly Fact[] {
  return windows.flatMap(({ from }) => dateFact('toy window', from));
}
`,
  },
};
