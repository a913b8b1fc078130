// An explanation and the answer of a gateway, brought into one form that can be compared.
// What passes with the request, and what only a running gateway can know, is left out of both.
import type { Change } from '../../gateway/cli/explain-next.ts';
import type { Answer } from './http-client.ts';

export interface Explained {
  readonly kind: 'answered' | 'forwarded';
  readonly status?: number;
  readonly target?: string;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Explanation {
  readonly answer: Explained;
  readonly decisions: readonly { readonly step: string; readonly value: string; readonly detail: string }[];
  readonly next: readonly (Pick<Change, 'status' | 'version'> & { readonly at: string })[];
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
  method = 'GET',
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
  return {
    explained: { kind, status, body: isTold ? explained.body : '', headers: lasting(headers) },
    answered: {
      kind: 'answered',
      status: answer.status,
      body: isText ? answer.text : answer.json,
      headers: lasting(answer.headers),
    },
  };
}

/** `headers` less the passing ones and `others`. */
function lasting(headers: Readonly<Record<string, string>>, others: readonly string[] = []) {
  const lines = Object.entries(headers);
  return Object.fromEntries(lines.filter(([name]) => ![...PASSING, ...others].includes(name)));
}
