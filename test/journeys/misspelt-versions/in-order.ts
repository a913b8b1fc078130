// Requests that must not be refused: with a valid version by each carrier of a policy, or without a version.
import type { Ask } from '../../support/http-client.ts';
import type { DrawnPolicy } from './policies.ts';
import { hex } from './spellings.ts';

export interface Sound {
  readonly ask: Ask;
  readonly served: string;
}

const OTHERS = [
  'events+json',
  'events',
  'orders+xml',
  'events.v1+json',
  'vm+json',
  'video',
  'x+json',
  'x-v1+json',
];

/** Requests without a version, which get the default, and requests that name `good` by each carrier. */
export function inOrder(api: string, policy: DrawnPolicy, good: string): readonly Sound[] {
  const base = `/api/${api}`;
  const { path, subdomain, header, query, named, parameter } = policy;
  const accepts = [
    '*/*',
    'application/json',
    'application/vnd.acme+json',
    'application/*;q=0.5, text/html;q=9',
  ];
  const open: Ask[] = [
    { path: base },
    { path: `${base}/orders/v1?versions=1&xversion=2&filter[version]=3&q=a%3Bversion%3D1&preversion` },
    ...accepts.map((accept) => ({ path: base, headers: { accept } })),
    { path: base, method: 'POST', body: '{}', headers: { 'content-type': 'application/vnd.acme+json' } },
    {
      path: base,
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json; charset="utf-8"' },
    },
  ];
  // Other types of the same vendor, with any suffix.
  const others = named === undefined ? [] : OTHERS.map((each) => `${named.before}${each}`);
  open.push(
    ...others.map((accept) => ({ path: base, headers: { accept } })),
    ...others.map((each) => ({ path: base, method: 'POST', body: '{}', headers: { 'content-type': each } })),
  );
  // Fields that do not look like a version header of any API.
  const fields = {
    Version_: good,
    'X-Version': good,
    Edition: good,
    ...(header === undefined && { API_Version: good }),
  };
  open.push({ path: base, headers: fields });
  const type = named && `${named.before}${good}${named.after}`;
  const typed = parameter && `application/vnd.acme+json; ${parameter}="${good}"`;
  const naming: readonly (Ask | '' | false | undefined)[] = [
    path && { path: path === 'before' ? `/api/${good}/${api}` : `${base}/${good}` },
    subdomain && { path: base, headers: { host: `${good}.${api}.example.com` } },
    header && { path: base, headers: { [header]: good } },
    query && { path: `${base}?${query}=${good}&${query}=${hex(good)}` },
    type && { path: base, headers: { accept: `${type}x, ${type};q=0.001` } },
    typed && { path: base, headers: { accept: `application/vnd.acme+json;${parameter}=vx, ${typed};q=0.3` } },
    type && { path: base, method: 'POST', body: '{}', headers: { 'content-type': type } },
  ];
  const spelling = naming.filter((each) => typeof each === 'object');
  return [
    ...open.map((ask) => ({ ask, served: policy.default })),
    ...spelling.map((ask) => ({ ask, served: good })),
  ];
}
