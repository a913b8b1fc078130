// Parses and compares operations: a method and a path template below the base of the API.
import { decodedOctets, LONGEST_LITERAL } from '../octets.ts';
import type { Label } from '../versioning/resolution.ts';

/** `*` means all methods. GET also matches HEAD requests (RET-9). */
export const OPERATION_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', '*'] as const;
export type OperationMethod = (typeof OPERATION_METHODS)[number];

export type TemplateSegment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'parameter'; readonly name: string };

export interface OperationTemplate {
  readonly method: OperationMethod;
  readonly segments: readonly TemplateSegment[];
}

export interface OperationSuccessor {
  readonly label: Label | undefined;
  /** Undefined: the same path in that version. */
  readonly template: OperationTemplate | undefined;
}

export type ParsedOperation =
  | { readonly kind: 'operation'; readonly template: OperationTemplate }
  | { readonly kind: 'malformed'; readonly why: string; readonly method?: string };

/** Literal text, and the indexes of captured parameters. */
export type TailParts = readonly (string | number)[];

const LITERAL = /^(?:[A-Za-z0-9._~!$&'()+,;=:@-]|%[0-9A-F]{2})+$/;
/** Unnecessary encoding. Request paths are normalised before matching, so such a literal would never match. */
const NEEDLESS = /%(?:2[DE]|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/;
const PARAMETER = /^\{([A-Za-z_][A-Za-z0-9_]{0,39})\}$/;

const NO_METHOD_AND_PATH = 'an operation needs a method and a path, such as GET /search/{id}';

/** `GET /search/{id}`: a method, one space, and a path of literal and `{parameter}` segments. Never throws. */
export function parseOperation(text: string): ParsedOperation {
  const [, method = '', path = ''] = /^(\S+) (\/\S*)$/.exec(text) ?? [];
  if (method === '') return { kind: 'malformed', why: NO_METHOD_AND_PATH };
  const known = OPERATION_METHODS.find((each) => each === method);
  if (known === undefined) return { kind: 'malformed', why: `${method} is not a method`, method };
  const segments: TemplateSegment[] = [];
  for (const segment of path === '/' ? [] : path.slice(1).split('/')) {
    const name = PARAMETER.exec(segment)?.[1];
    if (name !== undefined) {
      if (segments.some((other) => other.kind === 'parameter' && other.name === name))
        return { kind: 'malformed', why: `{${name}} occurs twice in one path` };
      segments.push({ kind: 'parameter', name });
    } else if (isLiteral(segment)) {
      segments.push({ kind: 'literal', text: segment });
    } else {
      const why = `the segment "${segment}" is neither plain text of at most ${LONGEST_LITERAL} characters nor one {parameter}`;
      return { kind: 'malformed', why };
    }
  }
  return { kind: 'operation', template: { method: known, segments } };
}

/** `v3`, `GET /items/{id}` or `v3 GET /items/{id}`. Undefined for any other text. */
export function parseOperationSuccessor(text: string): OperationSuccessor | undefined {
  if (!text.includes(' ')) return /^[^\s/]+$/.test(text) ? { label: text, template: undefined } : undefined;
  const [, label, operation = ''] = /^(?:([^\s/]+) )?(\S+ \/\S*)$/.exec(text) ?? [];
  const parsed = parseOperation(operation);
  return parsed.kind === 'malformed' ? undefined : { label, template: parsed.template };
}

function isLiteral(segment: string): boolean {
  return (
    segment.length <= LONGEST_LITERAL &&
    LITERAL.test(segment) &&
    !NEEDLESS.test(segment) &&
    segment !== '.' &&
    segment !== '..'
  );
}

export function formatOperation({ method, segments }: OperationTemplate): string {
  return `${method} /${segments.map(formatSegment).join('/')}`;
}

export function sameRequests(a: OperationTemplate, b: OperationTemplate): boolean {
  return (
    a.method === b.method &&
    a.segments.length === b.segments.length &&
    a.segments.every((left, index) => {
      const right = b.segments[index];
      if (left.kind === 'literal') return right?.kind === 'literal' && sameName(left.text, right.text);
      return right?.kind === 'parameter';
    })
  );
}

/** `$metadata` and `%24metadata` are one name. */
export function sameName(left: string, right: string): boolean {
  return left === right || decodedOctets(left) === decodedOctets(right);
}

/** Whether `a` would take requests that `b` alone would match. */
export function takesRequestsOf(a: OperationTemplate, b: OperationTemplate): boolean {
  if (a.segments.length !== b.segments.length) return false;
  const byGet = a.method === 'HEAD' && b.method === 'GET';
  const narrower = a.method !== b.method && (b.method === '*' || byGet);
  let first: boolean | undefined;
  for (const [index, left] of a.segments.entries()) {
    const right = b.segments[index];
    if (left.kind === 'literal' && right?.kind === 'literal' && !sameName(left.text, right.text))
      return false;
    // A literal wins over a parameter, and the earlier segment decides.
    if (left.kind !== right?.kind) first ??= left.kind === 'literal';
  }
  return shareMethods(a, b) && (first ?? narrower);
}

/** GET and HEAD share requests. */
export function shareMethods({ method: a }: OperationTemplate, { method: b }: OperationTemplate): boolean {
  const reads = (method: OperationMethod) => method === 'GET' || method === 'HEAD';
  return a === b || a === '*' || b === '*' || (reads(a) && reads(b));
}

export function parametersOf({ segments }: OperationTemplate): readonly string[] {
  return segments.flatMap((segment) => (segment.kind === 'parameter' ? [segment.name] : []));
}

/**
 * The path of `target` with the parameters that `source` captures (LNK-2). @throws RangeError for a parameter that is not
 * captured, which a checked plan does not have
 */
export function tailParts(source: OperationTemplate, target: OperationTemplate): TailParts {
  const captured = parametersOf(source);
  const parts: (string | number)[] = [];
  for (const segment of target.segments) {
    parts.push('/');
    if (segment.kind === 'literal') parts.push(segment.text);
    else {
      const place = captured.indexOf(segment.name);
      if (place < 0) throw new RangeError(`{${segment.name}} is not captured`);
      parts.push(place);
    }
  }
  return parts;
}

/** Inserts the captured segments exactly as the client encoded them (LNK-2). */
export function fillTail(parts: TailParts, captures: readonly string[]): string {
  return parts.map((part) => (typeof part === 'number' ? (captures[part] ?? '') : part)).join('');
}

function formatSegment(segment: TemplateSegment): string {
  return segment.kind === 'literal' ? segment.text : `{${segment.name}}`;
}
