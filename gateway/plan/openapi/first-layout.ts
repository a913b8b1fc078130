// Chooses name, version, paths and upstream of a first policy, from a description if there is one.
import { isLoopback } from '../../policy/notation.ts';
import { isDate, parseLabel } from '../../policy/versioning/label.ts';
import type { CheckContext } from '../../sections/view.ts';
import { reaches } from '../grammar/addresses.ts';
import { reservedPath } from '../routes/reserved-paths.ts';
import type { Description } from './description.ts';
import { segmentsOf, serverPath } from './placement.ts';

interface ChosenValue {
  readonly value: string;
  /** The reason, for a comment in the policy. */
  readonly why: string;
}

export interface FirstLayout {
  readonly name: string;
  readonly label: ChosenValue;
  readonly base: ChosenValue;
  readonly versionedPath: ChosenValue | undefined;
  readonly target: ChosenValue;
  readonly upstreamPath: ChosenValue;
}

const PLAIN = /^[A-Za-z0-9._~-]+$/;
const FIRST_FREE_PORT = 8081;

/** `service`: the origin of the upstream; takes precedence over `servers`. */
export function layOut(
  description: Description | undefined,
  service: string | undefined,
  checkContext: CheckContext,
): FirstLayout {
  const target =
    service === undefined
      ? targetOf(description?.servers[0], checkContext)
      : { value: service, why: 'from --service' };
  if (description === undefined) {
    return {
      name: 'api',
      label: { value: 'v1', why: 'the version that the service has today' },
      base: { value: '/', why: 'every path; a narrower one leaves room for further policies' },
      versionedPath: undefined,
      target,
      upstreamPath: { value: '/', why: 'the path of the service' },
    };
  }
  const name = slugOf(description.title ?? '');
  const server = segmentsOf(serverPath(description.servers[0]));
  const shared = sharedBeginning(description.operations.map(({ path }) => segmentsOf(path)));
  const whole = server.every(isPlain) ? [...server, ...shared] : shared;
  const versionAt = whole.findIndex((segment) => parseLabel(segment) !== undefined);
  const labelInPath = whole[versionAt];
  const unversioned = pathOf(whole.filter((_, index) => index !== versionAt));
  const isUsable = unversioned !== '/' && reservedPath(unversioned) === undefined;
  return {
    name,
    label:
      labelInPath === undefined ? labelOf(description.version) : { value: labelInPath, why: 'from its path' },
    base: isUsable
      ? { value: unversioned, why: 'the path for clients, without the version' }
      : { value: `/${name}`, why: 'the description has no usable path' },
    versionedPath:
      labelInPath === undefined || reservedPath(pathOf(whole)) !== undefined
        ? undefined
        : { value: pathOf(whole.with(versionAt, '{version}')), why: 'from the description' },
    target,
    upstreamPath: { value: pathOf(whole), why: 'the path of the service' },
  };
}

/** Letters, digits and hyphens, without the suffix `-api` or `-service`. */
function slugOf(title: string): string {
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  const slug = words.replace(/^[-0-9]+|-+$/g, '').replace(/-(api|service)$/, '');
  return slug.slice(0, 60).replace(/-+$/, '') || 'api';
}

function labelOf(version: string | undefined): ChosenValue {
  if (version !== undefined && isDate(version)) return { value: version, why: 'from info.version' };
  const major = /^v?(0|[1-9]\d{0,3})(\.|$)/.exec(version ?? '')?.[1];
  return major === undefined
    ? { value: 'v1', why: 'the first: info.version has no number' }
    : { value: `v${major}`, why: `from info.version ${version}` };
}

function targetOf(server: string | undefined, checkContext: CheckContext): ChosenValue {
  const url = server !== undefined && URL.canParse(server) ? new URL(server) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) {
    const isOurs =
      checkContext.listeners.some(({ address }) => reaches(url.origin, address)) ||
      (checkContext.public !== undefined && new URL(checkContext.public).host === url.host);
    if (!isOurs) {
      const why = isLoopback(url.hostname)
        ? 'from servers'
        : 'from servers: replace it with the address of the service behind the gateway';
      return { value: url.origin, why };
    }
  }
  let port = FIRST_FREE_PORT;
  while (checkContext.listeners.some(({ address }) => reaches(`http://127.0.0.1:${port}`, address)))
    port += 1;
  return {
    value: `http://127.0.0.1:${port}`,
    why: 'a placeholder: servers names no address behind the gateway',
  };
}

/** The literal segments that all paths start with. */
function sharedBeginning(paths: readonly (readonly string[])[]): readonly string[] {
  const [first = []] = paths;
  const end = first.findIndex(
    (segment, index) => !isPlain(segment) || paths.some((path) => path[index] !== segment),
  );
  return end < 0 ? first : first.slice(0, end);
}

function isPlain(segment: string): boolean {
  return PLAIN.test(segment) && segment !== '.' && segment !== '..';
}

function pathOf(segments: readonly string[]): string {
  return `/${segments.join('/')}`;
}
