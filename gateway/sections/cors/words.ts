// The diff of `cors`: one member per origin.
import { comparedValueAt, membersFact } from '../facts.ts';
import type { Words } from '../section.ts';

export const corsWords: Words = {
  ofApi: {
    cors: ({ cors }, document) => {
      const words = (cors?.origins ?? []).map((origin, index) =>
        comparedValueAt(document, ['cors', 'origins', index], origin),
      );
      return [membersFact('CORS origin', words)];
    },
  },
};
