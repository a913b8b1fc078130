// The ways in which most response cases may end, and the bytes they begin with.
// A row names the case, its rules (with spaces between), what it is about, and what the upstream says.
import { type ResponseCase, type Script, says } from '../wire-case.ts';

/** A status line and the mark of the suite. */
export const head = (status = '200 OK', ...lines: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, 'X-Upstream: suite', ...lines, '', ''].join('\r\n');

/** An answer of the upstream after the one that is meant, which nobody may get. */
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

/** No answer that could be passed on: 502. */
export const faulty = row(['unavailable'], { status: [502] });

/** Begins well and ends too early: the client must see that. */
export const cutShort = row(['cut', 'unavailable'], { truncated: true });

/** A good answer, however odd. */
export const relayed = row(['forwarded'], { lax: ['unavailable'] });

/** The head could be read in two ways, or what comes behind it could: 502, or passed on so that it cannot. */
export const cleaned = row(['unavailable', 'forwarded'], {});
