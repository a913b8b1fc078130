// The loads of `npm run bench` and `npm run bench:all`, and which peers each of them compares.
import { installed } from './children.ts';
import type { Ground } from './ground.ts';
import type { PeerName } from './peers.ts';
import type { Load } from './rounds.ts';
import { benchRequests, LARGE, posted, SMALL } from './work.ts';

/** A load before its peers are started. */
export interface PlannedLoad extends Omit<Load, 'peers'> {
  readonly peers: readonly PeerName[];
}

const POLICY: readonly PeerName[] = ['sundial, policy', 'conventional', 'haproxy, policy'];
const PLAIN: readonly PeerName[] = ['sundial, plain', 'reply-from', 'nginx', 'haproxy, plain'];
const ALL_PLAIN: readonly PeerName[] = [...PLAIN, 'http-proxy-3', 'caddy'];
const WITH_TLS: readonly PeerName[] = ['sundial, plain', 'nginx', 'haproxy, plain', 'caddy'];

/** Tokens of one round that are used once. */
const NEW_TOKENS = 10_000;
const BODY = 8_192;

export const FULL_POLICY = 'Full policy, known RS256 tokens: GET, 1 KiB answers';
export const NO_POLICY_LOAD = 'No policy: GET, 1 KiB answers';

export function mainLoads({ tokens }: Ground, plain: readonly PeerName[] = PLAIN): readonly PlannedLoad[] {
  const small = benchRequests(tokens);
  const large = benchRequests(tokens, '/large');
  return [
    { title: FULL_POLICY, protocol: 'http', requests: () => small, answerOctets: SMALL, peers: POLICY },
    { title: NO_POLICY_LOAD, protocol: 'http', requests: () => small, answerOctets: SMALL, peers: plain },
    {
      ...{ title: 'No policy: GET, 100 KiB answers', protocol: 'http', answerOctets: LARGE },
      ...{ requests: () => large, peers: plain },
    },
  ];
}

/** The main loads with more peers, and further ones. */
export async function allLoads(
  ground: Ground,
  rounds: number,
  quick: boolean,
): Promise<readonly PlannedLoad[]> {
  const known = benchRequests(ground.tokens);
  const es256 = benchRequests(await ground.issuer.tokens(ground.tokens.length, 'ES256'));
  const count = quick ? 500 : NEW_TOKENS;
  const fresh = benchRequests(await ground.issuer.tokens(count * (rounds + 1)));
  const small = { protocol: 'http', answerOctets: SMALL } as const;
  return [
    ...mainLoads(ground, ALL_PLAIN),
    {
      ...{
        title: 'Full policy, every RS256 token new: GET, 1 KiB answers',
        once: true,
        peers: POLICY,
        ...small,
      },
      requests: (round) => fresh.slice(round * count, (round + 1) * count),
    },
    {
      ...small,
      title: 'Full policy, known ES256 tokens: GET, 1 KiB answers',
      requests: () => es256,
      peers: POLICY,
    },
    {
      ...small,
      title: 'No policy: POST of 8 KiB, 1 KiB answers',
      requests: () => posted(known, BODY),
      peers: ALL_PLAIN,
    },
    {
      ...small,
      title: 'No policy, TLS 1.3: GET, 1 KiB answers',
      protocol: 'https',
      requests: () => known,
      peers: WITH_TLS,
    },
    ...(installed('h2load') === undefined
      ? []
      : [
          {
            ...small,
            title: 'No policy, HTTP/2 over TLS: GET, 1 KiB answers',
            protocol: 'h2' as const,
            requests: () => known,
            peers: WITH_TLS,
          },
        ]),
  ];
}
