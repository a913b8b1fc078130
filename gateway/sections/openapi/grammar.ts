// The grammar of `openapi`.
import { notation } from '../../policy/notation.ts';

const PATH = /^(?![A-Za-z][A-Za-z0-9+.-]+:)[^\p{Cc}]{1,1000}$/u;

export function parseDescriptionPath(text: string): string | undefined {
  return PATH.test(text) && !text.endsWith('/') ? text : undefined;
}

export const openapiSection = notation(
  parseDescriptionPath,
  'not the path of a file: the gateway reads a description from a file, not from a URL',
  {
    description:
      'OpenAPI description (3.0 to 3.2, YAML or JSON) of this version, relative to this file. Its `deprecated` and `x-lifecycle` apply where this file has no value; both must agree.',
    examples: ['../api/orders.v2.openapi.yaml'],
  },
);
