// Models of how routers of real services read a forwarded path, each verified against the service.

import { posix } from 'node:path';

export interface ModelRoute {
  /** `{name}` for a parameter. */
  readonly segments: readonly string[];
}

export interface ServiceModel {
  readonly name: string;
  /** Values of `paths` that an operator may declare for such a service. */
  readonly declared: readonly string[];
  /** The first matching route, most specific first; undefined for 4xx and redirects. */
  readonly reached: <R extends ModelRoute>(routes: readonly R[], path: string) => R | undefined;
}

/** Undefined: the service refuses the path or redirects to another spelling. */
type Split = (path: string) => readonly string[] | undefined;

interface Comparison {
  readonly literal: (segment: string, text: string, isLast: boolean, route: ModelRoute) => boolean;
  readonly parameter: (segment: string, isLast: boolean) => boolean;
}

const octets = (text: string): string =>
  text.replace(/%[0-9A-F]{2}/gi, (each) => String.fromCharCode(Number.parseInt(each.slice(1), 16)));
const split = (path: string): readonly string[] => path.slice(1).split('/');
const isFull = (segment: string): boolean => segment !== '';
const exactly: Comparison = { literal: (segment, text) => segment === text, parameter: isFull };

function model(
  name: string,
  declared: readonly string[],
  read: Split,
  { literal, parameter }: Comparison,
): ServiceModel {
  return {
    name,
    declared,
    reached: (routes, path) => {
      const segments = read(path);
      if (segments === undefined) return undefined;
      return routes.find(
        (route) =>
          route.segments.length === segments.length &&
          route.segments.every((text, index) => {
            const segment = segments[index] ?? '';
            const isLast = index === segments.length - 1;
            return text.startsWith('{') ? parameter(segment, isLast) : literal(segment, text, isLast, route);
          }),
      );
    },
  };
}

const withoutTrailing = (segments: readonly string[]): readonly string[] =>
  segments.length > 1 && segments.at(-1) === '' ? segments.slice(0, -1) : segments;
const withoutEmptyEnd = (segments: readonly string[]): readonly string[] =>
  segments.at(-1) === '' ? segments.slice(0, -1) : segments;
const withoutFormat = (segments: readonly string[]): readonly string[] =>
  segments.at(-1) === '.json' ? segments.slice(0, -1) : segments;
const redirectsEmpty = (segments: readonly string[]): readonly string[] | undefined =>
  segments.slice(0, -1).includes('') ? undefined : segments;
const withoutParameters = (segment: string): string => segment.replace(/;.*$/, '');
const ignoringCase: Comparison = {
  literal: (segment, text) => segment.toLowerCase() === text.toLowerCase(),
  parameter: isFull,
};
const hasParameter = ({ segments }: ModelRoute): boolean => segments.some((text) => text.startsWith('{'));
const emptyValue: Comparison = {
  literal: (segment, text) => segment === text,
  parameter: (segment, isLast) => isLast || segment !== '',
};

/** Decodes octets as UTF-8. */
const text = (octetText: string): string => Buffer.from(octetText, 'latin1').toString();
const unreserved = (path: string): string =>
  path.replace(/(?:%(?!2[3-6BCF]|3[ABDF]|40)[0-9A-F]{2})+/gi, (each) => text(octets(each)));
const withoutCase: Comparison = {
  literal: (segment, name) => segment.toLowerCase() === name.toLowerCase(),
  parameter: emptyValue.parameter,
};

