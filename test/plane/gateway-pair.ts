// Starts a gateway and the raw upstream behind it for a test, and stops both at its end.
import { afterEach } from 'vitest';
import type { UpstreamPlan } from '../../gateway/plan/plan.ts';
import { type GatewayOptions, type GatewayUnderTest, startGateway } from './gateway-under-test.ts';
import { OK, type RawRequest, type RawUpstream, startUpstream } from './raw-sockets.ts';

export interface Pair {
  readonly upstream: RawUpstream;
  readonly gateway: GatewayUnderTest;
}

/** Undefined: no response yet, or the test writes it itself. */
export type Answering = (request: RawRequest, count: number) => string | undefined;
export type AnsweringBody = (request: RawRequest) => string | undefined;

export const whenComplete: AnsweringBody = ({ complete }) => (complete ? OK : undefined);

export interface ForEachTest {
  /** Runs when the test ends, in reverse order. */
  readonly defer: (...cleanups: readonly (() => Promise<void>)[]) => void;
  /** `options` override the upstream that is started. */
  readonly pair: (answer?: Answering, options?: GatewayOptions, onBody?: AnsweringBody) => Promise<Pair>;
  readonly upstreamThat: (answer?: Answering, onBody?: AnsweringBody) => Promise<RawUpstream>;
  /** In front of targets that may be unreachable. */
  readonly gatewayTo: (
    origins: readonly string[],
    changes?: Partial<UpstreamPlan>,
    options?: GatewayOptions,
  ) => Promise<GatewayUnderTest>;
}

/** Call once, at the top of a test file. */
export function forEachTest(): ForEachTest {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  const upstreamThat = async (answer?: Answering, onBody?: AnsweringBody): Promise<RawUpstream> => {
    const upstream = await startUpstream(answer, onBody);
    cleanups.push(upstream.stop);
    return upstream;
  };
  const started = async (options: GatewayOptions): Promise<GatewayUnderTest> => {
    const gateway = await startGateway(options);
    cleanups.push(gateway.stop);
    return gateway;
  };
  return {
    defer: (...more) => void cleanups.push(...more),
    pair: async (answer, options = {}, onBody) => {
      const upstream = await upstreamThat(answer, onBody);
      return { upstream, gateway: await started({ upstream: upstream.origin, ...options }) };
    },
    upstreamThat,
    gatewayTo: (origins, changes = {}, options = {}) =>
      started({ ...options, plan: { targets: origins.map((origin) => ({ origin })), ...changes } }),
  };
}
