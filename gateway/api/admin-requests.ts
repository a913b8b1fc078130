// Request bodies of the admin API: their grammars and readers.
import { z } from 'zod';
import { LOG_LEVELS } from '../plan/grammar/logs-section.ts';
import { flattenIssues, knownKeys, type ShapeIssue, suggest } from '../plan/read/shape-issues.ts';
import { scope } from '../policy/authentication/scope.ts';
import { duration, instant, isPrintableId, notation, parseMail } from '../policy/notation.ts';

const line = (most: number, description: string) =>
  notation(
    (text) => {
      const trimmed = text.trim();
      return trimmed.length <= most && isPrintableId(trimmed) ? trimmed : undefined;
    },
    `must be a single line of 1 to ${most} printable characters`,
    { description },
  );

const author = {
  by: line(100, 'Name of the author, for the audit log.'),
  why: line(200, 'The reason, for the audit log.'),
};

const pause = z.strictObject({
  api: line(100, 'The API.'),
  version: line(100, 'One version of the API; default every version.').optional(),
  until: instant('Instant at which the pause ends.').optional(),
  for: duration('Duration of the pause, instead of `until`.').optional(),
  ...author,
});
const acceptance = z.strictObject({
  api: line(100, 'The API.'),
  version: line(100, 'One version of the API; default every version, and the API as a whole.').optional(),
  ...author,
});
const ending = z.strictObject(author);
const optionalAuthor = z.strictObject({ by: author.by.optional(), why: author.why.optional() });
const upgrade = z.strictObject({
  version: line(100, 'The version to move to.'),
  created: instant('Creation day of the account, as in its token.').optional(),
  ...author,
});

const key = z.strictObject({
  consumer: line(256, 'The consumer that calls with the key.'),
  scopes: z.array(scope).max(100).optional(),
  contact: notation(parseMail, 'not a mail address', {
    description: 'Mail address for messages about this key.',
  }).optional(),
  expires: instant('Instant at which the key expires.').optional(),
  ...author,
});
const rotation = z.strictObject({
  overlap: duration('Validity of the previous secret; default 1d.').optional(),
  ...author,
});

const logLevel = z.strictObject({
  level: z.enum(LOG_LEVELS).meta({ description: 'Lowest level of messages in the log.' }),
  by: author.by.optional(),
  why: author.why.optional(),
});

const replay = z.strictObject({
  delivery: line(100, 'One delivery; default every dead letter.').optional(),
  since: instant('Dead letters made at this instant or later.').optional(),
  until: instant('Dead letters made until this instant.').optional(),
  by: author.by.optional(),
  why: author.why.optional(),
});

export type PauseRequestBody = z.output<typeof pause>;

export type RequestRead<T> =
  | { readonly kind: 'read'; readonly value: T }
  /** Sentences that name the member. */
  | { readonly kind: 'malformed'; readonly problems: readonly string[] };

/** Requires exactly one of `until` and `for`: every pause expires. */
export function readPauseRequest(body: unknown): RequestRead<PauseRequestBody> {
  const request = read(pause, body);
  if (
    request.kind === 'malformed' ||
    (request.value.until === undefined) !== (request.value.for === undefined)
  )
    return request;
  return { kind: 'malformed', problems: ['write either "for" or "until", not both'] };
}

export const readAcceptRequest = readerOf(acceptance);
export const readEndingRequest = readerOf(ending);
export const readUpgradeRequest = readerOf(upgrade);
export const readKeyRequest = readerOf(key);
export const readRotationRequest = readerOf(rotation);
export const readLogLevelRequest = readerOf(logLevel);
export const readReplayRequest = readerOf(replay);

/** For a write that its URL describes, so that the body may be missing. */
export function readOptionalAuthor(body: unknown): RequestRead<z.output<typeof optionalAuthor>> {
  return body === undefined ? { kind: 'read', value: {} } : read(optionalAuthor, body);
}

function readerOf<Shape extends z.ZodRawShape>(grammar: z.ZodObject<Shape>) {
  return (body: unknown) => read(grammar, body);
}

function read<Shape extends z.ZodRawShape>(
  grammar: z.ZodObject<Shape>,
  body: unknown,
): RequestRead<z.output<z.ZodObject<Shape>>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const members = Object.keys(grammar.shape).join(', ');
    return { kind: 'malformed', problems: [`send a JSON object with the members ${members}`] };
  }
  const parsed = grammar.safeParse(body, { error: knownKeys });
  if (parsed.success) return { kind: 'read', value: parsed.data };
  return { kind: 'malformed', problems: flattenIssues(parsed.error.issues, body).flatMap(sentences) };
}

/** `unknown member "untill" (did you mean "until"?)`, or all known names if none is close. */
export function unknownName(noun: string, name: string, known: readonly string[]): string {
  const hint = suggest(name, known) ?? `known: ${known.join(', ')}`;
  return `unknown ${noun} ${JSON.stringify(name.slice(0, 60))} (${hint})`;
}

function sentences({ path, rule, message, unknown, known }: ShapeIssue): readonly string[] {
  if (unknown.length > 0) {
    return unknown.slice(0, 5).map((name) => unknownName('member', name, known));
  }
  const member = `"${path.join('.')}"`;
  return [rule === 'missing' ? `the member ${member} is missing` : `${member}: ${message}`];
}
