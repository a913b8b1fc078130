// The head of an upstream's 101: believed only if it answers this very handshake, then made into ours (WS-3, WS-5).
// Used by websocket.ts, before a byte of the tunnel passes.
import { createHash } from 'node:crypto';
import { type IncomingHttpHeaders, type IncomingMessage, validateHeaderValue } from 'node:http';
import { HeaderLines } from '../exchange/answer-headers.ts';
import { Fault } from '../exchange/directive.ts';
import { cleanFields } from './response-headers.ts';

/** RFC 6455 §1.3. */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/**
 * Edits the fields of `answer` in place, which http-proxy-3 writes to the client as they stand.
 * @throws Fault `upstream_invalid` when the upstream has switched to something else, or for somebody else
 */
export function switchedHead(
  answer: IncomingMessage,
  { key, service }: { readonly key: string | undefined; readonly service: string },
  decorate: (headers: HeaderLines) => void,
): void {
  const { headers, httpVersion } = answer;
  const accept = createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64');
  // RFC 9110 §7.8, §15.2: HTTP/1.0 knows neither an upgrade nor a 101.
  const isSwitch = httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket';
  if (!isSwitch || headers['sec-websocket-accept'] !== accept)
    throw new Fault('upstream_invalid', { service });
  const fields = new HeaderLines(headers);
  cleanFields(fields);
  fields.remove('content-length');
  decorate(fields);
  // Of this hop, like the key, and so also where the upstream's Connection names it.
  const ofThisHop = { 'sec-websocket-accept': accept, connection: 'Upgrade', upgrade: 'websocket' };
  const written = fields.record();
  for (const [name, value] of Object.entries(written))
    for (const each of [value].flat()) validateHeaderValue(name, each);
  answer.headers = { ...written, ...ofThisHop } as IncomingHttpHeaders;
}
