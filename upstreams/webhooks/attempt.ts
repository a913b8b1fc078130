// One attempt to deliver: a POST over a connection of its own, and what became of it.
// Called by the delivery loop. Where the name points is looked at here, each time, and the connection goes to what was looked at.
import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6, type LookupFunction } from 'node:net';
import { Client, errors } from 'undici';
import { readHttpDate } from '../service/http-date.ts';
import { checkDestination, type DestinationRules } from './destination.ts';
import { isPublicAddress } from './public-address.ts';

export interface OutgoingDelivery {
  readonly url: string;
  /** What signs it. */
  readonly headers: Readonly<Record<string, string>>;
  /** The very bytes that are signed. */
  readonly body: Buffer;
}

interface Ended {
  /** Absent where no answer came. */
  readonly status?: number;
  /** For the subscriber: says nothing of our network. */
  readonly message: string;
  readonly durationMs: number;
}

export type AttemptOutcome = Ended &
  (
    | { readonly kind: 'delivered' }
    | { readonly kind: 'failed' }
    /** Asked to come later: 429, 502, 503, 504. */
    | { readonly kind: 'throttled'; readonly retryAfterMs: number | undefined }
    /** 410: wants no more. */
    | { readonly kind: 'gone' }
  );

export interface Address {
  readonly address: string;
  readonly family: number;
}

export interface AttemptOptions {
  readonly rules: DestinationRules;
  /** PEM of what receivers of our own are trusted by, and nobody else. Asked each time: they may make it after our start. */
  readonly ca: () => string | undefined;
  /** For all of an attempt, default 15 s (WH-5). */
  readonly timeoutMs?: number;
  /** All addresses of a name; default: as the system resolves it. */
  readonly resolve?: (host: string) => Promise<readonly Address[]>;
  /** Epoch milliseconds, for a `Retry-After` that is a date. */
  readonly now?: () => number;
}

const DEFAULT_TIMEOUT_MS = 15_000;
const MOST_READ_BYTES = 64 * 1024;
const USER_AGENT = 'Sundial-Webhooks/1';
const COME_LATER: readonly number[] = [429, 502, 503, 504];

/** The name points to what nobody is called at on another's behalf. */
class NotPublic extends Error {}

/**
 * Attempts never reject for what the other side does. Once `signal` is aborted they reject with its reason: nothing is then
 * known of the delivery. WH-5: any 2xx is success; redirects are not followed; no proxy of the environment, no cookies.
 */
export function createAttempt({
  rules,
  ca,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  resolve = (host) => lookup(host, { all: true }),
  now = Date.now,
}: AttemptOptions): (delivery: OutgoingDelivery, signal: AbortSignal) => Promise<AttemptOutcome> {
  const ours = new BlockList();
  for (const address of rules.deny) ours.addAddress(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return async (delivery, signal) => {
    const from = performance.now();
    const ended = (message: string): Ended & { kind: 'failed' } => ({
      kind: 'failed',
      message,
      durationMs: Math.round(performance.now() - from),
    });
    signal.throwIfAborted();
    const destination = checkDestination(delivery.url, rules);
    if (destination.kind === 'refused') return ended(`The ${destination.message}`);
    const { url, isOurs } = destination;
    const trusted = isOurs ? ca() : undefined;
    const client = new Client(url.origin, {
      allowH2: false,
      connect: {
        ...(isOurs ? {} : { lookup: publicOnly(resolve, ours) }),
        ...(trusted !== undefined && { ca: trusted }),
        timeout: timeoutMs,
      },
    });
    const timeUp = AbortSignal.timeout(timeoutMs);
    try {
      const { statusCode, headers, body } = await client.request({
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': USER_AGENT, ...delivery.headers },
        body: delivery.body,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        signal: AbortSignal.any([signal, timeUp]),
      });
      // The status has said it all: how the body ends is nothing to us.
      await body.dump({ limit: MOST_READ_BYTES, signal: timeUp }).catch(() => undefined);
      return {
        ...ended(`Answered ${statusCode}`),
        status: statusCode,
        ...judge(statusCode, headers['retry-after'], now()),
      };
    } catch (error) {
      signal.throwIfAborted();
      return ended(timeUp.aborted ? `No answer within ${timeoutMs / 1_000} s` : describe(error));
    } finally {
      client.destroy().catch(() => undefined); // what is given up is not asked how it took it
    }
  };
}

type Judged =
  | { readonly kind: 'delivered' | 'failed' | 'gone' }
  | { readonly kind: 'throttled'; readonly retryAfterMs: number | undefined };

function judge(status: number, retryAfter: string | string[] | undefined, now: number): Judged {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  if (!COME_LATER.includes(status)) return { kind: 'failed' };
  return { kind: 'throttled', retryAfterMs: readRetryAfter(String(retryAfter ?? ''), now) };
}

/** RFC 9110 §10.2.3: seconds, however many, or a date. How long is too long is said where it is used. */
function readRetryAfter(written: string, now: number): number | undefined {
  if (/^\d+$/.test(written)) return Number(written) * 1_000;
  const date = readHttpDate(written);
  return date === undefined ? undefined : Math.max(0, date - now);
}

/** For a socket: all addresses of a name, or none where any of them is not public. */
function publicOnly(resolve: (host: string) => Promise<readonly Address[]>, ours: BlockList): LookupFunction {
  return (host, { all }, done) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses;
        if (
          first === undefined ||
          !addresses.every((each) => isPublicAddress(each.address) && !isOneOf(ours, each))
        )
          done(new NotPublic(), '');
        else if (all === true) done(null, [...addresses]);
        else done(null, first.address, first.family);
      },
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), ''),
    );
  };
}

function isOneOf(list: BlockList, { address }: Address): boolean {
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

function describe(error: unknown): string {
  if (error instanceof NotPublic) return 'The host does not have a public address';
  if (error instanceof errors.HTTPParserError) return 'The answer is no HTTP';
  const code = error instanceof Error ? String(Reflect.get(error, 'code')) : '';
  return /CERT|SIGNATURE|ALTNAME/.test(code)
    ? 'The certificate is not trusted'
    : 'No connection, or none that lasted until an answer';
}