/** What nginx stores in a variable: decoded, without empty and dot segments. */
const handedOn = (path: string): string => posix.normalize(octets(path));
/** The path in a request line whose blanks are merged; python's http.server accepts any Latin-1 blank. */
const firstWord = (path: string): string =>
  posix.normalize(path.replace(/[?#].*$/s, '').replace(/[\s\u0085]+$/, ''));

/** Declared by operators who do not know the router. */
const UNKNOWN = ['', 'strict'];

export const SERVICE_MODELS: readonly ServiceModel[] = [
  // Express 5.3.0 and 4.22.3: compares the raw path, ignoring case; also behind an nginx that keeps it.
  model(
    'express',
    [...UNKNOWN, 'express', '{ preset: nginx, case: insensitive }'],
    (path) => withoutTrailing(split(path)),
    ignoringCase,
  ),
  // Express with `case sensitive routing`, and with routers below `/:id` that ignore case by default.
  model('express of mixed routers', UNKNOWN, (path) => withoutTrailing(split(path)), {
    literal: (segment, text, isLast, route) =>
      hasParameter(route)
        ? ignoringCase.literal(segment, text, isLast, route)
        : exactly.literal(segment, text, isLast, route),
    parameter: isFull,
  }),
  model('express of mixed routers, literals without case', UNKNOWN, (path) => withoutTrailing(split(path)), {
    literal: (segment, text, isLast, route) =>
      hasParameter(route)
        ? exactly.literal(segment, text, isLast, route)
        : ignoringCase.literal(segment, text, isLast, route),
    parameter: isFull,
  }),
  model('fastify 5', [...UNKNOWN, 'fastify'], split, emptyValue),
  // The root of a plugin with a prefix has both spellings, and so has `app.get('/')` behind a base.
  model(
    'fastify 5 with plugins',
    [...UNKNOWN, 'fastify'],
    (path) => withoutEmptyEnd(split(path)),
    emptyValue,
  ),
  model(
    'express with strict routing and mounted routers',
    [...UNKNOWN, '{ preset: express, trailing_slash: distinct }'],
    (path) => withoutEmptyEnd(split(path)),
    ignoringCase,
  ),
  // A semicolon starts the query.
  model('fastify 4', [...UNKNOWN, 'fastify'], (path) => split(path.replace(/;.*$/, '')), emptyValue),
  model('go', [...UNKNOWN, 'go'], (path) => redirectsEmpty(split(path))?.map(octets), exactly),
  // chi 5, and gin with UseRawPath: the raw path.
  model('chi', [...UNKNOWN, 'go'], (path) => redirectsEmpty(split(path)), exactly),
  // Fiber 2: ignores case.
  model('fiber', [...UNKNOWN, 'go'], (path) => withoutTrailing(split(path)), ignoringCase),
  // Before 1.22: the decoded path, and subtrees for patterns that end in a parameter.
  model('go before 1.22', [...UNKNOWN, 'go'], (path) => redirectsEmpty(split(octets(path))), emptyValue),
  model(
    'spring',
    [...UNKNOWN, 'spring'],
    (path) => (path.includes('%2F') ? undefined : split(path).map((each) => octets(withoutParameters(each)))),
    exactly,
  ),
  // The Ant matcher of older versions: no empty segments, any suffix, an optional trailing slash.
  model(
    'spring ant matcher',
    [...UNKNOWN, 'spring'],
    (path) =>
      path.includes('%2F')
        ? undefined
        : split(path)
            .map((each) => octets(withoutParameters(each)))
            .filter((each) => each !== ''),
    {
      literal: (segment, text, isLast) => segment === text || (isLast && segment.startsWith(`${text}.`)),
      parameter: isFull,
    },
  ),
  // `caseSensitive: false`: decodes all but reserved characters, then lower case.
  ...(['fastify 5', 'fastify 4'] as const).map((name) =>
    model(
      `${name} without case`,
      [...UNKNOWN, '{ preset: fastify, case: insensitive }'],
      (path) => split(unreserved(name === 'fastify 4' ? path.replace(/;.*$/, '') : path)),
      withoutCase,
    ),
  ),
  model(
    'nginx before fastify 4 without case',
    [...UNKNOWN, '{ preset: nginx, case: insensitive, parameters: ignore }'],
    (path) => split(text(octets(path).replace(/\/+/g, '/').replace(/;.*$/, ''))),
    withoutCase,
  ),
  model('fastapi', [...UNKNOWN, 'fastapi'], (path) => split(octets(path)), exactly),
  model('wsgiref', [...UNKNOWN, 'wsgi'], (path) => split(octets(path)), exactly),
  // Werkzeug merges slashes at the start and redirects for others.
  model(
    'flask',
    [...UNKNOWN, 'wsgi'],
    (path) => redirectsEmpty(split(octets(path).replace(/^\/+/, '/'))),
    exactly,
  ),
  // Django REST framework: the last segment may have a format such as `.json`.
  model('django rest', [...UNKNOWN, 'wsgi'], (path) => withoutTrailing(split(octets(path))), {
    literal: (segment, text, isLast) => segment === text || (isLast && segment === `${text}.json`),
    parameter: isFull,
  }),
  // The list of a viewset with an empty prefix has the format alone as its last segment.
  model(
    'django rest with empty prefixes',
    [...UNKNOWN, 'wsgi'],
    (path) => withoutFormat(withoutTrailing(split(octets(path)))),
    exactly,
  ),
  // Locations by regular expression and by prefix; empty segments are merged.
  model('nginx', [...UNKNOWN, 'nginx'], (path) => split(octets(path).replace(/\/+/g, '/')), emptyValue),
  model(
    'nginx before express',
    [...UNKNOWN, '{ preset: nginx, case: insensitive }'],
    (path) => withoutTrailing(split(octets(path).replace(/\/+/g, '/'))),
    ignoringCase,
  ),
  // A variable in `proxy_pass`: decoded and not encoded again. Go refuses spaces; others trim them.
  model(
    'nginx with variables before go',
    [...UNKNOWN, 'nginx'],
    (path) => redirectsEmpty(split(handedOn(path).replace(/\?.*$/s, '')))?.map(octets),
    exactly,
  ),
  model(
    'nginx with variables before wsgiref',
    [...UNKNOWN, 'nginx'],
    (path) => split(octets(firstWord(handedOn(path)))),
    exactly,
  ),
  model(
    'two nginx with variables before express',
    [...UNKNOWN, '{ preset: nginx, case: insensitive }'],
    (path) => withoutTrailing(split(firstWord(handedOn(firstWord(handedOn(path)))))),
    ignoringCase,
  ),
  model(
    'nginx with variables before spring ant matcher',
    UNKNOWN,
    (path) => split(firstWord(handedOn(path))).map((each) => octets(withoutParameters(each))),
    {
      literal: (segment, text, isLast) => segment === text || (isLast && segment.startsWith(`${text}.`)),
      parameter: isFull,
    },
  ),
  // A router such as .NET's: Unicode upper case.
  model(
    'unicode case',
    [...UNKNOWN, '{ preset: go, case: insensitive }'],
    (path) => withoutTrailing(split(path)).map((each) => Buffer.from(octets(each), 'latin1').toString()),
    {
      literal: (segment, text) =>
        segment.toUpperCase() === text.toUpperCase() || segment.toLowerCase() === text.toLowerCase(),
      parameter: isFull,
    },
  ),
];
