// Requests that carry a valid token in wrong and right ways (AUTH-1). TOKEN stands for the token.
import type { ViewParts } from '../../support/exchange-samples.ts';
import { PASS } from './ways.ts';

type Shape = ViewParts;
const line = (authorization: string | readonly string[]): Shape => ({ headers: { authorization } });

export const REQUESTS: readonly (readonly [name: string, request: Shape, status: number, says: string])[] = [
  ['no header line', {}, 401, 'credentials_missing'],
  ['an empty header line', line(''), 401, 'credentials_missing'],
  ['Basic', line('Basic dTpw'), 401, 'credentials_missing'],
  ['Digest', line('Digest username="a"'), 401, 'credentials_missing'],
  ['DPoP', line('DPoP TOKEN'), 401, 'credentials_missing'],
  ['the scheme Token', line('Token TOKEN'), 401, 'credentials_missing'],
  ['the token alone', line('TOKEN'), 401, 'credentials_missing'],
  ['no space', line('BearerTOKEN'), 401, 'credentials_missing'],
  ['a hyphen in the scheme', line('Bearer-Token TOKEN'), 401, 'credentials_missing'],
  ['lower case', line('bearer TOKEN'), 200, PASS],
  ['upper case', line('BEARER TOKEN'), 200, PASS],
  ['two spaces', line('Bearer  TOKEN'), 200, PASS],
  ['one line in a list', line(['Bearer TOKEN']), 200, PASS],
  ['Bearer alone', line('Bearer'), 400, 'credentials_malformed'],
  ['Bearer and a space', line('Bearer '), 400, 'credentials_malformed'],
  ['a tab', line('Bearer\tTOKEN'), 400, 'credentials_malformed'],
  ['a space and a tab', line('Bearer \tTOKEN'), 400, 'credentials_malformed'],
  ['a colon', line('Bearer: TOKEN'), 400, 'credentials_malformed'],
  ['an equals sign', line('Bearer=TOKEN'), 400, 'credentials_malformed'],
  ['more text after it', line('Bearer TOKEN x'), 400, 'credentials_malformed'],
  ['a space after it', line('Bearer TOKEN '), 400, 'credentials_malformed'],
  ['a comma after it', line('Bearer TOKEN,'), 400, 'credentials_malformed'],
  ['two tokens', line('Bearer TOKEN TOKEN'), 400, 'credentials_malformed'],
  ['two, joined by a comma', line('Bearer TOKEN, Bearer TOKEN'), 400, 'credentials_malformed'],
  ['two schemes, joined by a comma', line('Bearer TOKEN, Basic dTpw'), 400, 'credentials_malformed'],
  ['two lines', line(['Bearer TOKEN', 'Bearer TOKEN']), 400, 'credentials_malformed'],
  ['Basic and Bearer, joined by a comma', line('Basic dTpw, Bearer TOKEN'), 401, 'credentials_missing'],
  ['quotes', line('Bearer "TOKEN"'), 400, 'credentials_malformed'],
  ['a parameter', line('Bearer token=TOKEN'), 400, 'credentials_malformed'],
  ['padding before the end', line('Bearer a=.TOKEN'), 400, 'credentials_malformed'],
  ['JSON', line('Bearer {"payload":"x"}'), 400, 'credentials_malformed'],
  ['a line end', line('Bearer TOKEN\n'), 400, 'credentials_malformed'],
  ['a space of no width', line('Bearer TOKEN\u200b'), 400, 'credentials_malformed'],
  ['a letter beyond ASCII', line('Bearer TOK\u00e9N'), 400, 'credentials_malformed'],
  ['in the query', { search: '?access_token=TOKEN' }, 400, 'credentials_in_url'],
  ['in the query too', { ...line('Bearer TOKEN'), search: '?access_token=TOKEN' }, 400, 'credentials_in_url'],
  ['in the query, escaped', { search: '?%61ccess_token=TOKEN' }, 400, 'credentials_in_url'],
  ['in a cookie', { headers: { cookie: 'access_token=TOKEN' } }, 401, 'credentials_missing'],
  ['in another field', { headers: { 'x-access-token': 'TOKEN' } }, 401, 'credentials_missing'],
  [
    'in Proxy-Authorization',
    { headers: { 'proxy-authorization': 'Bearer TOKEN' } },
    401,
    'credentials_missing',
  ],
];
