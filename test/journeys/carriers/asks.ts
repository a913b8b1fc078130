// Writes versions into a request, by one carrier or several.
import type { Ask } from '../../support/http-client.ts';

export interface Said {
  readonly path?: string;
  readonly subdomain?: string;
  readonly header?: string;
  readonly query?: string;
  readonly accept?: string;
  readonly contentType?: string;
}

export type Place = keyof Said;
export const PLACES = [
  'path',
  'subdomain',
  'header',
  'query',
  'accept',
  'contentType',
] as const satisfies Place[];

/** Names of the carriers in responses. */
export const NAMES: Readonly<Record<Place, string>> = {
  path: 'path',
  subdomain: 'subdomain',
  header: 'header',
  query: 'query',
  accept: 'Accept header',
  contentType: 'Content-Type header',
};

/** A request for `orders/7?x=1` with these versions. Without `contentType` it is a GET. */
export function askFor({ path, subdomain, header, query, accept, contentType }: Said): Ask {
  return {
    path: `/api/${path === undefined ? '' : `${path}/`}orders/7?x=1${query === undefined ? '' : `&version=${query}`}`,
    headers: {
      ...(subdomain === undefined ? {} : { host: `${subdomain}.api.example.com` }),
      ...(header === undefined ? {} : { 'api-version': header }),
      ...(accept === undefined ? {} : { accept: `application/vnd.acme.${accept}+json` }),
      ...(contentType === undefined ? {} : { 'content-type': `application/vnd.acme.${contentType}+json` }),
    },
    ...(contentType === undefined ? {} : { method: 'POST', body: '{}' }),
  };
}
