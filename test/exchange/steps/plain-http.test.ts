// What a plain listener that redirects takes for a credential, beside the names that are always one.
import { expect, it } from 'vitest';
import { plainRefusal } from '../../../gateway/exchange/steps/plain-http.ts';
import { api, plan, view } from '../../support/exchange-samples.ts';

it.each([
  ['x-partner-key', 'plain_http'],
  ['x-other', 'plain_http_moved'],
])('TLS-5: with %s, where an API takes its keys in x-partner-key, it is %s', (name, reason) => {
  const gateway = plan([{ ...api(), keyHeaders: ['x-partner-key'] }]);
  const asked = view({ scheme: 'http', headers: { [name]: 'canary' } });
  expect(plainRefusal('redirect', asked, gateway)).toMatchObject({ reason });
});
