// `node test/slow/resets.ts <port> <resets>`: an HTTP/2 client that resets every request that it sends.
import { connect, constants } from 'node:http2';

const [port, resets] = process.argv.slice(2);

let left = Number(resets);
while (left > 0) {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  session.on('error', (error) => {
    // The attack fails if the gateway has ended.
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
    // Waits until the gateway has read the resets.
    await new Promise((resolve) => {
      session.once('close', resolve);
      if (session.destroyed || !session.ping(resolve)) resolve(undefined);
    });
  }
  session.destroy();
}
