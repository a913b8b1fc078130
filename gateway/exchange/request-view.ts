// A request as the exchange sees it: transport-free, the target URI already rebuilt and judged.
// Made by a listener, read by the pipeline and the policies.
import type { ClientCertificate } from '../policy/authentication/access.ts';
import type { FieldRecord, Fields } from '../policy/contract.ts';
import type { Trace } from './trace.ts';

/** Methods this gateway implements; any other token is answered 501 (FWD-15). */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Fields read from the record that Node makes of them; nothing is copied. */
export class RecordFields implements Fields {
  private readonly record: FieldRecord;

  constructor(record: FieldRecord = {}) {
    this.record = record;
  }

  get(name: string): string | undefined {
    const value = this.record[name];
    return typeof value === 'object' ? value.join(', ') : value;
  }

  each(visit: (name: string, value: string) => void): void {
    for (const name in this.record) {
      const value = this.record[name];
      if (typeof value === 'object') for (const line of value) visit(name, line);
      else if (value !== undefined) visit(name, value);
    }
  }
}

/** What every answer needs of its request, and all there is of one that was refused before it could be judged. */
export interface RequestGlimpse {
  readonly scheme: 'https' | 'http';
  readonly headers: Fields;
  /** As in the view; undefined where it was not read. */
  readonly host?: string;
  readonly path?: string;
}

export interface RequestView extends RequestGlimpse {
  readonly method: string;
  /** Lower-case names of the fields that are left out because of a `_` in their name (SMG-25). */
  readonly underscored?: readonly string[] | undefined;
  /** Host of the request's authority, lower case, without port (IPv6 in brackets). */
  readonly host: string;
  /** The certificate of the connection is not for `host`. Where there is none, every host may be asked for. */
  readonly misdirected?: boolean;
  /** Whether the connection is to become a WebSocket. */
  readonly webSocket?: boolean;
  /** Normalised by VER-7, percent-encoding kept, always starting with `/`. The same bytes are forwarded (ORD-2). */
  readonly path: string;
  /** The bytes from `?` on, verbatim; empty when there is no `?`. */
  readonly search: string;
  /** The client, after trusted proxies; IPv6 as /64 where it keys a limit. */
  readonly clientAddress: string;
  /** A trusted proxy sent it, which says by its own fields where the client comes from. */
  readonly viaTrusted?: boolean;
  readonly requestId: string;
  /** What the upstream is told of the trace. */
  readonly trace?: Trace | undefined;
  /** Proven, of a client that opened the connection itself. */
  readonly clientCertificate?: ClientCertificate | undefined;
}
