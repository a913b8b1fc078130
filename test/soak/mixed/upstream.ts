// An upstream process of the soak: `echo [port]`, or `talk` for WebSocket. It ends with its parent.
import { startEcho } from '../../../upstreams/echo/echo.ts';
import { startWebSocketUpstream } from '../../support/websocket-upstream.ts';

const [role, port = '0'] = process.argv.slice(2);
const url =
  role === 'talk' ? (await startWebSocketUpstream()).url : (await startEcho({ port: Number(port) })).url;
process.send?.({ port: Number(new URL(url).port) });
process.once('disconnect', () => process.exit(0));
