// Policy sets of any size, written into a folder: many APIs of one version, or fewer with many operations each.
// For measuring how long it takes to read, check and reload them; the text of an API depends on nothing but its number.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface SetShape {
  readonly apis: number;
  /** Per API; none: one version without operations. */
  readonly operations: number;
}

/** Ten thousand routes both ways. */
export const SHAPES = {
  manyOperations: { apis: 1_000, operations: 10 },
  manyApis: { apis: 10_000, operations: 0 },
} as const satisfies Record<string, SetShape>;

const GATEWAY = `public: https://api.example.com
listeners:
  http: { address: "127.0.0.1:0", mode: serve }
  admin: { address: "127.0.0.1:0" }
data: "\${env:DATA}"
store: embedded
guard: off
policies: ../policies/*.yaml
`;

/** Where the policies of a set are, and the gateway file beside them. */
export interface PolicySet {
  readonly configFile: string;
  readonly policyFile: (api: number) => string;
}

/** Writes the set below `folder`; `upstream` is where every API forwards to. */
export async function writePolicySet(folder: string, shape: SetShape, upstream: string): Promise<PolicySet> {
  const policies = join(folder, 'policies');
  const configFile = join(folder, 'config', 'gateway.yaml');
  await mkdir(policies, { recursive: true });
  await mkdir(join(folder, 'config'), { recursive: true });
  await writeFile(configFile, GATEWAY);
  const policyFile = (api: number) => join(policies, `${nameOf(api)}.yaml`);
  for (let api = 0; api < shape.apis; api += 1)
    await writeFile(policyFile(api), policyText(api, shape, upstream));
  return { configFile, policyFile };
}

/** The policy of one API; `edition` is the day of January 2028 its first version ends on. */
export function policyText(
  api: number,
  { operations }: SetShape,
  upstream: string,
  edition: number = 1,
): string {
  const name = nameOf(api);
  const listed = Array.from(
    { length: operations },
    (_, index) => `      GET /part-${index}/{id}: { deprecated: 2026-01-10, sunset: 2027-09-15 }\n`,
  );
  return `api: ${name}
audience: public
base: /api/${name}
resolve:
  - path: /api/{version}/${name}
  - header: API-Version
  - default: v1
access: public
limits: { rate: 600000/1m, by: address, deprecated: 50% }
upstreams:
  v1: { targets: ["${upstream}"], path: /echo }
rules: { parallel-versions: off }
versions:
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2028-01-${String(edition).padStart(2, '0')}
    guide: https://docs.example.com/${name}
    reason: amounts become integers
${operations === 0 ? '' : `    operations:\n${listed.join('')}`}`;
}

function nameOf(api: number): string {
  return `api-${String(api).padStart(5, '0')}`;
}
