// The actions of a person at the sample client; each turns a session into the next one, without HTTP.
import type { Ask } from './ask.ts';
import type { Granted, OAuth, Pending } from './oauth.ts';
import type { Session, SignedIn } from './sessions.ts';

export type Outcome =
  | { readonly kind: 'stay'; readonly session: Session; readonly to: string }
  /** The session gets a new cookie, so that a session id known before sign-in is useless afterwards. */
  | { readonly kind: 'renew'; readonly session: Session; readonly to: string }
  | { readonly kind: 'sign-out'; readonly to: string };

export interface Actions {
  readonly signIn: (pending: Pending) => Promise<Outcome>;
  /** `sent`: the parameters of the issuer's redirect. The caller has checked their `state`. */
  readonly complete: (pending: Pending, sent: URLSearchParams, issuer: string) => Promise<Outcome>;
  readonly call: (session: Session, version: string) => Promise<Outcome>;
  readonly refresh: (session: Session) => Promise<Outcome>;
  /** Sends the used refresh token again, to show how the issuer reacts. */
  readonly replay: (session: Session) => Promise<Outcome>;
  readonly signOut: (session: Session) => Promise<Outcome>;
}

export interface ActionsOptions {
  readonly oauth: OAuth;
  readonly ask: Ask;
  readonly api: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

const PAGE = '/';

const SHOWN_HEADERS = [
  'deprecation',
  'sunset',
  'link',
  'warning',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
];

export function createActions({ oauth, ask, api, now }: ActionsOptions): Actions {
  /** Shows a failed connection on the page instead of throwing. */
  const catchFailures = async (session: Session, step: () => Promise<Outcome>): Promise<Outcome> => {
    try {
      return await step();
    } catch (error) {
      process.stderr.write(`client: ${error instanceof Error ? error.message : error}\n`);
      return wrong(session, `${api} does not answer. Is the gateway running?`);
    }
  };
  const renewed = async (session: Session, signedIn: SignedIn): Promise<Session | undefined> => {
    const { tokens, registration, refreshed } = signedIn;
    if (tokens.refresh === undefined) return undefined;
    const granted = await oauth.refresh(registration, tokens.refresh);
    if (granted.kind === 'refused') return undefined;
    const next = { registration, tokens: granted.tokens, used: tokens.refresh, refreshed: refreshed + 1 };
    return { ...session, signedIn: next };
  };
  const ended = wrong({}, 'The issuer has ended this session. Sign in again.');

  return {
    signIn: (pending) =>
      catchFailures({}, async () => ({
        kind: 'renew',
        session: { pending },
        to: await oauth.authorizationUrl(pending),
      })),
    complete: (pending, sent, issuer) =>
      catchFailures({}, async () => {
        // RFC 9207: a code from another issuer must not be sent to this one.
        if (sent.get('iss') !== issuer)
          return wrong({}, 'That answer came from another issuer. Nothing was done.');
        const code = sent.get('code');
        if (code === null) {
          const [error, why] = [sent.get('error') ?? 'no code', sent.get('error_description') ?? ''];
          return wrong({}, `The sign-in failed: ${error}${why === '' ? '' : `, ${why}`}.`);
        }
        const granted = await oauth.redeem(pending, code);
        if (granted.kind === 'refused')
          return wrong({}, `The issuer refused the code: ${describeRefusal(granted)}.`);
        const signedIn = { registration: pending.registration, tokens: granted.tokens, refreshed: 0 };
        const notice = { kind: 'done', text: 'You are signed in.' } as const;
        return { kind: 'renew', session: { signedIn, notice }, to: PAGE };
      }),
    call: (session, version) =>
      catchFailures(session, async () => {
        const { signedIn } = session;
        if (signedIn === undefined) return wrong(session, 'Sign in first.');
        if (version !== 'v1' && version !== 'v2') return wrong(session, 'The version must be v1 or v2.');
        const current = signedIn.tokens.ends > now() ? session : await renewed(session, signedIn);
        if (current?.signedIn === undefined) return ended;
        const path = `/api/${version}/orders?limit=3`;
        const answer = await ask({
          url: `${api}${path}`,
          authorization: `Bearer ${current.signedIn.tokens.access}`,
        });
        const headers = SHOWN_HEADERS.flatMap((name) => {
          const value = answer.headers.get(name);
          return value === undefined ? [] : [[name, value] as const];
        });
        const body = JSON.stringify(answer.json, undefined, 2) ?? '';
        const called = { request: `GET ${path}`, status: answer.status, headers, body };
        return { kind: 'stay', session: { ...current, called }, to: PAGE };
      }),
    refresh: (session) =>
      catchFailures(session, async () => {
        if (session.signedIn === undefined) return wrong(session, 'Sign in first.');
        const next = await renewed(session, session.signedIn);
        return next === undefined
          ? ended
          : done(next, 'There are new tokens; the old refresh token is no longer valid.');
      }),
    replay: (session) =>
      catchFailures(session, async () => {
        const { signedIn } = session;
        if (signedIn?.used === undefined)
          return wrong(session, 'Refresh first, so that there is an old token.');
        const granted = await oauth.refresh(signedIn.registration, signedIn.used);
        if (granted.kind === 'tokens')
          return wrong(session, 'The issuer took a refresh token a second time!');
        const text = `Refused, ${describeRefusal(granted)}. The issuer has revoked all tokens of this sign-in: Refresh now fails.`;
        return done(session, text);
      }),
    signOut: (session) =>
      catchFailures(session, async () => {
        const { signedIn } = session;
        if (signedIn === undefined) return { kind: 'sign-out', to: PAGE };
        if (signedIn.tokens.refresh !== undefined) {
          await oauth.revoke(signedIn.registration, signedIn.tokens.refresh);
        }
        return { kind: 'sign-out', to: await oauth.signOutUrl(signedIn.registration) };
      }),
  };
}

function wrong(session: Session, text: string): Outcome {
  return { kind: 'stay', session: { ...session, notice: { kind: 'wrong', text } }, to: PAGE };
}

function done(session: Session, text: string): Outcome {
  return { kind: 'stay', session: { ...session, notice: { kind: 'done', text } }, to: PAGE };
}

const describeRefusal = ({ error, description }: Extract<Granted, { kind: 'refused' }>): string =>
  description === '' ? error : `${error}: ${description}`;
