// The routes of the admin listener: pages and writes, matched on raw paths.
import { type MaybePromise, StoreUnavailable } from '../policy/contract.ts';
import type { AuditEntry } from '../telemetry/logs/logger.ts';
import { type AdminAnswer, storeUnavailable } from './answers.ts';

export interface AdminRequest {
  /** The decoded segment at `{name}` of the path. */
  readonly parameter: (name: string) => string;
  readonly query: URLSearchParams;
  readonly accept: string | undefined;
  readonly cookie?: string | undefined;
  readonly body: unknown;
}

export interface AdminPage {
  readonly method: 'GET';
  /** Segments in braces are parameters: `/-/pins/{api}/{account}`. */
  readonly path: string;
  readonly alias?: boolean;
  /** Needs no token, even off loopback. */
  readonly open?: boolean;
  readonly show: (request: AdminRequest) => MaybePromise<AdminAnswer>;
}

export interface AdminWrite {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Label in the audit trail and in metrics. */
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
  /** Needs no token: the route checks the token itself or ends a session. */
  readonly open?: boolean;
  /** Rejects with `StoreUnavailable` if nothing could be stored. */
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
  /** A segment is not percent-encoded UTF-8. */
  | { readonly kind: 'malformed' }
  /** `allow`: the methods of the path. */
  | { readonly kind: 'method'; readonly allow: string };

/** HEAD is allowed wherever GET is (FWD-15). `url`: as received. The query is ignored. */
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

/** If the store is unavailable: ERR-5 with `audit`, because the write may have happened. */
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
