// The grammar of `headers` and `max_body`.
import { z } from 'zod';
import { parseFieldName } from '../../policy/headers/field-name.ts';
import { notation, size } from '../../policy/notation.ts';

/** Lower case. Undefined for names that some services read as another field. */
function parseKeptName(text: string): string | undefined {
  return /^[A-Za-z0-9-]{1,64}$/.test(text) ? text.toLowerCase() : undefined;
}

/** One line of visible characters and blanks, so that the value cannot end the field. */
const value = notation(
  (text) => (/^[\x21-\x7e]([\t\x20-\x7e]{0,4094}[\x21-\x7e])?$/.test(text) ? text : undefined),
  'not a field value: visible ASCII characters and blanks on one line',
  { description: `The value, secrets by \${env:…} or \${file:…}.`, examples: ['acme'] },
);

const fieldName = notation(parseFieldName, 'not a field name', {
  description: 'A field name.',
  examples: ['X-Debug'],
});

const edits = (which: string) => ({
  set: z
    .record(z.string(), value)
    .meta({ description: `Fields ${which}, in place of existing ones.`, examples: [{ 'X-Tenant': 'acme' }] })
    .optional(),
  remove: z.array(fieldName).meta({ description: 'Fields to remove.' }).optional(),
});

const kept = {
  keep: z
    .array(
      notation(parseKeptName, 'not a field name of letters, digits and hyphens', {
        description: 'A field name.',
        examples: ['X-Auth-Request-User'],
      }),
    )
    .min(1)
    .meta({ description: 'Identity, address and method override headers that are forwarded unchanged.' })
    .optional(),
  from: z
    .enum(['trusted_proxies', 'any'])
    .meta({
      description: 'Which requests: those that a proxy in trusted_proxies of gateway.yaml sent, or any.',
    })
    .optional(),
};

export const headersSection = z
  .strictObject({
    request: z
      .strictObject({ ...edits('the upstream gets'), ...kept })
      .meta({ description: 'Changes to requests.' })
      .optional(),
    response: z
      .strictObject(edits('the client gets'))
      .meta({ description: 'Changes to responses.' })
      .optional(),
  })
  .meta({
    description: 'Changes to header fields, except those that the gateway sets.',
  });

export const maxBodySection = size(
  'Largest body of a request, by powers of 1024; default: bounds.body of gateway.yaml.',
);
