// The diff of hosts. Other routing keys are compared as written.
import { membersFact, plainValue } from '../facts.ts';
import type { Words } from '../section.ts';

export const routesWords: Words = {
  ofApi: {
    // APIs are compared by name.
    api: () => [],
    host: ({ host = [] }) => [membersFact('host', [host].flat().map(plainValue))],
  },
  defaults: { ofApi: { locations: 'map' } },
};
