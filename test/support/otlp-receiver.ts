// An OTLP receiver over HTTP that records spans, refuses them, or never responds.
import { once } from 'node:events';
import { createServer } from 'node:http';

interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: number;
}

type Attributes = readonly { readonly key: string; readonly value: AnyValue }[];

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Attributes;
  readonly service: string | undefined;
}

export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly paths: ReadonlySet<string>;
  /** Behaviour from now on. */
  readonly become: (how: 'well' | 'refusing' | 'silent') => void;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const paths = new Set<string>();
  let how: Parameters<OtlpReceiver['become']>[0] = 'well';
  const server = createServer(async (request, response) => {
    paths.add(request.url ?? '');
    const chunks = await request.toArray();
    if (how === 'silent') return;
    if (how === 'well') {
      for (const { resource, scopeSpans } of JSON.parse(Buffer.concat(chunks).toString()).resourceSpans) {
        const named = (resource.attributes as Attributes).find(({ key }) => key === 'service.name');
        const service = named?.value.stringValue;
        for (const { spans: sent } of scopeSpans) for (const span of sent) spans.push({ ...span, service });
      }
    }
    response.writeHead(how === 'well' ? 200 : 400, { 'content-type': 'application/json' });
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    spans,
    paths,
    become: (next) => {
      how = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
