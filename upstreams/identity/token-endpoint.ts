// POST /token of the sample issuer: the client credentials grant (RFC 6749 §4.4), with errors in OAuth's JSON.
// Pure: reads form text and an Authorization value, decides; server.ts owns the sockets.
import { authenticateClient, type Client } from './clients.ts';

export type TokenDecision =
  | { readonly kind: 'grant'; readonly client: Client; readonly scopes: readonly string[] }
  | {
      readonly kind: 'error';
      readonly status: 400 | 401;
      readonly error: string;
      readonly description: string;
    };

/** Decides a token request (RFC 6749 §3.2, §5.2): `form` is the body, `authorization` the field value if any. */
export function decideToken(form: string, authorization: string | undefined): TokenDecision {
  const fields = new URLSearchParams(form);
  for (const name of fields.keys()) {
    if (fields.getAll(name).length > 1) return refuse('invalid_request', 'A parameter is given twice');
  }
  const credentials = readCredentials(fields, authorization);
  if (credentials === undefined) return refuse('invalid_client', 'Client authentication failed', 401);
  const client = authenticateClient(credentials.id, credentials.secret);
  if (client === undefined) return refuse('invalid_client', 'Client authentication failed', 401);

  const grantType = fields.get('grant_type');
  if (grantType === null) return refuse('invalid_request', 'grant_type is missing');
  if (grantType !== 'client_credentials') {
    return refuse('unsupported_grant_type', 'Only client_credentials is offered');
  }

  const asked = (fields.get('scope') ?? '').split(' ').filter((scope) => scope !== '');
  if (!asked.every((scope) => client.scopes.includes(scope))) {
    return refuse('invalid_scope', 'The client may not have one of the scopes');
  }
  return { kind: 'grant', client, scopes: asked.length === 0 ? client.scopes : asked };
}

function refuse(error: string, description: string, status: 400 | 401 = 400): TokenDecision {
  return { kind: 'error', status, error, description };
}

/** By Basic or in the form, never both (RFC 6749 §2.3). */
function readCredentials(
  fields: URLSearchParams,
  authorization: string | undefined,
): { id: string; secret: string } | undefined {
  const id = fields.get('client_id');
  const secret = fields.get('client_secret');
  if (authorization === undefined) return id === null || secret === null ? undefined : { id, secret };
  const encoded = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization)?.[1];
  if (encoded === undefined || secret !== null) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  // RFC 6749 §2.3.1: both halves are form-encoded before they are joined.
  const basic = new URLSearchParams(`id=${pair.slice(0, colon)}&secret=${pair.slice(colon + 1)}`);
  const basicId = basic.get('id') ?? '';
  if (id !== null && id !== basicId) return undefined;
  return { id: basicId, secret: basic.get('secret') ?? '' };
}
