// The loads of `npm run bench` and `npm run bench:all`, and the peers of each.
import { installed } from './children.ts';
import type { Ground } from './ground.ts';
import type { PeerName } from './peers.ts';
import type { Load } from './rounds.ts';
import { type BenchRequest, benchRequests, LARGE, posted, SMALL, withOneUnusual } from './work.ts';

export interface PlannedLoad extends Omit<Load, 'peers'> {
  readonly peers: readonly PeerName[];
}

const POLICY: readonly PeerName[] = ['sundial, policy', 'conventional', 'haproxy, policy'];
const PLAIN: readonly PeerName[] = ['sundial, plain', 'reply-from', 'nginx', 'haproxy, plain'];
const ALL_PLAIN: readonly PeerName[] = [...PLAIN, 'http-proxy-3', 'caddy'];
const WITH_TLS: readonly PeerName[] = ['sundial, plain', 'nginx', 'haproxy, plain', 'caddy'];

/** Tokens of one round, each used once. */
const NEW_TOKENS = 10_000;
const BODY = 8_192;
/** One of so many requests has an unusual form. */
const USUAL_BY_UNUSUAL = 1_000;

export const FULL_POLICY = 'Full policy, known RS256 tokens: GET, 1 KiB answers';
export const NO_POLICY_LOAD = 'No policy: GET, 1 KiB answers';
export const UNUSUAL_LOAD = 'No policy, one request in 1,000 in an unusual form: GET, 1 KiB answers';

export function mainLoads({ tokens }: Ground, plain = PLAIN): readonly PlannedLoad[] {
  const small = benchRequests(tokens);
  const large = benchRequests(tokens, '/large');
  return [
    planned(FULL_POLICY, POLICY, small),
    planned(NO_POLICY_LOAD, plain, small),
    planned(UNUSUAL_LOAD, ['sundial, plain'], withOneUnusual(small, USUAL_BY_UNUSUAL)),
    { ...planned('No policy: GET, 100 KiB answers', plain, large), answerOctets: LARGE },
  ];
}

/** The main loads with more peers, and further loads. `rounds`: number of rounds that need new tokens. */
export async function allLoads(
  ground: Ground,
  rounds: number,
  quick: boolean,
): Promise<readonly PlannedLoad[]> {
  const known = benchRequests(ground.tokens);
  const es256 = benchRequests(await ground.issuer.tokens(ground.tokens.length, 'ES256'));
  const count = quick ? 500 : NEW_TOKENS;
  const fresh = benchRequests(await ground.issuer.tokens(count * (rounds + 1)));
  const http2 = planned('No policy, HTTP/2 over TLS: GET, 1 KiB answers', WITH_TLS, known);
  return [
    ...mainLoads(ground, ALL_PLAIN),
    {
      ...planned('Full policy, every RS256 token new: GET, 1 KiB answers', POLICY, fresh),
      requests: (round) => fresh.slice(round * count, (round + 1) * count),
      once: true,
    },
    planned('Full policy, known ES256 tokens: GET, 1 KiB answers', POLICY, es256),
    planned('No policy: POST of 8 KiB, 1 KiB answers', ALL_PLAIN, posted(known, BODY)),
    { ...planned('No policy, TLS 1.3: GET, 1 KiB answers', WITH_TLS, known), protocol: 'https' },
    ...(installed('h2load') === undefined ? [] : [{ ...http2, protocol: 'h2' } as const]),
  ];
}

/** HTTP/1.1, small responses, the same requests in every round. */
function planned(title: string, peers: readonly PeerName[], requests: readonly BenchRequest[]): PlannedLoad {
  return { title, peers, protocol: 'http', answerOctets: SMALL, requests: () => requests };
}
