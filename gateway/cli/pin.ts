// `sundial pin`: the version an account is pinned to, its upgrade, and taking the last upgrade back within 72 hours.
// Speaks to the admin listener of a running gateway.
import { readPinAnswer } from '../api/admin-answers.ts';
import { nextCommand } from '../plan/next-command.ts';
import { type AdminAsk, askGateway, segment } from './admin-client.ts';
import { pinText } from './admin-text.ts';
import type { ApartResult } from './check.ts';
import { type OperatorFormat, told } from './operator-result.ts';
import type { WhichGateway } from './running-gateway.ts';

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

export async function runPin({ format, api, account, ask, ...which }: PinOptions): Promise<ApartResult> {
  const answer = await askGateway(which, requestOf(`/-/pins/${segment(api)}/${segment(account)}`, ask));
  return told(answer, readPinAnswer, { format, render: (pin) => pinText(pin, nextCommand(which)) });
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
    default:
      return ask satisfies never;
  }
}
