// `sundial status`: shows whether the running gateway accepts requests, and which targets fail.
import type { Command } from 'commander';
import { type ReadinessAnswer, readReadiness, readUpstreams } from '../../api/admin-answers.ts';
import { failed, failure, type GatewayClient } from '../admin-call.ts';
import { onGateway, withGateway } from '../admin-command.ts';
import { type ApartResult, shown } from '../command-result.ts';
import type { CommandSetting } from '../command-setting.ts';
import { moment, printable } from '../terminal-text.ts';

const STATUS_CODES = `
Exit codes: 0 ready, 1 starting, draining, store down or findings in the gateway file, 2 wrong usage, or a file that cannot be
read or names no listener, 3 no gateway answers. A failing target is shown and does not change the code.`;

export function addStatusCommand(program: Command, setting: CommandSetting): void {
  const command = program
    .command('status')
    .description('show whether the running gateway accepts requests, and which targets fail; needs no token');
  onGateway(withGateway(command).addHelpText('after', STATUS_CODES), setting, () => showStatus);
}

interface FailingTarget {
  readonly upstream: string;
  readonly target: string;
  readonly since: string | null;
  /** From 0 to 1. */
  readonly share: number;
  readonly error: string | null;
}

async function showStatus(gateway: GatewayClient): Promise<ApartResult> {
  const { readiness, format } = gateway;
  const page = await readiness();
  if (page.kind === 'failed') return failed(page, format);
  const { origin, status, body } = page;
  const answer = readReadiness(body);
  if (answer === undefined)
    return failed(failure(3, `the server at ${origin} is not a Sundial gateway`), format);
  const failing = await failingTargets(gateway);
  const text =
    format === 'json'
      ? `${JSON.stringify({ ...Object(body), ...(failing && { failing }) })}\n`
      : [line(answer, origin), ...(failing ?? []).map(failingLine)].join('');
  return shown(text, status === 200 && answer.store.state === 'up' ? 0 : 1);
}

/** Undefined if the admin listener does not answer, or needs a token that is unavailable. */
async function failingTargets({ ask }: GatewayClient): Promise<readonly FailingTarget[] | undefined> {
  const answered = await ask({ method: 'GET', path: '/-/upstreams' });
  const known = answered.kind === 'failed' ? undefined : readUpstreams(answered.body);
  return known?.upstreams.flatMap(({ upstream, targets }) =>
    targets.flatMap(({ target, failing }) => (failing ? [{ upstream, target, ...failing }] : [])),
  );
}

function line({ status, detail, store, plan }: ReadinessAnswer, origin: string): string {
  const revision = plan === null ? 'none yet' : plan.slice(0, 12);
  const state = status === 'ready' && store.state !== 'up' ? 'not ready' : status;
  const summary = detail === undefined ? state : `${state}, ${printable(detail)}`;
  return `${summary}: store ${store.kind} ${store.state}, plan ${revision}, at ${origin}\n`;
}

function failingLine({ upstream, target, since, share, error }: FailingTarget): string {
  const facts = [
    `${Math.round(share * 100)} % of the calls in the last 60 seconds failed`,
    ...(since === null ? [] : [`failing since ${moment(since)}`]),
    ...(error === null ? [] : [`last error: ${error}`]),
  ];
  return `${printable(`${upstream} at ${target}: ${facts.join(', ')}`)}\n`;
}
