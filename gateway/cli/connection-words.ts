// Describes a failed connection by its error code alone, because the error's text may contain an address.

export function connectionFault(error: unknown, seconds: number): string {
  const name = error instanceof Error ? error.name : '';
  const code = error instanceof Error && 'code' in error ? String(error.code) : name;
  if (name === 'AbortError' || name === 'TimeoutError' || code === 'ABORT_ERR')
    return `no answer within ${seconds} seconds`;
  return inWords(code);
}

function inWords(code: string): string {
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the host name is unknown';
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET')
    return 'the connection was closed without a response';
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'there is no network route to it';
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'it does not use TLS; write http://';
  if (/CERT|SIGNATURE|ALTNAME/.test(code)) return `its certificate is not trusted here (${code})`;
  return code;
}
