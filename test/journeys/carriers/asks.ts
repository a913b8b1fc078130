// How each carrier writes a version, and requests put together from several of them.
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

/** How the carrier is called in answers. */
export const NAMES: Readonly<Record<Place, string>> = {
  path: 'path',
  subdomain: 'subdomain',
  header: 'header',
  query: 'query',
  accept: 'Accept header',
  contentType: 'Content-Type header',
};

/** A request for `orders/7?x=1` that names versions as said; a GET where nothing is said by the type of a body. */
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
