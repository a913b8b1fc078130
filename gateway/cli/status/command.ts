// `sundial status`: whether the running gateway takes requests, in one line and an exit code; a HEALTHCHECK runs it.
import type { Command } from 'commander';
import { type ReadinessAnswer, readReadiness } from '../../api/admin-answers.ts';
import { failed, failure, type GatewayClient } from '../admin-call.ts';
import { onGateway, withGateway } from '../admin-command.ts';
import { type ApartResult, shown } from '../command-result.ts';
import type { CommandSetting } from '../command-setting.ts';
import { printable } from '../terminal-text.ts';

const STATUS_CODES = `
Exit codes: 0 ready, 1 starting, draining or findings in the gateway file, 2 wrong usage, or a file that cannot be read or
names no listener, 3 no gateway answers.`;

export function addStatusCommand(program: Command, setting: CommandSetting): void {
  const command = program
    .command('status')
    .description('say in one line whether the running gateway takes requests; needs no token');
  onGateway(withGateway(command).addHelpText('after', STATUS_CODES), setting, () => showStatus);
}

async function showStatus({ readiness, format }: GatewayClient): Promise<ApartResult> {
  const page = await readiness();
  if (page.kind === 'failed') return failed(page, format);
  const { origin, status, body } = page;
  const answer = readReadiness(body);
  if (answer === undefined)
    return failed(failure(3, `what answers at ${origin} is no Sundial gateway`), format);
  const text = format === 'json' ? `${JSON.stringify(body)}\n` : line(answer, origin);
  return shown(text, status === 200 ? 0 : 1);
}

function line({ status, detail, store, plan }: ReadinessAnswer, origin: string): string {
  const revision = plan === null ? 'none yet' : plan.slice(0, 12);
  const said = detail === undefined ? status : `${status}, ${printable(detail)}`;
  return `${said}: store ${store.kind} ${store.state}, plan ${revision}, at ${origin}\n`;
}
