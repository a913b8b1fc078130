// The order in which vitest starts the test files: slowest first, so that all workers end at the same time.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of one project follow each other, because vitest restarts a worker for another project. */
const PROJECTS = ['redis', 'general plane', 'unit'];

/** Files that take more than about 15 seconds, as paths below `test/` without `.test.ts`. */
export const SLOWEST: readonly string[] = [
  'journeys/restarts',
  'journeys/explain',
  'journeys/start-refused',
  'journeys/drain',
  'journeys/toys',
  'journeys/demo',
  'journeys/start-left-out',
  'journeys/start-partial',
  'journeys/workers-process',
  'journeys/start',
  'journeys/readme',
  'journeys/start-unrecorded',
  'plan/shape-messages',
  'plane/fast/differential',
  'wire/suite',
  'cli/demo/demo',
];

const nameOf = ({ moduleId }: TestSpecification): string =>
  moduleId.replace(/^.*\/test\//, '').replace(/\.test\.ts$/, '');

/** The index of `name` in `order`; after all others if it is missing. */
function placeIn(order: readonly string[], name: string): number {
  const place = order.indexOf(name);
  return place === -1 ? order.length : place;
}

function placeOf(file: TestSpecification): readonly [project: number, place: number] {
  return [placeIn(PROJECTS, file.project.name), placeIn(SLOWEST, nameOf(file))];
}

/** A class, because vitest instantiates it. */
export class SlowestFirst extends BaseSequencer {
  /** By project, then in the order above, then in vitest's order: larger files first. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.toSorted((one, other) => {
      const [[project, place], [otherProject, otherPlace]] = [placeOf(one), placeOf(other)];
      return project - otherProject || place - otherPlace;
    });
  }
}
