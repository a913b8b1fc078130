// The order in which vitest starts the test files: what takes long begins first, so that all workers end together.
// A fresh machine has no times of an earlier run to go by; what stands here does for it.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of one project follow each other: a process that has loaded the gateway takes the next of them. */
const PROJECTS = ['wire', 'journeys', 'contracts', 'unit'];

/** Those that take more than three seconds, the longest first. */
const SLOW = [
  'wire/suite',
  'wire/mutated',
  'journeys/readme-names',
  'journeys/drain',
  'journeys/real-services',
  'journeys/start',
  'journeys/explain',
  'journeys/workers-process',
  'journeys/reload-under-load',
  'journeys/workers',
  'journeys/demo',
  'journeys/readme',
  'journeys/websocket',
  'journeys/redis',
  'journeys/reload',
  'journeys/reload-stall',
  'journeys/upstream-process',
  'journeys/workers-reload',
  'journeys/disk-faults',
  'journeys/published-schedules',
  'journeys/workers-redis',
  'journeys/upstream-faults',
  'journeys/interface',
  'journeys/bounds',
  'journeys/identity',
  'journeys/upstream-cuts',
  'journeys/body-notice',
  'journeys/idempotency',
  'journeys/authorization',
  'journeys/redis-faults',
  'journeys/admin-redis',
  'journeys/hostile-bytes',
  'journeys/notices',
  'journeys/admin-writes',
  'journeys/pause',
  'journeys/workers-certificates',
  'journeys/sample-policies',
  'journeys/pins-store',
  'journeys/admin-reach',
  'journeys/targets',
  'journeys/resources',
  'contracts/webhook-store',
  'contracts/embedded-lost',
  'contracts/redis-failure',
  'contracts/redis-cluster',
  'contracts/lasting-stores',
  'cli/demo/demo',
  'plane/slow-clients',
  'plane/websocket/websocket-ends',
  'upstreams/process',
  'server/workers/crew',
  'cli/check/check-live',
  'plan/reload',
  'plan/thread-reader',
  'identity/key-set-faults',
  'upstreams/identity/token',
  'plan/mutations',
  'cli/change-commands',
  'plan/openapi-faults',
  'identity/sample-issuer',
  'telemetry/log-sink',
  'upstreams/descriptions',
  'plan/openapi-write',
  'plan/rules',
  'cli/run/run',
  'cli/extend/extend',
  'exchange/field-grammar',
];

const rankIn = (order: readonly string[], found: (each: string) => boolean): number => {
  const at = order.findIndex(found);
  return at === -1 ? order.length : at;
};

/** Vitest makes one of these itself, so it is a class. */
export class SlowestFirst extends BaseSequencer {
  /** By project, then as listed here, then as vitest would have it: the larger file first. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    const rank = ({ project, moduleId }: TestSpecification) =>
      rankIn(PROJECTS, (name) => name === project.name) * (SLOW.length + 1) +
      rankIn(SLOW, (name) => moduleId.endsWith(`/test/${name}.test.ts`));
    return usual.toSorted((one, other) => rank(one) - rank(other));
  }
}
