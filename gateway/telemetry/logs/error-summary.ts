// Summarises errors for the log, without secrets.

const TEXT_CAP = 2000;
const CAUSES_CAP = 8;
const FRAMES_CAP = 3;
const CODE_CAP = 128;
const FRAME_CAP = 512;

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/(:\/\/)[^\s"']*@/g, '$1[redacted]@'],
  [/(:\/\/[^\s"'?]*)\?[^\s"']*/g, '$1?[redacted]'],
  [/\b(bearer|basic|dpop)\s+[^\s"',;]+/gi, '$1 [redacted]'],
  [/\beyJ[\w-]+(?:\.[\w-]*)+/g, '[redacted]'],
];

/** Removes user information and queries of URLs, credentials, and tokens. Returns at most 2000 characters. */
export function redactSecrets(text: string): string {
  let clean = text.length > TEXT_CAP ? `${text.slice(0, TEXT_CAP)}…` : text;
  for (const [pattern, replacement] of SECRETS) clean = clean.replace(pattern, replacement);
  return clean;
}

/**
 * Omits the error's own fields, which may hold a request or a configuration. `causes`: the codes of its causes, nearest
 * first. `at`: stack frames of the innermost error.
 */
export function summariseError(thrown: unknown) {
  if (!(thrown instanceof Error)) return { code: 'not_an_error', message: typeof thrown, causes: [], at: [] };
  const causes: string[] = [];
  const seen = new Set<unknown>([thrown]);
  let innermost = thrown;
  const waiting = behind(thrown);
  for (let next = waiting.shift(); next !== undefined && causes.length < CAUSES_CAP; next = waiting.shift()) {
    if (seen.has(next)) continue;
    seen.add(next);
    causes.push(codeOf(next));
    innermost = next;
    waiting.push(...behind(next));
  }
  return { code: codeOf(thrown), message: redactSecrets(thrown.message), causes, at: framesOf(innermost) };
}

function behind(error: Error): Error[] {
  const several = error instanceof AggregateError ? error.errors : [];
  return [error.cause, ...several].filter((candidate) => candidate instanceof Error);
}

function codeOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return redactSecrets(code).slice(0, CODE_CAP);
}

function framesOf(error: Error): string[] {
  const lines = error.stack?.split('\n') ?? [];
  return lines
    .filter((line) => /^\s+at /.test(line))
    .slice(0, FRAMES_CAP)
    .map((line) => line.trim().slice('at '.length, FRAME_CAP));
}
