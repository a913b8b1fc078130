// How a diff shows where an API lives: its hosts, the rest as written.
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
