// The order in which vitest starts the test files: what takes long begins first, so that both workers end together.
// A fresh machine has no times of an earlier run to go by; what stands here does for it.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of one project follow each other: a process that has loaded the gateway takes the next of them. */
const PROJECTS = ['wire', 'journeys', 'contracts', 'unit'];

/** Those that take more than three seconds, the longest first. */
const SLOW = [
  'wire/suite',
  'journeys/explain',
  'journeys/readme',
  'journeys/workers-process',
  'journeys/demo',
  'journeys/published-schedules',
  'journeys/workers',
  'journeys/readme-names',
  'journeys/start',
  'journeys/drain',
  'journeys/redis',
  'journeys/websocket',
  'journeys/bounds',
  'journeys/hostile-bytes',
  'journeys/upstream-faults',
  'journeys/upstream-cuts',
  'journeys/interface',
  'journeys/reload',
  'journeys/identity',
  'journeys/reload-under-load',
  'journeys/reload-stall',
  'journeys/pins',
  'journeys/workers-redis',
  'journeys/workers-reload',
  'contracts/embedded-lost',
  'forward/websocket-ends',
  'cli/demo',
  'cli/check-live',
  'server/slow-clients',
  'identity/key-set',
  'plan/mutations',
  'plan/openapi-faults',
  'plan/reload',
  'cli/init',
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
