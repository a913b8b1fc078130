// What no response may reveal: error codes, addresses, host names, file names, stack traces.
import { expect } from 'vitest';
import type { Answer } from './http-client.ts';

const INSIDE =
  /ECONN|ENOTFOUND|EAI_|EPROTO|UND_ERR|HPE_|CERT|SSL|127\.0\.0\.1|localhost|nowhere|node:|\.[jt]s\b|\bat \S+:\d|undici|Error:/;

export function expectNothingOfTheCause(answer: Pick<Answer, 'lines' | 'text'>): void {
  expect(`${JSON.stringify(answer.lines)}\n${answer.text}`).not.toMatch(INSIDE);
}
