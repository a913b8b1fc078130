// The diff of hosts. Other routing keys are compared as written.
import { membersFact, plainWord } from '../facts.ts';
import type { Words } from '../section.ts';

export const routesWords: Words = {
  ofApi: {
    // APIs are compared by name.
    api: () => [],
    host: ({ host = [] }) => [membersFact('host', [host].flat().map(plainWord))],
  },
  defaults: { ofApi: { locations: 'map' } },
};
