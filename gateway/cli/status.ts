// `sundial status`: whether the running gateway takes requests, in one line and an exit code.
// What a container's HEALTHCHECK runs; asks readiness, which needs no token.
import { type ReadinessAnswer, readReadiness } from '../api/admin-answers.ts';
import { askPage, stranger } from './admin-client.ts';
import type { ApartResult } from './check.ts';
import { failed, type OperatorFormat } from './operator-result.ts';
import { findProbe, type WhichGateway } from './running-gateway.ts';
import { printable } from './terminal-text.ts';

export interface StatusOptions extends WhichGateway {
  readonly format: OperatorFormat;
}

/** 0 ready, 1 starting or draining, 3 no gateway answers; what is wrong with the gateway file ends it as it does others. */
export async function runStatus({ format, ...which }: StatusOptions): Promise<ApartResult> {
  const probe = await findProbe(which);
  if (probe.kind === 'failed') return failed(probe, format);
  const answer = await askPage(probe.origin, '/-/ready');
  if (answer.kind === 'failed') return failed(answer, format);
  const readiness = readReadiness(answer.body);
  if (readiness === undefined) return failed(stranger(probe.origin), format);
  const stdout = format === 'json' ? `${JSON.stringify(answer.body)}\n` : line(readiness, probe.origin);
  return { exitCode: answer.status === 200 ? 0 : 1, stdout, stderr: '' };
}

function line({ status, detail, store, plan }: ReadinessAnswer, origin: string): string {
  const revision = plan === null ? 'none yet' : plan.slice(0, 12);
  const said = detail === undefined ? status : `${status}, ${printable(detail)}`;
  return `${said}: store ${store.kind} ${store.state}, plan ${revision}, at ${origin}\n`;
}
