// Rules of the specification on states, endpoints, authentication and events.
import { ENDPOINTS, EVENTS, OAUTH, OTHERS, RECORDS, RESOURCES, SAMPLES, STATES, TOKENS } from './journeys.ts';
import { section } from './rule.ts';

export const STATES_AND_TRANSITIONS = section('States and transitions', [
  ['A new version is planned, then active, beside the active one.', OTHERS.catalog, RESOURCES.parallel],
  ['Deprecated: answers have Deprecation and Sunset.', STATES.stages, SAMPLES.deprecated],
  ['Deprecated: users are told by the changelog and the pages.', OTHERS.changelog],
  ['Deprecated: users are told by e-mail.', OTHERS.mailed],
  ['Deprecated: warnings stand on the dashboard.', OTHERS.warnings],
  ['Deprecated to sunset after the migration period.', STATES.stages],
  ['The end may wait until usage has dropped.', OTHERS.held],
  ['An extension is 3 to 6 months, announced 3 months before the sunset.', STATES.extension],
  ['Retired: 301 to the new version, or 410.', SAMPLES.moved, SAMPLES.gone],
  ['What is deprecated works until its sunset.', STATES.stages, RESOURCES.change, RESOURCES.action],
  ['Use of what is deprecated is watched.', STATES.counted, OTHERS.usage],
  ['A delivery that failed is tried again, each time later.', EVENTS.delivered],
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
  ['The subscriber answers 200, or 401 to an invalid signature.', EVENTS.received],
  ['GET /authorize leads back with code and state.', OAUTH.code],
  ['POST /token takes a form and gives an access token.', OAUTH.code],
]);

export const AUTHENTICATION = section('Authentication', [
  ['Each request to what is protected has its own bearer token.', TOKENS.each, SAMPLES.noToken],
  ['A JWT is validated by its signature.', TOKENS.lifetime],
  ['API keys are credentials too.', OTHERS.keys],
  ['The client redirects with response_type, client_id, redirect_uri, scope and state.', OAUTH.client],
  ['The owner logs in and consents, and is sent back with code and state.', OAUTH.code],
  ['The client checks that the state is its own.', OAUTH.state],
  ['The client posts code, redirect_uri, client_id and client_secret for a token.', OAUTH.code],
  ['The client calls the API with the token.', OAUTH.code, OAUTH.client],
  ['Public clients use PKCE.', TOKENS.refusedFlows, OAUTH.refresh],
  ['There is no implicit flow.', TOKENS.refusedFlows],
  ['Redirect URIs are validated.', OAUTH.redirects],
  ['Scopes are no more than is needed.', OAUTH.code],
  ['Access tokens live one hour at most.', TOKENS.lifetime],
  ['Refresh tokens are rotated.', OAUTH.refresh],
  ['The token endpoint is limited.', OAUTH.tokenLimit],
  ['x-webhook-signature is an HMAC of the whole body with the secret.', EVENTS.delivered],
  ['A time stands against replay.', EVENTS.delivered, EVENTS.received],
  ['A receiver answers 401 to an invalid signature.', EVENTS.received],
  ['The same rules are asked of each request, and allow the least.', TOKENS.each, OTHERS.leastPrivilege],
]);

export const EVENT_RULES = section('Events', [
  ['A subscriber registers url and types and gets a secret.', OTHERS.subscribed, RECORDS.subscription],
  ['An event is POSTed with its record and the signature.', EVENTS.delivered, OTHERS.subscribed],
  ['Types are as payment.completed and payment.failed.', EVENTS.delivered, EVENTS.received],
  ['The subscriber verifies, acknowledges with 200, and drops duplicates by id.', EVENTS.received],
  ['Failed deliveries come again with exponential backoff.', EVENTS.delivered],
  ['Webhooks go to HTTPS addresses only.', RECORDS.badSubscription],
]);
