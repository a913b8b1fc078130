// The order in which vitest starts the test files: the slowest first, so that all workers end at about the same time.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** A worker is started again for a file of another project, so the files of one project follow each other. */
const PROJECTS = ['redis', 'general plane', 'unit'];

/** Files that take more than about 15 seconds, as they stand below `test/`, without `.test.ts`. */
export const SLOWEST: readonly string[] = [
  // Before all other projects: it takes three times as long as the next one.
  'plane/fast/differential',
  'journeys/explain',
  'journeys/workers-process',
  'journeys/demo',
  'journeys/start-left-out',
  'journeys/start-refused',
  'journeys/start',
  'journeys/drain',
  'journeys/readme',
  'journeys/start-partial',
  'journeys/reload-under-load',
  'plane/fast/every-byte',
  'wire/suite',
  'plan/told-shapes',
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
  const place = placeIn(SLOWEST, nameOf(file));
  return [place === 0 ? -1 : placeIn(PROJECTS, file.project.name), place];
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
