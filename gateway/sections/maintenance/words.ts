// The diff of `maintenance`: its end.
import { dateFact, type Fact } from '../facts.ts';
import type { OperationFile, VersionFile } from '../policy-file.ts';
import type { Words } from '../section.ts';

export const maintenanceWords: Words = {
  ofVersion: { maintenance: endFacts },
  ofOperation: { maintenance: endFacts },
};

function endFacts({ maintenance }: VersionFile | OperationFile): readonly Fact[] {
  return dateFact('maintenance until', maintenance?.until);
}
