// Media types that carry a version: in their name (`application/vnd.acme.{version}+json`) or in a parameter, perhaps twice.
import { type ContentType, format, isTokenValid, isTypeValid, parse } from 'content-type';
import type { Label, MediaTemplate } from './resolution.ts';

/** A version as a media type writes it. */
export interface MediaVersion {
  readonly value: string;
  readonly inName: boolean;
}

const IN_NAME = /^(([a-z]+)\/[a-z0-9][a-z0-9.-]*[.-])(?:\{version\}|v\{n\})(\+([a-z0-9-]+))$/;
const IN_PARAMETER =
  /^(([a-z]+)\/[a-z0-9.-]*[a-z0-9](?:\+([a-z0-9-]+))?) *; *([a-z][a-z0-9_-]*)=(?:\{version\}|\{n\})$/;
/** RFC 9110 §5.6.4: what a quoted-string can hold. */
const WRITABLE = /^[\t\x20-\x7e\x80-\xff]*$/;
const LOOKS_LIKE_VERSION = /^v?[0-9]/;

/** Reads a template as an operator writes it; undefined when it is neither form. */
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

/** A media type or range as sent; undefined when its type is none. Stops at a comma when it stands in a list. */
export function parseMediaType(text: string, options?: { readonly start: number }): ContentType {
  return options === undefined ? parse(text) : parse(text, { comma: true, start: options.start });
}

/** The version that a media type names, by the first template it fits; undefined when it names none. */
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
      // `application/vnd.acme.orders+json` names a thing, not a version.
      if (LOOKS_LIKE_VERSION.test(value)) return { value, inName: true };
    }
  }
  return undefined;
}

/**
 * What `media`, written as `text`, says of its version besides `named`: by parameters, repeated ones too. A name that
 * carries the version has no place for another one: each parameter that could carry it is read beside it (VER-3).
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
    return isRepeated(text, parameter) ? everyValue(text, parameter) : [sent];
  });
  return values.filter((value) => named.inName || value !== named.value);
}

/** True more often than it is so, and cheap: nearly no request writes the name of a parameter twice. */
export function isRepeated(text: string, name: string): boolean {
  const lower = text.toLowerCase();
  return lower.indexOf(name) !== lower.lastIndexOf(name);
}

/** The same media type without its version, other parameters kept: `application/json; charset=utf-8` (VER-9). */
export function plainType(templates: readonly MediaTemplate[], media: ContentType): string {
  const template = templates.find((each) => versionIn([each], media) !== undefined);
  const carriers = new Set(templates.map(({ parameter }) => parameter));
  return written(template?.plain ?? media.type, media.parameters, (name) => !carriers.has(name));
}

/** A media type written anew as it was understood: what was no parameter, such as a string without an end, is gone. */
export function understoodType({ type, parameters }: ContentType): string {
  return written(type, parameters, () => true);
}

function written(
  type: string,
  parameters: ContentType['parameters'],
  keeps: (name: string) => boolean,
): string {
  const entries = Object.entries(parameters);
  // The parser takes more for a parameter than may be written.
  const good = entries.filter(([name, value]) => isTokenValid(name) && WRITABLE.test(value) && keeps(name));
  return format({ type, parameters: Object.fromEntries(good) });
}

/** What a request with a versioned media type may say: the field value of `Accept` in a 415 (NEG-8). */
export function acceptableTypes(templates: readonly MediaTemplate[], known: readonly Label[]): string {
  return templates.flatMap((template) => known.map((label) => versionedType(template, label))).join(', ');
}

/** A version in one of the forms that carry it: `application/vnd.acme.v2+json`, `application/vnd.acme+json; version=2`. */
function versionedType({ before, after, parameter }: MediaTemplate, label: Label): string {
  return parameter === undefined
    ? `${before}${label}${after}`
    : `${before}; ${parameter}=${label.replace(/^v/, '')}`;
}

/** NEG-5: what the plain type of an upstream's answer becomes, its parameters kept; undefined for any other type. */
export function answeredType(template: MediaTemplate, label: Label, sent: string): string | undefined {
  const { type, parameters } = parseMediaType(sent);
  if (type !== template.plain) return undefined;
  const { type: name, parameters: own } = parseMediaType(versionedType(template, label));
  return written(name, { ...own, ...parameters, ...own }, () => true);
}

/** The values of the parameter `name`, in lower case, of the media type `text`, in order. Never throws. */
export function everyValue(text: string, name: string): readonly string[] {
  return parametersOf(text).flatMap((parameter) => parse(parameter).parameters[name] ?? []);
}

/** The parameters as written, each with its semicolon: one inside a quoted string divides nothing (NEG-1). */
export function parametersOf(text: string): readonly string[] {
  const found: string[] = [];
  let start = -1;
  // A quoted string begins right behind the first `=` of a parameter and nowhere else.
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

/** Of the closing quote, or the end of a text that has none. */
function endOfQuote(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
