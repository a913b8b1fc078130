// The `identity` section of `config/gateway.yaml`: ways of knowing who calls, each under a name that policies use.
// A part of gateway-grammar.ts.
import { z } from 'zod';
import { scope } from '../../policy/authentication/section.ts';
import { notation } from '../../policy/notation.ts';
import { parseFieldName } from './message-sections.ts';
import { saidBy } from './taken-fields.ts';
import { introspectionSection, jwtSection } from './token-identities.ts';

/** As written; a name with `_` would be dropped from every request (SMG-25). */
function parseKeyHeader(written: string): string | undefined {
  const name = parseFieldName(written);
  return name === undefined || saidBy(name) !== undefined ? undefined : written;
}

const keys = z.strictObject({
  header: notation(parseKeyHeader, 'not the name of a header that may carry keys, such as X-API-Key', {
    description: 'The header in which clients send an API key; no upstream sees it.',
    examples: ['X-API-Key'],
  }),
});

const certificate = z.strictObject({
  certificate: z.strictObject({
    consumer: z
      .enum(['cn', 'san_dns', 'san_uri', 'fingerprint'])
      .meta({ description: 'What of the certificate names the consumer; it must be there exactly once.' }),
    scopes: z
      .array(scope)
      .meta({ description: 'Scopes that every holder of a proven certificate has; none unless written.' })
      .optional(),
  }),
});

export const identitySection = z.union([jwtSection, introspectionSection, keys, certificate]);
