// An explanation and the answer of a gateway, brought into one form that can be compared.
// What passes with the request, and what only a running gateway can know, is left out of both.
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

/** Made anew for each answer, or counted; the length follows from the body. */
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
/** What the upstream says of its own answer. */
const THEIRS = ['content-type', 'via', 'etag'];
/** What the answer of a spent limit says of itself. */
const SPENT = ['content-type', 'cache-control', 'proxy-status', 'retry-after', 'vary'];

interface Sides {
  readonly explained: unknown;
  readonly answered: unknown;
}

/** Equal where the explanation was right about `answer`, which is one to a request with `method`. */
export function sidesOf(
  { answer: explained, decisions }: Explanation,
  answer: Answer,
  { method = 'GET', now }: { readonly method?: string | undefined; readonly now: number },
): Sides {
  const { kind, status, target, headers } = explained;
  const isTold = method !== 'HEAD';
  // What its bucket has left only a running gateway knows: all else of it is that of a request that is forwarded.
  if (answer.status === 429) {
    return {
      explained: { kind, headers: lasting(headers, SPENT) },
      answered: { kind: 'forwarded', headers: lasting(answer.headers, SPENT) },
    };
  }
  if (kind === 'forwarded' && answer.headers['proxy-status'] === undefined) {
    // The upstream answers with a JSON object, to which only a notice is added.
    const { target: asked, version: served, _deprecation } = isTold ? answer.json : {};
    const notice = _deprecation === undefined ? undefined : { _deprecation };
    // Not every upstream is told its version by header.
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
 * The same for requests that differ in their address, in values, in numbers and in dates, but in nothing that was decided.
 * What a listener looks at counts as well, lest what `explain` overlooks is never asked for.
 */
export function kindOf({ answer, decisions }: Explanation, { method, path, headers }: Ask): string {
  const { kind, status, reason } = answer;
  // Of a version the detail is the carrier that named it, of an identity the value is whoever called.
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

/** The end of a maintenance to the minute, for the delay from `now`: the gateway counts it in the real time. */
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

/** `headers` less the passing ones and `others`. */
function lasting(headers: Readonly<Record<string, string>>, others: readonly string[] = []) {
  const lines = Object.entries(headers);
  return Object.fromEntries(lines.filter(([name]) => ![...PASSING, ...others].includes(name)));
}
