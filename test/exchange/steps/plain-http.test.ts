// Which fields a redirecting plain HTTP listener treats as credentials.
import { expect, it } from 'vitest';
import { plainRefusal } from '../../../gateway/exchange/steps/plain-http.ts';
import { api, plan, view } from '../../support/exchange-samples.ts';

it.each([
  ['x-partner-key', 'plain_http'],
  ['x-other', 'plain_http_moved'],
])('TLS-5: a request with %s is refused as %s if an API reads keys from x-partner-key', (name, reason) => {
  const gateway = plan([{ ...api(), keyHeaders: ['x-partner-key'] }]);
  const request = view({ scheme: 'http', headers: { [name]: 'canary' } });
  expect(plainRefusal('redirect', request, gateway)).toMatchObject({ reason });
});
