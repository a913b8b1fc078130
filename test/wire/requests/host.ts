// Host and the authority of absolute-form targets, which may differ (RFC 9112 §3.2; SMG-6, SMG-7; TLS-4).
import type { RequestCase } from '../wire-case.ts';
import { either, refused, served } from './rows.ts';

const hosts = (id: string, title: string, ...lines: string[]): RequestCase =>
  refused(
    id,
    'SMG-6',
    title,
    (w) => `GET ${w.path} HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`,
    {
      lax: [],
      staysOpen: true,
    },
  );

const unknown = (id: string, title: string, host: string): RequestCase => ({
  ...refused(id, 'SMG-7', title, (w) => `GET ${w.path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
  status: [421, 404, 400],
  staysOpen: true,
});

const absolute = (
  id: string,
  title: string,
  authority: string,
  more: Partial<RequestCase> = {},
): RequestCase =>
  refused(id, 'SMG-7', title, (w) => w.target(`${authority}${w.path}`), { staysOpen: true, ...more });

export const host: readonly RequestCase[] = [
  hosts('host-missing', 'no Host'),
  hosts('host-two', 'two, different', 'Host: api.example.com', 'Host: evil.example'),
  hosts('host-two-reverse', 'two, the known one last', 'Host: evil.example', 'Host: api.example.com'),
  hosts('host-two-equal', 'two, equal', 'Host: api.example.com', 'Host: api.example.com'),
  hosts('host-two-case', 'two, in another case', 'host: api.example.com', 'HOST: evil.example'),
  hosts('host-list', 'a list', 'Host: api.example.com, evil.example'),
  hosts('host-space', 'a space in it', 'Host: api.example.com evil.example'),
  hosts('host-tab', 'a tab in it', 'Host: api.example.com\tevil.example'),
  hosts('host-slash', 'a path after the host', 'Host: api.example.com/evil'),
  hosts('host-userinfo', 'a user before it', 'Host: evil@api.example.com'),
  hosts('host-fragment', 'a fragment after the host', 'Host: api.example.com#evil'),
  hosts('host-query', 'a query after the host', 'Host: api.example.com?evil'),
  hosts('host-backslash', 'a backslash in it', 'Host: api.example.com\\evil'),
  hosts('host-scheme', 'a scheme before it', 'Host: http://api.example.com'),
  hosts('host-port-word', 'a port that is a word', 'Host: api.example.com:http'),
  hosts('host-port-minus', 'a port below zero', 'Host: api.example.com:-1'),
  hosts('host-port-two', 'two ports', 'Host: api.example.com:80:90'),
  hosts('host-bracket', 'half an IPv6 address', 'Host: [::1'),
  hosts('host-nul', 'NUL in it', 'Host: api.example.com\0.evil.example'),
  hosts('host-folded', 'on a folded line', 'Host:', ' api.example.com'),
  hosts('host-space-colon', 'a space before the colon', 'Host : api.example.com'),
  hosts('host-behind-cr', 'a second one after a bare CR', 'Host: api.example.com\rHost: evil.example'),
  hosts('host-behind-lf', 'a second one after a bare LF', 'Host: api.example.com\nHost: evil.example'),
  hosts('host-percent', 'an encoded slash in it', 'Host: api.example.com%2f.evil.example'),
  refused('host-empty', 'SMG-6', 'empty', (w) => `GET ${w.path} HTTP/1.1\r\nHost:\r\n\r\n`, {
    status: [400, 421],
  }),
  unknown('host-unknown', 'an unknown host', 'evil.example'),
  unknown('host-suffix', 'with the known one as its beginning', 'api.example.com.evil.example'),
  unknown('host-prefix', 'with the known one as its end', 'evil-api.example.com'),
  unknown('host-metadata', 'the address of cloud metadata', '169.254.169.254'),
  served(
    'host-case',
    'SMG-6',
    'in capitals',
    (w) => `GET ${w.path} HTTP/1.1\r\nHost: ${w.host.toUpperCase()}\r\n\r\n`,
  ),
  served(
    'host-last',
    'SMG-6',
    'as the last of the fields',
    (w) => `GET ${w.path} HTTP/1.1\r\nAccept: */*\r\nHost: ${w.host}\r\n\r\n`,
  ),
  absolute('absolute-other', 'an absolute target with another host', 'http://evil.example', {
    status: [421, 404, 400],
    withheld: [['host', /evil/]],
  }),
  absolute('absolute-userinfo', 'an absolute target with a user', 'http://evil@api.example.com', {
    status: [400],
  }),
  absolute('absolute-two-slashes', 'a target of two slashes and a name', '//evil.example', {
    status: [400, 404],
  }),
  absolute('absolute-empty', 'an absolute target with no authority', 'http://', { status: [400] }),
  absolute('absolute-ftp', 'an absolute target of another scheme', 'ftp://api.example.com', {
    status: [400],
  }),
  absolute('absolute-slashless', 'an absolute target with one slash', 'http:/api.example.com', {
    status: [400],
  }),
  either(
    'absolute-over-host',
    'SMG-7',
    'an absolute target that is known, a Host that is not',
    (w) => `GET http://${w.host}${w.path} HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
    {
      staysOpen: true,
      withheld: [
        ['host', /evil/],
        ['x-forwarded-host', /evil/],
      ],
    },
  ),
  either(
    'absolute-known',
    'SMG-7',
    'an absolute target that is known',
    (w) => w.target(`http://${w.host}${w.path}`),
    {
      staysOpen: true,
    },
  ),
];
