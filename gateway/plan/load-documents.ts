// The files behind a plan, read and checked one by one and together; nothing is compiled here.
// `load.ts` decides what becomes of them.
import { dirname, relative, resolve } from 'node:path';
import type { EpochMs } from '../policy/contract.ts';
import { checkGateway } from './check/gateway.ts';
import { checkPolicy } from './check/policy.ts';
import { checkTogether } from './check/together.ts';
import { type GatewayView, type PolicyView, reporter, type Surroundings, viewPolicy } from './check/views.ts';
import { type GatewayFile, gatewayGrammar, gatewayPartsGrammar } from './grammar/gateway-grammar.ts';
import { type PolicyFile, policyGrammar, policyPartsGrammar } from './grammar/policy-grammar.ts';
import { withInherited } from './inherited.ts';
import { type DescriptionCache, readDescriptions } from './openapi/read-descriptions.ts';
import type { Problem } from './problems.ts';
import type { PublishedFile } from './published-record.ts';
import { readDocument, type SourceDocument } from './read/document.ts';
import {
  checkPair,
  digest,
  type FileRead,
  type ReadFile,
  readCapped,
  readSecret,
  tryRead,
} from './read/files.ts';
import type { Environment } from './read/interpolate.ts';
import { checkShape } from './read/shape.ts';
import { switchedReport } from './rules/switch.ts';

export interface LoadOptions {
  readonly configFile: string;
  readonly environment: Environment;
  /** Lifecycle instant of the checks: a version whose sunset has passed needs no upstream. */
  readonly now: EpochMs;
  /** Folders of the process and printed paths are relative to it; default: the working directory. */
  readonly cwd?: string;
  readonly readFile?: ReadFile;
  /** Kept by whoever loads again and again. */
  readonly descriptions?: DescriptionCache;
}

export interface PolicySource {
  readonly file: PolicyFile;
  readonly document: SourceDocument;
}

export interface Policies {
  readonly problems: readonly Problem[];
  /** Files with nothing wrong in their shape, and where in them everything stands. */
  readonly sources: readonly PolicySource[];
  /** Every file that could be read, as far as it is well formed. */
  readonly views: readonly PolicyView[];
  /** What the revision is made of. */
  readonly bytes: readonly (Uint8Array | string)[];
  /** Every file that could be read, descriptions included, as it was written. */
  readonly files: readonly PublishedFile[];
  /** Absolute paths of the descriptions that versions name. */
  readonly descriptions: readonly string[];
}

export interface Gateway {
  readonly problems: readonly Problem[];
  readonly whole: GatewayFile | undefined;
  readonly view: GatewayView | undefined;
  readonly document: SourceDocument;
  readonly revision: string;
}

const ACCESS_MISSING = 'no access rule: write "access: public", or name an identity and its scopes';

export function contextOf(options: LoadOptions) {
  const cwd = options.cwd ?? process.cwd();
  return {
    ...options,
    cwd,
    configFile: resolve(cwd, options.configFile),
    readFile: options.readFile ?? readCapped,
    descriptions: options.descriptions ?? new Map(),
  };
}

export type Context = ReturnType<typeof contextOf>;

export async function readGateway(context: Context): Promise<Gateway> {
  const read = await tryRead(context.configFile, context.readFile);
  const document = documentOf(context, context.configFile, read);
  const revision = read.kind === 'read' ? digest([read.bytes]) : '';
  if (document.value === undefined)
    return { problems: document.problems, whole: undefined, view: undefined, document, revision };
  const elsewhere = { keys: Object.keys(policyGrammar.shape), file: 'a policy file' };
  const shaped = checkShape(document, gatewayGrammar, gatewayPartsGrammar, { elsewhere });
  const problems = [...document.problems, ...shaped.problems];
  const view: GatewayView = { document, parts: shaped.parts };
  const report = reporter(document, problems);
  checkGateway(view, report);
  for (const [index, { cert, key }] of (shaped.parts.listeners?.https?.tls?.certificates ?? []).entries()) {
    const folder = dirname(context.configFile);
    const wrong = await checkPair(
      { cert: resolve(folder, cert), key: resolve(folder, key) },
      context.readFile,
    );
    if (wrong === undefined) continue;
    report(['listeners', 'https', 'tls', 'certificates', index, wrong.at], {
      rule: 'certificate',
      message: wrong.message,
    });
  }
  return { problems, whole: shaped.whole, view, document, revision };
}

export async function readPolicies(
  context: Context,
  files: readonly string[],
  around: Surroundings,
): Promise<Policies> {
  const elsewhere = { keys: Object.keys(gatewayGrammar.shape), file: shownPath(context, context.configFile) };
  const advice = { elsewhere, missing: { access: ACCESS_MISSING } };
  const problems: Problem[] = [];
  const sources: PolicySource[] = [];
  const bytes: (Uint8Array | string)[] = [];
  const views: PolicyView[] = [];
  const written: PublishedFile[] = [];
  const descriptions: string[] = [];
  for (const file of files) {
    const read = await tryRead(file, context.readFile);
    const policy = withInherited(documentOf(context, file, read));
    const described = await readDescriptions(file, policy, {
      readFile: context.readFile,
      shown: (path) => shownPath(context, path),
      cache: context.descriptions,
    });
    const { document } = described;
    problems.push(...document.problems, ...described.problems);
    descriptions.push(...described.files);
    if (read.kind === 'read') {
      bytes.push(read.bytes, ...document.broughtIn, ...described.texts.map(({ text }) => text));
      written.push(
        { kind: 'policy', name: document.file, text: new TextDecoder().decode(read.bytes) },
        ...described.texts,
      );
    }
    if (document.value === undefined) continue;
    const { whole, parts, problems: found } = checkShape(document, policyGrammar, policyPartsGrammar, advice);
    problems.push(...found);
    if (whole !== undefined) sources.push({ file: whole, document });
    const view = viewPolicy(document, parts);
    views.push(view);
    checkPolicy(view, around, reporter(document, problems));
    for (const { finding, place } of described.findings)
      switchedReport(parts.rules, (_, switched) => problems.push(place(switched)))([], finding);
  }
  problems.push(...checkTogether(views, around.public));
  return { problems, sources, views, bytes, files: written, descriptions };
}

export function documentOf(context: Context, file: string, read: FileRead): SourceDocument {
  const shown = shownPath(context, file);
  const sources = {
    environment: context.environment,
    readSecret: (path: string) => readSecret(resolve(dirname(file), path)),
  };
  const document = readDocument(shown, read.kind === 'read' ? read.bytes : new Uint8Array(), sources);
  if (read.kind === 'read') return document;
  const problem: Problem = {
    file: shown,
    line: 1,
    column: 1,
    severity: 'error',
    rule: 'unreadable',
    message: `cannot read: ${read.why}`,
  };
  return { ...document, problems: [problem] };
}

export function nothingMatched(gateway: SourceDocument): Problem {
  return gateway.problem(['policies'], { rule: 'policies', message: 'no policy file matches' });
}

function shownPath({ cwd }: Context, file: string): string {
  return relative(cwd, file) || file;
}
