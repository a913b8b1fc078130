// The grammar of `openapi`.
import { notation } from '../../policy/notation.ts';

const PATH = /^(?![A-Za-z][A-Za-z0-9+.-]+:)[^\p{Cc}]{1,1000}$/u;

export function parseDescriptionPath(text: string): string | undefined {
  return PATH.test(text) && !text.endsWith('/') ? text : undefined;
}

export const openapiSection = notation(
  parseDescriptionPath,
  'not the path of a file: a description is read from beside the policy, not from a URL',
  {
    description:
      'OpenAPI description (3.0 to 3.2, YAML or JSON) of this version, relative to this file. What it says in `deprecated` and `x-lifecycle` holds where this file says nothing; where both speak they must agree.',
    examples: ['../api/orders.v2.openapi.yaml'],
  },
);
