// Rules of the specification on states, endpoints, authentication and events.
import { ENDPOINTS, EVENTS, OAUTH, OTHERS, RECORDS, RESOURCES, SAMPLES, STATES, TOKENS } from './journeys.ts';
import { section } from './rule.ts';

export const STATES_AND_TRANSITIONS = section('States and transitions', [
  ['A new version is planned, then active, beside the active one.', OTHERS.catalog, RESOURCES.parallel],
  ['Deprecated: responses have Deprecation and Sunset.', STATES.stages, SAMPLES.deprecated],
  ['Deprecated: the changelog and the pages inform users.', OTHERS.changelog],
  ['Deprecated: an e-mail informs users.', OTHERS.mailed],
  ['Deprecated: the dashboard shows warnings.', OTHERS.warnings],
  ['Deprecated to sunset after the migration period.', STATES.stages],
  ['The end may wait until usage has dropped.', OTHERS.held],
  ['An extension is 3 to 6 months, announced 3 months before the sunset.', STATES.extension],
  ['Retired: 301 to the new version, or 410.', SAMPLES.moved, SAMPLES.gone],
  ['A deprecated version works until its sunset.', STATES.stages, RESOURCES.change, RESOURCES.action],
  ['Calls of deprecated versions are counted.', STATES.counted, OTHERS.usage],
  ['A failed delivery is retried with growing delays.', EVENTS.delivered],
  ['200 acknowledges a delivery.', EVENTS.delivered, EVENTS.received],
]);

export const ENDPOINT_RULES = section('Endpoints', [
  ['GET a collection: 200, a page.', ENDPOINTS.paged, RESOURCES.pages],
  ['GET an item: 200, its representation.', RESOURCES.get],
  ['POST to a collection: 201, what was created.', RESOURCES.post],
  ['PUT an item: 200, its representation.', RESOURCES.change],
  ['PATCH an item: 200, its representation.', RESOURCES.change],
  ['DELETE an item: 204, no body.', RESOURCES.remove],
  ['A list takes fields.', ENDPOINTS.filtered],
  ['A list takes page and limit.', ENDPOINTS.paged],
  ['Collections are filtered and sorted.', ENDPOINTS.filtered],
  ['POST /api/webhooks: 201 with the secret.', RECORDS.subscription, OTHERS.subscribed],
  ['The callback is a POST of the event with x-webhook-signature.', EVENTS.delivered],
  ['The subscriber responds with 200, or with 401 to an invalid signature.', EVENTS.received],
  ['GET /authorize redirects back with code and state.', OAUTH.code],
  ['POST /token accepts a form and returns an access token.', OAUTH.code],
]);

export const AUTHENTICATION = section('Authentication', [
  ['Each request to a protected resource has its own bearer token.', TOKENS.each, SAMPLES.noToken],
  ['A JWT is validated by its signature.', TOKENS.lifetime],
  ['API keys are credentials too.', OTHERS.keys],
  ['The client redirects with response_type, client_id, redirect_uri, scope and state.', OAUTH.client],
  ['The owner logs in and consents, and returns with code and state.', OAUTH.code],
  ['The client checks that the state is its own.', OAUTH.state],
  ['The client posts code, redirect_uri, client_id and client_secret for a token.', OAUTH.code],
  ['The client calls the API with the token.', OAUTH.code, OAUTH.client],
  ['Public clients use PKCE.', TOKENS.refusedFlows, OAUTH.refresh],
  ['There is no implicit flow.', TOKENS.refusedFlows],
  ['Redirect URIs are validated.', OAUTH.redirects],
  ['A client gets only the scopes that it needs.', OAUTH.code],
  ['Access tokens are valid for at most one hour.', TOKENS.lifetime],
  ['Refresh tokens are rotated.', OAUTH.refresh],
  ['The token endpoint is limited.', OAUTH.tokenLimit],
  ['x-webhook-signature is an HMAC of the whole body with the secret.', EVENTS.delivered],
  ['A timestamp protects against replay.', EVENTS.delivered, EVENTS.received],
  ['A receiver responds with 401 to an invalid signature.', EVENTS.received],
  ['The same rules apply to each request, with least privilege.', TOKENS.each, OTHERS.leastPrivilege],
]);

export const EVENT_RULES = section('Events', [
  ['A subscriber registers url and types and gets a secret.', OTHERS.subscribed, RECORDS.subscription],
  ['An event is POSTed with its record and the signature.', EVENTS.delivered, OTHERS.subscribed],
  ['Types are names such as payment.completed and payment.failed.', EVENTS.delivered, EVENTS.received],
  ['The subscriber verifies, acknowledges with 200, and drops duplicates by id.', EVENTS.received],
  ['Failed deliveries are retried with exponential backoff.', EVENTS.delivered],
  ['Webhooks go to HTTPS addresses only.', RECORDS.badSubscription],
]);
