// One delivery attempt: a POST over a new connection to an address that was checked just before.
import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6, type LookupFunction } from 'node:net';
import { Client, errors } from 'undici';
import { readHttpDate } from '../service/http-date.ts';
import { checkDestination, type DestinationRules } from './destination.ts';
import { isPublicAddress } from './public-address.ts';

export interface OutgoingDelivery {
  readonly url: string;
  /** The signature headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The signed bytes. */
  readonly body: Buffer;
}

interface AttemptResult {
  readonly status?: number;
  /** For the subscriber; it reveals nothing about the operator's network. */
  readonly message: string;
  readonly durationMs: number;
}

export type AttemptOutcome = AttemptResult &
  (
    | { readonly kind: 'delivered' }
    | { readonly kind: 'failed' }
    /** The receiver asked for a later attempt: 429, 502, 503, 504. */
    | { readonly kind: 'throttled'; readonly retryAfterMs: number | undefined }
    /** 410: the receiver wants no more deliveries. */
    | { readonly kind: 'gone' }
  );

export interface Address {
  readonly address: string;
  readonly family: number;
}

export interface AttemptOptions {
  readonly rules: DestinationRules;
  /**
   * PEM of the certificates that our own receivers have; other receivers are not trusted by it. Read at each attempt, since they
   * may be made after our start.
   */
  readonly ca: () => string | undefined;
  /** Limit for the whole attempt; default 15 s (WH-5). */
  readonly timeoutMs?: number;
  /** All addresses of a name; default: the system resolver. */
  readonly resolve?: (host: string) => Promise<readonly Address[]>;
  /** Epoch milliseconds, for a `Retry-After` that is a date. */
  readonly now?: () => number;
}

const DEFAULT_TIMEOUT_MS = 15_000;
const MAX_READ_BYTES = 64 * 1024;
const USER_AGENT = 'Sundial-Webhooks/1';
const RETRYABLE_STATUSES: readonly number[] = [429, 502, 503, 504];

/** The name resolves to an address that is not public. */
class NotPublicError extends Error {}

/**
 * Attempts never reject for failures of the other side. If `signal` is aborted they reject with its reason, and the outcome is
 * unknown. WH-5: any 2xx is success; no redirects, no proxy of the environment, no cookies.
 */
export function createAttempt({
  rules,
  ca,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  resolve = (host) => lookup(host, { all: true }),
  now = Date.now,
}: AttemptOptions): (delivery: OutgoingDelivery, signal: AbortSignal) => Promise<AttemptOutcome> {
  const ownAddresses = new BlockList();
  for (const address of rules.deny) ownAddresses.addAddress(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return async (delivery, signal) => {
    const from = performance.now();
    const failure = (message: string): AttemptResult & { kind: 'failed' } => ({
      kind: 'failed',
      message,
      durationMs: Math.round(performance.now() - from),
    });
    signal.throwIfAborted();
    const destination = checkDestination(delivery.url, rules);
    if (destination.kind === 'refused') return failure(`The ${destination.message}`);
    const { url, isOurs } = destination;
    const trusted = isOurs ? ca() : undefined;
    const client = new Client(url.origin, {
      allowH2: false,
      connect: {
        ...(isOurs ? {} : { lookup: publicAddressLookup(resolve, ownAddresses) }),
        ...(trusted !== undefined && { ca: trusted }),
        timeout: timeoutMs,
      },
    });
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const { statusCode, headers, body } = await client.request({
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': USER_AGENT, ...delivery.headers },
        body: delivery.body,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        signal: AbortSignal.any([signal, timeout]),
      });
      // The status decides; the end of the body does not matter.
      await body.dump({ limit: MAX_READ_BYTES, signal: timeout }).catch(() => undefined);
      return {
        ...failure(`Answered ${statusCode}`),
        status: statusCode,
        ...judge(statusCode, headers['retry-after'], now()),
      };
    } catch (error) {
      signal.throwIfAborted();
      return failure(timeout.aborted ? `No answer within ${timeoutMs / 1_000} s` : describe(error));
    } finally {
      client.destroy().catch(() => undefined); // errors of an abandoned connection do not matter
    }
  };
}

type Judged =
  | { readonly kind: 'delivered' | 'failed' | 'gone' }
  | { readonly kind: 'throttled'; readonly retryAfterMs: number | undefined };

function judge(status: number, retryAfter: string | string[] | undefined, now: number): Judged {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  if (!RETRYABLE_STATUSES.includes(status)) return { kind: 'failed' };
  return { kind: 'throttled', retryAfterMs: readRetryAfter(String(retryAfter ?? ''), now) };
}

/** RFC 9110 §10.2.3: seconds or a date. The caller limits the length. */
function readRetryAfter(written: string, now: number): number | undefined {
  if (/^\d+$/.test(written)) return Number(written) * 1_000;
  const date = readHttpDate(written);
  return date === undefined ? undefined : Math.max(0, date - now);
}

/** A lookup for a socket that fails if any address of the name is not public or is our own. */
function publicAddressLookup(
  resolve: (host: string) => Promise<readonly Address[]>,
  ownAddresses: BlockList,
): LookupFunction {
  return (host, { all }, done) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses;
        if (
          first === undefined ||
          !addresses.every((each) => isPublicAddress(each.address) && !isOneOf(ownAddresses, each))
        )
          done(new NotPublicError(), '');
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
  if (error instanceof NotPublicError) return 'The host does not have a public address';
  if (error instanceof errors.HTTPParserError) return 'The response is not HTTP';
  const code = error instanceof Error ? String(Reflect.get(error, 'code')) : '';
  return /CERT|SIGNATURE|ALTNAME/.test(code)
    ? 'The certificate is not trusted'
    : 'The connection failed or ended before a response';
}
