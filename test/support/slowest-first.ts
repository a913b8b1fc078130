// The order in which vitest starts the test files: the slowest first, so that all workers end at about the same time.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** A worker is started again for a file of another project, so the files of one project follow each other. */
const PROJECTS = ['redis', 'general plane', 'unit'];

/** Files that take more than about 15 seconds, as they stand below `test/`, without `.test.ts`. */
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

/** The place of `name` in `order`; behind all of them if it is not there. */
function placeIn(order: readonly string[], name: string): number {
  const place = order.indexOf(name);
  return place === -1 ? order.length : place;
}

function placeOf(file: TestSpecification): readonly [project: number, place: number] {
  return [placeIn(PROJECTS, file.project.name), placeIn(SLOWEST, nameOf(file))];
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
