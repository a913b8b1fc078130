// HTTP/2 connections between their requests: ended when they are idle, and when their client does nothing but reset (H2-6).
import { constants, type Http2Session, type ServerHttp2Session } from 'node:http2';
import type { Bounds } from '../../../plan/bounds.ts';
import type { BoundsCounter } from '../../port.ts';

/** What nghttp2 ends a connection with when a header section goes on in frame after frame. */
const ENDLESS_HEADERS = /CONTINUATION/;

export interface Http2Sessions {
  readonly watch: (session: ServerHttp2Session) => void;
  /** Whether a stream of it was reset before, so that the next one may be as well. */
  readonly hasReset: (session: Http2Session | undefined) => boolean;
  readonly isBusy: (session: Http2Session) => boolean;
}

export function createSessions(bounds: Bounds, report: Pick<BoundsCounter, 'refused'>): Http2Sessions {
  const facts = new WeakMap<Http2Session, SessionFacts>();
  return {
    watch: (session) => void facts.set(session, watchSession(session, bounds, report)),
    isBusy: (session) => (facts.get(session)?.streams ?? 0) > 0,
    hasReset: (session) => session !== undefined && facts.get(session)?.hasReset === true,
  };
}

interface SessionFacts {
  streams: number;
  hasReset: boolean;
}

function watchSession(
  session: ServerHttp2Session,
  { idleMs, resets }: Bounds,
  report: Pick<BoundsCounter, 'refused'>,
): SessionFacts {
  const facts: SessionFacts = { streams: 0, hasReset: false };
  // A bucket that fills up again within the window: nothing has to be remembered of single resets.
  let left = resets.units;
  let filledAt = performance.now();
  // Idle is a connection without a request, whatever else comes on it: pings, settings, or a header section octet by
  // octet keep Node's own time-out from passing.
  const idle = setTimeout(() => {
    // Tells the client by GOAWAY which streams were seen, and does not wait for a half-received header section.
    if (facts.streams === 0) session.destroy();
  }, idleMs);

  function onReset(): void {
    facts.hasReset = true;
    const now = performance.now();
    left = Math.min(resets.units, left + ((now - filledAt) * resets.units) / resets.windowMs) - 1;
    filledAt = now;
    if (left >= 0 || session.destroyed) return;
    report.refused('resets');
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  }

  session.on('stream', (stream) => {
    facts.streams += 1;
    stream.once('close', () => {
      facts.streams -= 1;
      if (facts.streams === 0) idle.refresh();
      // Also those that we had to reset: a client can provoke them as well. And with whatever code: NO_ERROR ends an
      // unanswered stream like any other.
      if (stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR) onReset();
    });
  });
  session.on('error', ({ message }) => {
    if (ENDLESS_HEADERS.test(message)) report.refused('header_bytes');
  });
  session.once('close', () => clearTimeout(idle));
  return facts;
}
