// The HTTP/2 client, for one stream. A reset stream or a closed connection is a refusal without a status.
import { type Address, dial, type Received, type Sending } from './client.ts';
import { ACKNOWLEDGED, type Http2Progress, readFrames } from './http2-frames.ts';
import { ORDINARY } from './recorder.ts';

/** Sends the octets and reads the response on stream 1. Never rejects. */
export async function converseInHttp2(
  address: Address,
  { pieces, patienceMs }: Pick<Sending, 'pieces' | 'patienceMs'>,
): Promise<Received> {
  const socket = dial(address, 'h2');
  let bytes = '';
  let ended = false;
  let acknowledged = false;
  socket.setEncoding('latin1');
  socket.on('error', () => undefined);
  for (const piece of pieces) socket.write(piece, 'latin1');
  const progress = await new Promise<Http2Progress>((resolve) => {
    const limit = setTimeout(() => resolve(readFrames(bytes)), patienceMs);
    const look = (): void => {
      const read = readFrames(bytes);
      if (read.settings && !acknowledged) {
        acknowledged = true;
        socket.write(ACKNOWLEDGED, 'latin1');
      }
      if (!read.complete && !read.broken && !ended) return;
      clearTimeout(limit);
      resolve(read);
    };
    socket.on('data', (chunk: string) => {
      bytes += chunk;
      look();
    });
    for (const event of ['end', 'close'])
      socket.once(event, () => {
        ended = true;
        look();
      });
  });
  socket.destroy();
  const { status, body, complete, broken } = progress;
  const fields = body.includes(ORDINARY) ? ([['x-upstream', 'suite']] as const) : [];
  const answer = { status, body, complete, fields, endsWithConnection: false, dirt: [] };
  return { answers: status === 0 ? [] : [answer], closed: broken || ended };
}
