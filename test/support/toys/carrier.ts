// A sample carrier: the version in a cookie, `resolve: [{ cookie: api-version }]`.
import type { Toy } from './toy.ts';

const FOLDER = 'gateway/policy/versioning';
const GRAMMAR = 'gateway/sections/resolve/grammar.ts';

export const CARRIER: Toy = {
  edits: [
    {
      file: `${FOLDER}/carriers.ts`,
      after: '  query: { unknownStatus: 400, isNamed: true },\n',
      add: "  cookie: { unknownStatus: 400, isNamed: true, headerOf: () => 'Cookie' },\n",
    },
    {
      file: GRAMMAR,
      after: "export const RESOLVE_KEYS = ['path', 'header', 'query',",
      add: " 'cookie',",
    },
    {
      file: GRAMMAR,
      after: '    query: query.optional(),\n',
      add: "    cookie: z.string().meta({ description: 'Cookie that names the version.' }).optional(),\n",
    },
    {
      file: `${FOLDER}/readers.ts`,
      after: 'const READERS: readonly ((enabled: Enabled) => Reader | undefined)[] = [\n',
      add: '  ({ cookie }) => (cookie === undefined ? undefined : (input) => readCookie(cookie, input)),\n',
    },
    {
      file: `${FOLDER}/readers.ts`,
      after: 'const NO_CLAIMS: readonly Claim[] = [];\n',
      add: `
function readCookie(name: string, { headers }: CarrierInput): readonly Claim[] {
  const pairs = headers.get('cookie')?.split('; ') ?? [];
  const values = pairs.filter((pair) => pair.startsWith(\`\${name}=\`)).map((pair) => pair.slice(name.length + 1));
  return claimsOf('cookie', values);
}
`,
    },
  ],
  newFiles: {},
};
