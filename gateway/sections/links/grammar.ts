// The grammar of the links and texts about the end of an API, a version or an operation.
import type { z } from 'zod';
import { GLOSSARY } from '../../policy/glossary.ts';
import { isGuideFile } from '../../policy/lifecycle/guide.ts';
import { parsePageUrl } from '../../policy/lifecycle/page-url.ts';
import { lineOfText, notation, orOff } from '../../policy/notation.ts';

const REASON = 'money amounts become integers';

const page = (description: string) =>
  notation(parsePageUrl, 'not an absolute https URL with everything else percent-encoded', {
    description,
    examples: ['https://docs.example.com/orders/v1-to-v2'],
  });

/** A URL, or a Markdown file beside the policy. */
const guide = (place = '') =>
  notation(
    (text) => (isGuideFile(text) ? text : parsePageUrl(text)),
    'not an absolute https URL with everything else percent-encoded, nor the path of a Markdown file',
    {
      description: `${GLOSSARY.guide}${place} A URL, or a Markdown file relative to this one, which the lifecycle page shows.`,
      examples: ['./guides/orders-v1-to-v2.md', 'https://docs.example.com/orders/v1-to-v2'],
    },
  );

const serviceDoc = page('Documentation for people, sent as Link rel="service-doc" (RFC 8631).');
const serviceDesc = page(
  'Description for machines, such as an OpenAPI document, sent as Link rel="service-desc" (RFC 8631).',
);

/** For a version. `off` stops the inheritance from the API. */
const own = <Section extends z.ZodType>(section: Section) => orOff(section, undefined).optional();

export const linkFields = {
  ofApi: {
    alternate: page('Alternative to the API.').optional(),
    guide: guide(' Versions without a guide inherit it.').optional(),
    status: page(
      "Status page, sent as X-API-Deprecation-Info; default: the gateway's own page of the API.",
    ).optional(),
    service_doc: serviceDoc.optional(),
    service_desc: serviceDesc.optional(),
    reason: lineOfText('Reason for the end of the API, shown in the 410.', REASON).optional(),
  },
  ofVersion: {
    alternate: own(page('Alternative, for a version without a successor.')),
    guide: own(guide()),
    status: own(
      page("Status page, sent as X-API-Deprecation-Info; default: the gateway's own page of the API."),
    ),
    service_doc: own(serviceDoc),
    service_desc: own(serviceDesc),
    reason: own(lineOfText('Reason for the end of the version, shown in the 410.', REASON)),
  },
  ofOperation: {
    guide: guide().optional(),
    reason: lineOfText('Why the operation is deprecated.', REASON).optional(),
  },
};
