// What the admin listener answers to: pages that show and writes that change, by path. One table, matched on raw paths.
import { type MaybePromise, StoreUnavailable } from '../policy/contract.ts';
import type { AuditEntry } from '../telemetry/logs/logger.ts';
import { type AdminAnswer, storeUnavailable } from './answers.ts';

export interface AdminRequest {
  /** The decoded segment at `{name}` of the path. */
  readonly parameter: (name: string) => string;
  /** As sent, decoded; for pages that take any. */
  readonly query: URLSearchParams;
  readonly accept: string | undefined;
  /** The Cookie field; whose session it names is asked of the sessions. */
  readonly cookie?: string | undefined;
  readonly body: unknown;
}

export interface AdminPage {
  readonly method: 'GET';
  /** Segments in braces are parameters: `/-/pins/{api}/{account}`. */
  readonly path: string;
  readonly alias?: boolean;
  /** Needs no token even where the listener is not on loopback: health and metrics. */
  readonly open?: boolean;
  readonly show: (request: AdminRequest) => MaybePromise<AdminAnswer>;
}

export interface AdminWrite {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** For audit and metrics, from a closed list. */
  readonly action:
    | 'pause'
    | 'end_pause'
    | 'upgrade_pin'
    | 'roll_back_pin'
    | 'add_key'
    | 'rotate_key'
    | 'revoke_key'
    | 'erase_usage'
    | 'send_notices'
    | 'replay_deliveries'
    | 'reload'
    | 'accept'
    | 'backup'
    | 'set_log_level'
    | 'sign_in'
    | 'sign_out';
  /** Needs no token: it is asked for one itself, or gives up what one has. */
  readonly open?: boolean;
  /** Rejects with `StoreUnavailable` when nothing could be stored. */
  readonly perform: (request: AdminRequest) => Promise<AdminWriteResult>;
}

export interface AdminWriteResult {
  readonly answer: AdminAnswer;
  readonly audit: Omit<AuditEntry, 'action' | 'from'>;
}

export type AdminRoute = AdminPage | AdminWrite;

export type AdminRouteMatch =
  | { readonly kind: 'found'; readonly route: AdminRoute; readonly parameters: ReadonlyMap<string, string> }
  | { readonly kind: 'unknown' }
  /** A segment is no percent-encoded UTF-8. */
  | { readonly kind: 'malformed' }
  /** `allow`: methods that the path has. */
  | { readonly kind: 'method'; readonly allow: string };

/** HEAD is offered wherever GET is (FWD-15). `url` as received; its query is not looked at. */
export function matchRoute(routes: readonly AdminRoute[], method: string, url: string): AdminRouteMatch {
  const [path = ''] = url.split('?', 1);
  const segments = path.split('/');
  const here = routes.filter((route) => fits(route.path.split('/'), segments));
  if (here.length === 0) return { kind: 'unknown' };
  const route = here.find((each) => each.method === (method === 'HEAD' ? 'GET' : method));
  if (route === undefined) {
    const allow = here.flatMap((each) => (each.method === 'GET' ? ['GET', 'HEAD'] : [each.method]));
    return { kind: 'method', allow: allow.join(', ') };
  }
  const parameters = new Map<string, string>();
  for (const [index, template] of route.path.split('/').entries()) {
    if (!isParameter(template)) continue;
    const value = decoded(segments[index] ?? '');
    if (value === undefined) return { kind: 'malformed' };
    parameters.set(template.slice(1, -1), value);
  }
  return { kind: 'found', route, parameters };
}

/**
 * What `store` makes of a write. ERR-5 while the store is away, with `audit`, which is what was asked for: the write may have
 * happened.
 */
export async function orStoreUnavailable(
  audit: AdminWriteResult['audit'],
  store: () => Promise<AdminWriteResult>,
): Promise<AdminWriteResult> {
  try {
    return await store();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { answer: storeUnavailable({ wrote: true }), audit };
  }
}

function fits(templates: readonly string[], segments: readonly string[]): boolean {
  return (
    templates.length === segments.length &&
    templates.every((template, index) =>
      isParameter(template) ? segments[index] !== '' : template === segments[index],
    )
  );
}

function isParameter(template: string): boolean {
  return template.startsWith('{');
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
