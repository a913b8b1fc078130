// Detects media types with a misspelt version, so that they never get the default version (VER-1).
import { type ContentType, isTypeValid, parse } from 'content-type';
import { parametersOf, versionIn } from './media-type.ts';
import type { MediaTemplate } from './resolution.ts';

/** In place of a version: nothing, no word, a bare `v`, or a word for a version. `events` names another type. */
const IN_PLACE = /^(?:$|[^a-z]|v[vx]*(?![a-z])|(?:latest|current)(?![a-z0-9])|ver(?:sion)?[^a-z0-9]*v?[0-9])/;
/** After the name of a template: a version with any separator. */
const NEAR = /^(?:[^a-z0-9]v?|v)[0-9]/;
const QUOTED_VALUE = /=[ \t]*"(?:[^"\\]|\\.)*"/;
const OPEN_QUOTE = /^[^=]*=[ \t]*"(?:[^"\\]|\\.)*\\?$/;

/**
 * The misspelt version in `text`, from which `media` was parsed: malformed in the name or in a parameter, or on a type with
 * another suffix. Undefined for the type without a version and for other types of the same vendor.
 */
export function misspeltIn(
  templates: readonly MediaTemplate[],
  media: ContentType,
  text: string,
): string | undefined {
  const { type, parameters } = media;
  const version = versionIn(templates, media);
  for (const { before, parameter } of templates) {
    if (parameter === undefined || !(type === before || version?.inName === true)) continue;
    const malformed = malformedParameter(text, parameter);
    if (malformed !== undefined) return malformed;
  }
  if (version !== undefined || templates.some((template) => type === bareName(template))) return undefined;
  for (const template of templates) {
    const { before, after, parameter } = template;
    const name = nameOf(template);
    if (parameter === undefined) {
      if (type.startsWith(before) && IN_PLACE.test(type.slice(before.length)))
        return type.endsWith(after) ? type.slice(before.length, -after.length) : type;
      const subtype = subtypeOf(name);
      const at = type.indexOf(subtype);
      if (at >= 0 && NEAR.test(type.slice(at + subtype.length))) return type;
    } else if (name !== before && (type === name || type.startsWith(`${name}+`))) {
      if (parameters[parameter] !== undefined || malformedParameter(text, parameter) !== undefined)
        return text;
    }
  }
  return undefined;
}

export function unreadableIn(
  templates: readonly MediaTemplate[],
  { type }: ContentType,
  text: string,
): string | undefined {
  const isOpen = text.includes('"') && OPEN_QUOTE.test(parametersOf(text).at(-1) ?? '');
  return (isOpen || !isTypeValid(type)) && mentions(templates, text) ? text : undefined;
}

/**
 * The misspelt version of a `Content-Type`. The field holds one type, so a list with a type of the API is misspelt as a
 * whole (NEG-6).
 */
export function misspeltContent(
  templates: readonly MediaTemplate[],
  media: ContentType,
  text: string,
): string | undefined {
  const isList = parse(text, { comma: true }).index < text.length;
  if (isList && mentions(templates, text)) return text;
  return misspeltIn(templates, media, text) ?? unreadableIn(templates, media, text);
}

function mentions(templates: readonly MediaTemplate[], text: string): boolean {
  const compact = text.toLowerCase().replace(/[\s"]+/g, '');
  return templates.some((template) => compact.includes(subtypeOf(nameOf(template))));
}

/** A parameter of `text` that means `name` but is not written as `name=value`. The parser misreads or skips it. */
export function malformedParameter(text: string, name: string): string | undefined {
  if (!text.toLowerCase().includes(name)) return undefined;
  const meant = new RegExp(`(?:^|[ \\t"'])${name}(?![a-z0-9._-])`, 'i');
  const unvalued = new RegExp(`^[ \\t]*${name}[0-9]`, 'i');
  const sound = new RegExp(`^[ \\t]*${name}[ \\t]*=(?:[^"]*|[ \\t]*""[ \\t]*)$`, 'i');
  return parametersOf(text)
    .map((parameter) => parameter.slice(1))
    .find((parameter) => {
      const unquoted = parameter.replace(QUOTED_VALUE, '=""');
      if (!unquoted.includes('=') && unvalued.test(unquoted)) return true;
      return meant.test(unquoted) && !sound.test(unquoted);
    });
}

/** `application/vnd.acme` for `application/vnd.acme.` and `application/vnd.acme+json`. */
function nameOf({ before, parameter }: MediaTemplate): string {
  if (parameter === undefined) return before.slice(0, -1);
  const suffix = before.lastIndexOf('+');
  return suffix < 0 ? before : before.slice(0, suffix);
}

/** `vnd.acme` for `application/vnd.acme`, which identifies a type of the API. The whole name for `application/json`. */
function subtypeOf(name: string): string {
  const subtype = name.slice(name.indexOf('/') + 1);
  return subtype.includes('.') ? subtype : name;
}

function bareName({ before, after }: MediaTemplate): string {
  return after === '' ? before : before.slice(0, -1) + after;
}
