// Builders of response cases: id, rules (separated by spaces), title and octets of the upstream.
import { type ResponseCase, type Script, says } from '../wire-case.ts';

/** A status line and the mark of the suite. */
export const head = (status = '200 OK', ...lines: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, 'X-Upstream: suite', ...lines, '', ''].join('\r\n');

/**
 * An extra response in the same write, which no client may get. A proxy could not recognise it later, on a
 * reused connection.
 */
export const STRAY = `${head('200 OK', 'Content-Length: 5', 'X-Stray: 1')}stray`;

type Row = (
  id: string,
  rules: string,
  title: string,
  script: string | Script,
  more?: Partial<ResponseCase>,
) => ResponseCase;

const row =
  (pass: ResponseCase['pass'], always: Partial<ResponseCase>): Row =>
  (id, rules, title, script, more) => ({
    id,
    rules: rules.split(' '),
    title,
    script: typeof script === 'string' ? says(script, { end: 'fin' }) : script,
    pass,
    ...always,
    ...more,
  });

/** Not a valid response: 502. */
export const faulty = row(['unavailable'], { status: [502] });

/** Valid up to an early end, which the client must see. */
export const cutShort = row(['cut', 'unavailable'], { truncated: true });

/** A valid, perhaps unusual response. */
export const relayed = row(['forwarded'], { lax: ['unavailable'] });

/** The head or what follows is ambiguous: 502, or forwarded unambiguously. */
export const cleaned = row(['unavailable', 'forwarded'], {});
