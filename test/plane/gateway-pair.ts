// A gateway and the raw upstream behind it, for a test that sees the bytes on both sides; they end with the test.
// For server/ and forward/; what a file adds of its own ends in the same way.
import { afterEach } from 'vitest';
import type { UpstreamPlan } from '../../gateway/plan/plan.ts';
import { type GatewayOptions, type GatewayUnderTest, startGateway } from './gateway-under-test.ts';
import { OK, type RawRequest, type RawUpstream, startUpstream } from './raw-sockets.ts';

export interface Pair {
  readonly upstream: RawUpstream;
  readonly gateway: GatewayUnderTest;
}

/** Undefined: nothing is answered yet, or by other means. */
export type Answering = (request: RawRequest, count: number) => string | undefined;
export type AnsweringBody = (request: RawRequest) => string | undefined;

/** Answers at the end of a request. */
export const whenComplete: AnsweringBody = ({ complete }) => (complete ? OK : undefined);

export interface ForEachTest {
  /** Done when the test is over, the latest first. */
  readonly defer: (...cleanups: readonly (() => Promise<void>)[]) => void;
  /** `options` win over the upstream that is started. */
  readonly pair: (answer?: Answering, options?: GatewayOptions, onBody?: AnsweringBody) => Promise<Pair>;
  readonly upstreamThat: (answer?: Answering, onBody?: AnsweringBody) => Promise<RawUpstream>;
  /** Before targets that are there, or are not. */
  readonly gatewayTo: (
    origins: readonly string[],
    changes?: Partial<UpstreamPlan>,
    options?: GatewayOptions,
  ) => Promise<GatewayUnderTest>;
}

/** To be called once, at the top of a test file. */
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
