// One upstream of the soak, as a process that can be killed and frozen: `echo [port]` or `talk`, which speaks WebSocket.
// Started by house.ts through the bench's children; tells its port and ends with its parent.
import { startEcho } from '../../../upstreams/echo/echo.ts';
import { startWebSocketUpstream } from '../../support/websocket-upstream.ts';

const [role, port = '0'] = process.argv.slice(2);
const url =
  role === 'talk' ? (await startWebSocketUpstream()).url : (await startEcho({ port: Number(port) })).url;
process.send?.({ port: Number(new URL(url).port) });
process.once('disconnect', () => process.exit(0));
