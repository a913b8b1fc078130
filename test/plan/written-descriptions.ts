// Descriptions and their edited texts for versions that have ended or will, for openapi-write*.test.ts.

import { type DescribedVersion, operationRules } from '../../gateway/plan/openapi/described-lifecycle.ts';
import { readDescription } from '../../gateway/plan/openapi/description.ts';
import { placeIn } from '../../gateway/plan/openapi/placement.ts';
import { writeLifecycle } from '../../gateway/plan/openapi/write.ts';
import type { Stage } from '../../gateway/policy/lifecycle/schedule.ts';
import type { OperationFile, VersionFile } from '../../gateway/sections/policy-file.ts';

export const day = (text: string) => Date.parse(`${text}T00:00:00Z`);

const VERSION: VersionFile = {
  released: day('2024-06-01'),
  deprecated: day('2026-01-15'),
  sunset: day('2027-01-15'),
  extended: [{ to: day('2027-04-15'), announced: day('2026-10-10') }],
  guide: 'https://docs.example.com/orders/v2',
};

export interface Situation {
  readonly version?: VersionFile;
  readonly stage?: Stage;
  readonly now?: string;
}

export function liveOf(
  text: string,
  { version = VERSION, stage = 'deprecated', now = '2026-11-20' }: Situation,
): DescribedVersion {
  const description = readDescription('orders.yaml', new TextEncoder().encode(text));
  const policy = {
    base: '/api/orders',
    resolve: [{ path: '/api/{version}/orders' }],
    upstreams: { v1: { path: '/orders' } },
    versions: { v1: {}, v2: {} },
  };
  return {
    description,
    placement: placeIn(policy, 'v1', description),
    version,
    rules: operationRules(version),
    stage,
    now: day(now),
  };
}

export function written(text: string, situation: Situation = {}): string {
  const result = writeLifecycle(liveOf(text, situation));
  if (result.kind !== 'text') throw new Error(result.kind);
  return result.text;
}

export const operation = (fields: Partial<OperationFile>): OperationFile => fields;
export const noDates: VersionFile = { released: day('2024-06-01') };

export const PLAIN = `# head
openapi: 3.0.3
info:
  title: 'Orders'   # the title

  version: "1.0"
# before the paths
paths:
  /orders:
    get:
      tags:
        - a
        - b   # last tag
      # why there is a description
      description: |
        Lists them.

      parameters: []
      responses: {"200": {description: ok}}
    post: {summary: take, responses: {}}
`;
