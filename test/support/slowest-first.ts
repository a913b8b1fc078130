// The order in which vitest starts the test files: the longest first, so that all workers end together.
// A fresh machine has no times of an earlier run; these lists replace them.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** A worker is started again for a file of another project, so the files of one project follow each other. */
const PROJECTS = ['redis', 'general plane', 'unit'];

/**
 * Files that take more than three seconds, the longest first. Three files of `unit` stand among those of `redis`: they keep one
 * worker busy, while the other workers wait for processes and timeouts.
 */
const WITH_REDIS = [
  'plane/fast/differential',
  'journeys/explain',
  'journeys/demo',
  'journeys/start-left-out',
  'journeys/start-refused',
  'journeys/reload-under-load',
  'journeys/workers-process',
  'journeys/readme',
  'journeys/check-recorded',
  'journeys/start-partial',
  'exchange/dates-agree',
  'journeys/start-unrecorded',
  'journeys/drain',
  'journeys/readme-names',
  'journeys/start',
  'journeys/reload-stall',
  'journeys/start-leftover',
  'journeys/reload',
  'journeys/websocket',
  'journeys/redis',
  'journeys/real-services',
  'journeys/disk-faults',
  'journeys/misspelt-versions',
  'plan/told-shapes',
  'journeys/published-schedules',
  'journeys/workers',
  'journeys/accepted-dates',
  'journeys/upstream-process',
  'contracts/webhook-store',
  'journeys/canary',
  'journeys/workers-reload',
  'journeys/client-fields',
  'journeys/hostile-bytes',
  'journeys/upstream-faults',
  'journeys/upstream-cuts',
  'contracts/redis-refusing',
  'journeys/workers-redis',
  'journeys/bounds',
  'journeys/client-leaves',
  'journeys/pause',
  'journeys/honest-caches',
  'contracts/lasting-stores',
  'journeys/body-notice',
  'contracts/embedded-lost',
  'contracts/redis-failure',
  'contracts/redis-cluster',
  'journeys/notices',
  'journeys/targets',
  'journeys/interface',
  'journeys/identity',
  'journeys/idempotency',
  'journeys/authorization',
  'journeys/redis-faults',
  'journeys/admin-redis',
  'journeys/admin-writes',
  'journeys/workers-certificates',
  'journeys/sample-policies',
  'journeys/pins-store',
  'journeys/admin-reach',
  'journeys/resources',
];

const WITHOUT_REDIS = [
  'wire/suite',
  'plane/fast/every-byte',
  'exchange/path-readings',
  'plan/concealed',
  'cli/demo/demo',
  'plan/control-characters',
  'plan/reload/reload',
  'identity/jose-equivalence',
  'plane/slow-clients',
  'plan/start-forms',
  'upstreams/process',
  'plan/concealed-damage',
  'plan/mutations',
  'plan/thread-reader',
  'cli/from-outside',
  'plan/lists',
  'plane/websocket/websocket-ends',
  'plan/rules',
  'cli/change-commands',
  'exchange/pattern-costs',
  'cli/check/check-live',
  'exchange/field-grammar',
  'cli/extend/extend',
  'identity/sample-issuer',
  'cli/run/run',
  'plan/openapi-faults',
  'server/workers/worker-pool',
  'upstreams/identity/pages',
  'upstreams/identity/token',
  'upstreams/descriptions',
  'plane/fast/client-ends',
  'plan/openapi-write',
  'identity/key-set-faults',
  'telemetry/log-sink',
  'wire/mutated',
];

/** As they stand below `test/`, without `.test.ts`. */
export const LISTED: readonly string[] = [...WITH_REDIS, ...WITHOUT_REDIS];

const nameOf = ({ moduleId }: TestSpecification): string =>
  moduleId.replace(/^.*\/test\//, '').replace(/\.test\.ts$/, '');

/** The place of `name` in `order`; behind all of them if it is not there. */
function placeIn(order: readonly string[], name: string): number {
  const place = order.indexOf(name);
  return place === -1 ? order.length : place;
}

function placeOf(file: TestSpecification): readonly [project: number, place: number] {
  const name = nameOf(file);
  const place = placeIn(WITH_REDIS, name);
  if (place < WITH_REDIS.length) return [0, place];
  const project = placeIn(PROJECTS, file.project.name);
  return [project, project === 0 ? place : placeIn(WITHOUT_REDIS, name)];
}

/** Vitest makes one of these itself, so it is a class. */
export class SlowestFirst extends BaseSequencer {
  /** By project, then as listed here, then as vitest would have it: the larger file first. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.toSorted((one, other) => {
      const [[project, place], [otherProject, otherPlace]] = [placeOf(one), placeOf(other)];
      return project - otherProject || place - otherPlace;
    });
  }
}
