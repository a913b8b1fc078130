// Reads and writes media types with a version in the name or in a parameter.
import { type ContentType, format, isTokenValid, isTypeValid, parse } from 'content-type';
import type { Label, MediaTemplate } from './resolution.ts';

export interface MediaVersion {
  readonly value: string;
  readonly inName: boolean;
}

const IN_NAME = /^(([a-z]+)\/[a-z0-9][a-z0-9.-]*[.-])(?:\{version\}|v\{n\})(\+([a-z0-9-]+))$/;
const IN_PARAMETER =
  /^(([a-z]+)\/[a-z0-9.-]*[a-z0-9](?:\+([a-z0-9-]+))?) *; *([a-z][a-z0-9_-]*)=(?:\{version\}|\{n\})$/;
/** RFC 9110 §5.6.4: the characters of a quoted-string. */
const WRITABLE = /^[\t\x20-\x7e\x80-\xff]*$/;
const LOOKS_LIKE_VERSION = /^v?[0-9]/;

export function parseTemplate(text: string): MediaTemplate | undefined {
  const [, before, type, after, suffix] = IN_NAME.exec(text) ?? [];
  if (before !== undefined && after !== undefined) {
    return { before, after, parameter: undefined, plain: `${type}/${suffix}` };
  }
  const [, name, main, structure, parameter] = IN_PARAMETER.exec(text) ?? [];
  if (name === undefined || parameter === undefined || parameter === 'q') return undefined;
  return {
    before: name,
    after: '',
    parameter,
    plain: structure === undefined ? name : `${main}/${structure}`,
  };
}

/**
 * Parses a media type or range. With `start`, it reads one member of a list and stops at its comma. The caller checks the
 * type.
 */
export function parseMediaType(text: string, options?: { readonly start: number }): ContentType {
  return options === undefined ? parse(text) : parse(text, { comma: true, start: options.start });
}

export function versionIn(
  templates: readonly MediaTemplate[],
  { type, parameters }: ContentType,
): MediaVersion | undefined {
  if (!isTypeValid(type)) return undefined;
  for (const { before, after, parameter } of templates) {
    if (parameter !== undefined) {
      const value = type === before ? parameters[parameter] : undefined;
      if (value !== undefined) return { value, inName: false };
    } else if (
      type.length > before.length + after.length &&
      type.startsWith(before) &&
      type.endsWith(after)
    ) {
      const value = type.slice(before.length, type.length - after.length);
      // `application/vnd.acme.orders+json` names a resource, not a version.
      if (LOOKS_LIKE_VERSION.test(value)) return { value, inName: true };
    }
  }
  return undefined;
}

/**
 * Further versions of `media` besides `named`, in parameters. Repeated parameters count too. If the name carries the
 * version, every version parameter is compared with it (VER-3).
 */
export function otherVersionsIn(
  templates: readonly MediaTemplate[],
  { type, parameters }: ContentType,
  text: string,
  named: MediaVersion,
): readonly string[] {
  const values = templates.flatMap(({ before, parameter }): readonly string[] => {
    const sent = parameter === undefined ? undefined : parameters[parameter];
    if (parameter === undefined || sent === undefined || !(named.inName || type === before)) return [];
    return isRepeated(text, parameter) ? allValues(text, parameter) : [sent];
  });
  return values.filter((value) => named.inName || value !== named.value);
}

/** A cheap test with false positives. Almost no request repeats the name of a parameter. */
export function isRepeated(text: string, name: string): boolean {
  const lower = text.toLowerCase();
  return lower.indexOf(name) !== lower.lastIndexOf(name);
}

/** The media type without its version, with its other parameters: `application/json; charset=utf-8` (VER-9). */
export function plainType(templates: readonly MediaTemplate[], media: ContentType): string {
  const template = templates.find((each) => versionIn([each], media) !== undefined);
  const carriers = new Set(templates.map(({ parameter }) => parameter));
  return written(template?.plain ?? media.type, media.parameters, (name) => !carriers.has(name));
}

/** Writes a media type as it was parsed. Drops everything that was no parameter, such as an unterminated string. */
export function normalisedType({ type, parameters }: ContentType): string {
  return written(type, parameters, () => true);
}

function written(
  type: string,
  parameters: ContentType['parameters'],
  keeps: (name: string) => boolean,
): string {
  const entries = Object.entries(parameters);
  // The parser accepts parameters that must not be written.
  const good = entries.filter(([name, value]) => isTokenValid(name) && WRITABLE.test(value) && keeps(name));
  return format({ type, parameters: Object.fromEntries(good) });
}

/** NEG-8: the value of `Accept` in a 415, with all known versions in all forms. */
export function acceptableTypes(templates: readonly MediaTemplate[], known: readonly Label[]): string {
  return templates.flatMap((template) => known.map((label) => versionedType(template, label))).join(', ');
}

/** `application/vnd.acme.v2+json` or `application/vnd.acme+json; version=2`. */
function versionedType({ before, after, parameter }: MediaTemplate, label: Label): string {
  return parameter === undefined
    ? `${before}${label}${after}`
    : `${before}; ${parameter}=${label.replace(/^v/, '')}`;
}

/** NEG-5: the versioned type for the upstream's plain type, with its parameters. Undefined for any other type. */
export function answeredType(template: MediaTemplate, label: Label, sent: string): string | undefined {
  const { type, parameters } = parseMediaType(sent);
  if (type !== template.plain) return undefined;
  const { type: name, parameters: own } = parseMediaType(versionedType(template, label));
  return written(name, { ...own, ...parameters, ...own }, () => true);
}

/** All values of the parameter `name`, which is in lower case, in order. Never throws. */
export function allValues(text: string, name: string): readonly string[] {
  return parametersOf(text).flatMap((parameter) => parse(parameter).parameters[name] ?? []);
}

/** The parameters as written, each with its semicolon. A semicolon inside a quoted string does not separate (NEG-1). */
export function parametersOf(text: string): readonly string[] {
  const found: string[] = [];
  let start = -1;
  // A quoted string begins only directly after the first `=` of a parameter.
  let mayQuote = false;
  let hasValue = true;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"' && mayQuote) at = endOfQuote(text, at);
    else if (character === ';') {
      if (start >= 0) found.push(text.slice(start, at));
      start = at;
      hasValue = false;
    }
    if (character === ' ' || character === '\t') continue;
    mayQuote = character === '=' && !hasValue;
    hasValue ||= mayQuote;
  }
  return start < 0 ? found : [...found, text.slice(start)];
}

function endOfQuote(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
