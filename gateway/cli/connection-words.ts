// Describes a failed connection by its error code alone, because the error's text may contain an address.

export function connectionFault(error: unknown, seconds: number): string {
  const name = error instanceof Error ? error.name : '';
  const code = error instanceof Error && 'code' in error ? String(error.code) : name;
  if (name === 'AbortError' || name === 'TimeoutError' || code === 'ABORT_ERR')
    return `no answer within ${seconds} seconds`;
  return inWords(code);
}

function inWords(code: string): string {
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'there is no such host';
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET')
    return 'it hung up without an answer';
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'no way leads there';
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'it does not speak TLS; write http://';
  if (/CERT|SIGNATURE|ALTNAME/.test(code)) return `its certificate is not trusted here (${code})`;
  return code;
}
