// Writes policy sets of any size into a folder: many APIs, or fewer with many operations each.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface SetShape {
  readonly apis: number;
  /** Per API. 0: one version without operations. */
  readonly operations: number;
}

/** Ten thousand routes each. */
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

/** The files of a written set. */
export interface PolicySet {
  readonly configFile: string;
  readonly policyFile: (api: number) => string;
}

/** Writes a set below `folder`. Every API forwards to `upstream`. */
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

/** The policy of one API. `edition`: the day of January 2028 on which its version ends. */
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
