// Makes an explanation and a response comparable, without values that only a running gateway knows.
import type { OutcomeChange } from '../../gateway/cli/explain/explain-next.ts';
import type { Answer, Ask } from './http-client.ts';

export interface Explained {
  readonly kind: 'answered' | 'forwarded';
  readonly reason?: string;
  readonly status?: number;
  readonly target?: string;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Explanation {
  readonly answer: Explained;
  readonly decisions: readonly {
    readonly step: string;
    readonly value: string;
    readonly detail: string;
    readonly assumed?: string;
    readonly origin?: { readonly file: string; readonly line: number };
  }[];
  readonly next: readonly (Pick<OutcomeChange, 'status' | 'version'> & { readonly at: string })[];
}

/** Values that are new for each response or count up; the length follows from the body. */
const PASSING = [
  ':status',
  'x-request-id',
  'x-ratelimit-remaining',
  'ratelimit',
  'date',
  'connection',
  'keep-alive',
  'content-length',
];
/** Headers of the upstream's own response. */
const THEIRS = ['content-type', 'via', 'etag'];
/** Headers of a 429 response. */
const SPENT = ['content-type', 'cache-control', 'proxy-status', 'retry-after', 'vary'];

interface Sides {
  readonly explained: unknown;
  readonly answered: unknown;
}

/** Equal if the explanation predicted `answer`, the response to a request with `method`. */
export function sidesOf(
  { answer: explained, decisions }: Explanation,
  answer: Answer,
  { method = 'GET', now }: { readonly method?: string | undefined; readonly now: number },
): Sides {
  const { kind, status, target, headers } = explained;
  const isTold = method !== 'HEAD';
  // Only a running gateway knows the state of a bucket. The rest must equal a forwarded request.
  if (answer.status === 429) {
    return {
      explained: { kind, headers: lasting(headers, SPENT) },
      answered: { kind: 'forwarded', headers: lasting(answer.headers, SPENT) },
    };
  }
  if (kind === 'forwarded' && answer.headers['proxy-status'] === undefined) {
    // The upstream answers with a JSON object, and the gateway adds only the notice.
    const { target: asked, version: served, _deprecation } = isTold ? answer.json : {};
    const notice = _deprecation === undefined ? undefined : { _deprecation };
    // Not every upstream gets a version header.
    const version = served && decisions.find(({ step }) => step === 'version')?.value;
    const own = isTold ? { target, notice: explained.body } : { target: undefined, notice: undefined };
    return {
      explained: { kind, ...own, version, headers: lasting(headers, THEIRS) },
      answered: { kind, target: asked, version: served, notice, headers: lasting(answer.headers, THEIRS) },
    };
  }
  const isText = typeof explained.body === 'string' || answer.text === '';
  const told = { kind, status, body: isTold ? explained.body : '', headers: lasting(headers) };
  const answered = {
    kind: 'answered',
    status: answer.status,
    body: isText ? answer.text : answer.json,
    headers: lasting(answer.headers),
  };
  if (explained.reason !== 'maintenance') return { explained: told, answered };
  return { explained: untilWhen(told, now), answered: untilWhen(answered, Date.now()) };
}

/**
 * Equal for requests that differ only in address, values, numbers and dates, and in no decision. Includes the
 * parts that a listener checks, so that requests which `explain` misjudges are not skipped.
 */
export function kindOf({ answer, decisions }: Explanation, { method, path, headers }: Ask): string {
  const { kind, status, reason } = answer;
  // For a version the detail is the carrier; for an identity the value is the consumer.
  const steps = decisions.map(({ step, value, detail }) => [step, BY_DETAIL.has(step) ? detail : value]);
  const sent = Object.keys(headers ?? {});
  const isLong = path.length + JSON.stringify(headers).length > LONG;
  const shape = [method, sent, isLong, kind, status, reason, Object.keys(answer.headers), steps];
  return JSON.stringify(shape).replaceAll(/\d+/g, '#');
}

const LONG = 4_000;
const BY_DETAIL: ReadonlySet<string> = new Set(['version', 'identity']);

interface Held {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** The end of a maintenance to the minute: the gateway computes the delay from the real time. */
function untilWhen<T extends Held>(held: T, now: number) {
  const end = (seconds: unknown): number => Math.floor((now / 1_000 + Number(seconds)) / 60);
  const { body, headers } = held;
  const told = typeof body === 'object' && body !== null && 'retryAfter' in body ? body : undefined;
  return {
    ...held,
    headers: { ...headers, 'retry-after': end(headers['retry-after']) },
    body: told === undefined ? body : { ...told, retryAfter: end(told.retryAfter) },
  };
}

/** `headers` without PASSING and `others`. */
function lasting(headers: Readonly<Record<string, string>>, others: readonly string[] = []) {
  const lines = Object.entries(headers);
  return Object.fromEntries(lines.filter(([name]) => ![...PASSING, ...others].includes(name)));
}
