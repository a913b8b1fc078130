// An SMTP server that stores mails or refuses them.
import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';

export interface CaughtMail {
  /** The envelope. */
  readonly from: string;
  readonly to: readonly string[];
  /** Header lines, unfolded. */
  readonly headers: readonly string[];
  /** Decoded. */
  readonly text: string;
  readonly html: string;
}

export interface MailCatcher extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly mails: readonly CaughtMail[];
  /** The reply code to every recipient from now on; undefined: accepted. */
  refuse: number | undefined;
}

export async function startMailCatcher({ port = 0 } = {}): Promise<MailCatcher> {
  const mails: CaughtMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onRcptTo: (_address, _session, done) => {
      if (catcher.refuse === undefined) return done();
      done(Object.assign(new Error('not now, or not here'), { responseCode: catcher.refuse }));
    },
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = envelope;
        const from = mailFrom === false ? '' : (mailFrom?.address ?? '');
        const to = rcptTo.map(({ address }) => address);
        mails.push({ from, to, ...partsOf(Buffer.concat(chunks).toString('utf8')) });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : 0;
  const catcher: MailCatcher = {
    port: bound,
    url: `smtp://127.0.0.1:${bound}`,
    mails,
    refuse: undefined,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return catcher;
}

/** The parts of a multipart/alternative of text and HTML. */
function partsOf(raw: string): Pick<CaughtMail, 'headers' | 'text' | 'html'> {
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  const headers = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1] ?? '';
  const parts = rest.join('\r\n\r\n').split(`--${boundary}`);
  const part = (type: string) => decoded(parts.find((each) => each.includes(`Content-Type: ${type}`)) ?? '');
  return { headers, text: part('text/plain'), html: part('text/html') };
}

function decoded(part: string): string {
  const [head = '', ...rest] = part.split('\r\n\r\n');
  const body = rest.join('\r\n\r\n').replace(/\r\n$/, '');
  if (/transfer-encoding: base64/i.test(head)) return Buffer.from(body, 'base64').toString('utf8');
  if (!/quoted-printable/i.test(head)) return body.replaceAll('\r\n', '\n');
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n');
}
