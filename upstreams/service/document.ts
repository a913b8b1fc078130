// The HTML frame and headers of every page of a sample service: one style, no script, no external resources.
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Html, html } from './html.ts';
import { STYLE } from './style.ts';

export interface Document {
  readonly title: string;
  readonly body: Html;
  /**
   * Other origins that a form of this page may lead to. Chromium applies `form-action` to every redirect that follows, so a form
   * that ends at a client must name its origin.
   */
  readonly formsLeadTo?: readonly string[];
}

export interface RenderedDocument {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** OAU-8: no framing, no referrer, no external content, no caching. */
export function renderDocument({ title, body, formsLeadTo = [] }: Document): RenderedDocument {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    ['form-action', "'self'", ...formsLeadTo].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    text: page.html,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy.join('; '),
      'Cache-Control': 'no-store',
      ...PAGE_HEADERS,
    },
  };
}

/** Headers of every response of a service that has pages. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

export function sendDocument(
  response: ServerResponse,
  status: number,
  document: Document,
  headers: Readonly<Record<string, string>> = {},
): void {
  const rendered = renderDocument(document);
  const body = Buffer.from(rendered.text);
  response.writeHead(status, { ...rendered.headers, ...headers, 'Content-Length': body.length }).end(body);
}

/** OAU-8: 303 after a form, so that the browser does not resend it. */
export function sendSeeOther(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location, 'Cache-Control': 'no-store', 'Content-Length': 0 }).end();
}
