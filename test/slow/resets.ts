// An HTTP/2 client that does nothing but reset what it has asked for: connection after connection, until each is ended.
// A process of its own, started by attacks.ts: `node test/slow/resets.ts <port> <resets>`.
import { connect, constants } from 'node:http2';

const [port, resets] = process.argv.slice(2);

let left = Number(resets);
while (left > 0) {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  session.on('error', (error) => {
    // A gateway that has gone is no attack that went well.
    if ('code' in error && error.code === 'ECONNREFUSED') throw error;
  });
  await new Promise((resolve) => session.once('connect', resolve).once('close', resolve));
  while (left > 0 && !session.destroyed && !session.closed) {
    for (let burst = 0; burst < 50 && !session.destroyed && !session.closed; burst += 1) {
      const stream = session.request({ ':path': '/api/slow?delay=5000', ':authority': '127.0.0.1' });
      stream.on('error', () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
      left -= 1;
    }
    // Until the gateway has read them: what is still held back here is no attack.
    await new Promise((resolve) => {
      session.once('close', resolve);
      if (session.destroyed || !session.ping(resolve)) resolve(undefined);
    });
  }
  session.destroy();
}
