// `sundial pin`: the version an account is pinned to, its upgrade, and taking the last upgrade back within 72 hours.
// Speaks to the admin listener of a running gateway.
import { readPinAnswer } from '../plan/admin-answers.ts';
import { nextCommand } from '../plan/next-command.ts';
import { type AdminAsk, askAdmin, segment } from './admin-client.ts';
import { pinText } from './admin-text.ts';
import { failed, type OperatorFormat, type OperatorResult, told } from './operator-result.ts';
import { findGateway, type WhichGateway } from './running-gateway.ts';

export interface PinOptions extends WhichGateway {
  readonly format: OperatorFormat;
  readonly api: string;
  readonly account: string;
  readonly ask: PinAsk;
}

export type PinAsk =
  | { readonly kind: 'show' }
  | {
      readonly kind: 'upgrade';
      readonly version: string;
      /** When the account was made, as written; undefined: not said. */
      readonly created: string | undefined;
      readonly by: string;
      readonly why: string;
    }
  | { readonly kind: 'roll-back'; readonly by: string; readonly why: string };

export async function runPin({ format, api, account, ask, ...which }: PinOptions): Promise<OperatorResult> {
  const door = await findGateway(which);
  if (door.kind === 'failed') return failed(door, format);
  const answer = await askAdmin(door, requestOf(`/-/pins/${segment(api)}/${segment(account)}`, ask));
  if (answer.kind === 'failed') return failed(answer, format);
  return told(answer.body, readPinAnswer, {
    format,
    render: (answer) => pinText(answer, nextCommand(which)),
  });
}

function requestOf(path: string, ask: PinAsk): AdminAsk {
  switch (ask.kind) {
    case 'show':
      return { method: 'GET', path };
    case 'upgrade': {
      const { version, created, by, why } = ask;
      return { method: 'PUT', path, body: { version, ...(created !== undefined && { created }), by, why } };
    }
    case 'roll-back':
      return { method: 'POST', path: `${path}/roll-back`, body: { by: ask.by, why: ask.why } };
    default: {
      const never: never = ask;
      throw new Error(`unhandled ask ${String(never)}`);
    }
  }
}
