// Substitutes `${env:NAME}` and `${file:/path}` in parsed scalars: values cannot change the structure of a document.
import { LEAVES_FOLDER, WRITE_ITS_TARGET } from './links.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Sources {
  /** Whether a link leads the path out of its folder. */
  readonly leavesItsFolder: (path: string) => boolean;
  readonly environment: Environment;
  readonly readSecret: (path: string) => SecretRead;
  /** The values substituted so far, with their variable or file. Messages must not quote them. */
  readonly outside: Map<string, string>;
}

export type SecretRead =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly why: string };

export type Interpolated =
  | { readonly kind: 'literal' }
  /** `from`: the variables and files. These may be shown, the text may not. */
  | {
      readonly kind: 'replaced';
      readonly text: string;
      readonly from: readonly string[];
      /** Whether part of it comes from outside the document. Defaults do not count. */
      readonly outside: boolean;
    }
  /** `from`: the variables and files, as far as they are known. */
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly hint?: string;
      readonly from: readonly string[];
    };

const FORM = /\$\{([^{}]*)\}/g;
const ENV = /^env:([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
const FILE = /^file:(.+)$/s;

/** An empty variable with a default counts as unset. Trailing line ends of files are removed. */
export function interpolate(text: string, sources: Sources): Interpolated {
  if (!text.includes('${')) return { kind: 'literal' };
  let failed: Interpolated | undefined;
  const from: string[] = [];
  let outside = false;
  const fail = (message: string, hint?: string): string => {
    failed ??= { kind: 'failed', message, from, ...(hint !== undefined && { hint }) };
    return '';
  };
  const bringIn = (value: string, origin: string): string => {
    outside = true;
    sources.outside.set(value, origin);
    return value;
  };
  const replaced = text.replace(FORM, (_whole, body: string) => {
    const [, name, fallback] = ENV.exec(body) ?? [];
    if (name !== undefined) {
      const value = sources.environment[name];
      const isSet = value !== undefined && (value !== '' || fallback === undefined);
      from.push(isSet ? name : `the default of ${name}`);
      if (isSet) return bringIn(value, name);
      return fallback ?? fail(`environment variable ${name} is not set and has no default`);
    }
    const path = FILE.exec(body)?.[1];
    if (path === undefined)
      return fail('unknown interpolation', `write \${env:NAME}, \${env:NAME:-default} or \${file:/path}`);
    from.push(path);
    if (sources.leavesItsFolder(path)) return fail(`${path} is ${LEAVES_FOLDER}`, WRITE_ITS_TARGET);
    const secret = sources.readSecret(path);
    return secret.kind === 'read'
      ? bringIn(secret.text.replace(/[\r\n]+$/, ''), path)
      : fail(`cannot read the file ${path}: ${secret.why}`);
  });
  return failed ?? { kind: 'replaced', text: replaced, from, outside };
}
