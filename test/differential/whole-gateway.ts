// A whole gateway on one plane in this process, with its access log, metrics and ledger.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../gateway/gateway.ts';
import type { PlaneName } from '../../gateway/plan/bounds.ts';
import { renderProblems } from '../../gateway/plan/problems.ts';
import { overHttp1 } from '../support/http-client.ts';

export type AccessLine = Readonly<Record<string, unknown>>;

export interface WholeGateway extends AsyncDisposable {
  readonly port: number;
  /** Access lines since the last call, without times and random identifiers. */
  readonly accessLines: () => readonly AccessLine[];
  readonly requestMetrics: () => Promise<readonly string[]>;
  /** Requests by plane and reason, from `sundial_plane_requests_total`. */
  readonly carried: () => Promise<ReadonlyMap<string, number>>;
  /** The rows of the ledger, with days in place of times. */
  readonly ledger: () => Promise<unknown>;
}

/**
 * Durations, and metrics of a process, a plane or a file. The plane decides how many octets it reads before
 * an early response.
 */
const OF_THE_PROCESS =
  /^sundial_(?:plane_|ledger_(?:flushes|pending)|config_info|upstream_recent|request_bytes)|_seconds(?!_count)/;
/** undici reports some resets as malformed responses. The comparison of access lines allows for these. */
const BROKEN = /^(sundial_upstream_requests_total\{.*outcome=")(?:reset|invalid)"\} (\d+)$/;
const CARRIED = /^sundial_plane_requests_total\{(.*)\} (\d+)$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws Error with the problems if the YAML beside this file is refused */
export async function startWholeGateway(
  plane: PlaneName,
  environment: Readonly<Record<'ISSUER' | 'SERVICE', string>>,
): Promise<WholeGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'sundial-differential-'));
  let log = '';
  const started = await startGateway({
    configFile: join(import.meta.dirname, 'gateway.yaml'),
    environment: { ...environment, DATA: folder, PLANE: plane },
    log: {
      write(text: string) {
        log += text;
      },
    },
  });
  if (started.kind === 'rejected') throw new Error(renderProblems(started.problems, { colour: false }));
  const { gateway } = started;
  const { http, admin } = gateway.facts.listeners;
  const ask = async (path: string): Promise<string> => {
    await using client = overHttp1(admin?.address.port ?? 0, { tls: false });
    const { status, text } = await client.ask({ path });
    if (status !== 200) throw new Error(`${path} answers ${status}: ${text}`);
    return text;
  };
  const metrics = async (): Promise<readonly string[]> => {
    const text = await ask('/metrics');
    return text.split('\n').filter((line) => line.startsWith('sundial_'));
  };
  return {
    port: http?.address.port ?? 0,
    accessLines() {
      // A line of the logger flushes the buffered access lines.
      gateway.logger.info('access lines are read');
      const lines = log.split('\n').filter((line) => line.includes('"log":"access"'));
      log = '';
      return lines.map(comparedLine);
    },
    requestMetrics: async () =>
      withBrokenTogether((await metrics()).filter((line) => !OF_THE_PROCESS.test(line))),
    carried: async () =>
      new Map(
        (await metrics()).flatMap((line) => {
          const [, labels, count] = CARRIED.exec(line) ?? [];
          return labels === undefined ? [] : [[labels, Number(count)] as const];
        }),
      ),
    ledger: async () => JSON.parse((await ask('/-/usage')).replaceAll(/(\d{4}-\d\d-\d\d)T[\d:.]+Z/g, '$1')),
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function withBrokenTogether(lines: readonly string[]): readonly string[] {
  const broken = new Map<string, number>();
  const others = lines.filter((line) => {
    const [, series = '', count] = BROKEN.exec(line) ?? [];
    if (count === undefined) return true;
    broken.set(series, (broken.get(series) ?? 0) + Number(count));
    return false;
  });
  return [...others, ...broken.entries().map(([series, count]) => `${series}broken"} ${count}`)];
}

/** Each plane has its own target, and its own libraries with their own error texts. */
function comparedLine(line: string): AccessLine {
  const { time, trace_id, duration_ms, upstream_ms, request_id, error, target, ...others } = JSON.parse(line);
  const wasCalled = target !== undefined;
  return { ...others, wasCalled, request_id: UUID.test(request_id) ? 'uuid' : request_id };
}
