// Rows for single-mistakes.test.ts: mistakes in upstreams.
import type { Mistake } from './mistake.ts';

export const UPSTREAMS: readonly Mistake[] = [
  [
    'an upstream that is a listener',
    'http://127.0.0.1:4001',
    'http://localhost:8443',
    '6 «http://localhost:8443» error: this target is the https listener of this gateway',
  ],
  [
    'an upstream that is the admin listener',
    'http://127.0.0.1:4001',
    '"http://[::1]:9901"',
    '6 «"http://[::1]:9901"» error: this target is the admin listener of this gateway',
  ],
  [
    'an upstream that is the public URL',
    'http://127.0.0.1:4001',
    'https://api.example.com',
    '6 «https://api.example.com» error: this target is the public address of this gateway',
  ],
  [
    'an upstream with a path',
    'http://127.0.0.1:4001',
    'http://127.0.0.1:4001/x',
    '6 «http://127.0.0.1:4001/x» error: not an origin: only http or https, a host and an optional port: "http://127.0.0.1:4001/x" (write http://127.0.0.1:4001, and path: /x beside targets)',
  ],
  [
    'a password in an upstream',
    'http://127.0.0.1:4001',
    'http://u:hunter2@h',
    '6 «http://u:hunter2@h» error: not an origin: only http or https, a host and an optional port: "http://*********@h" (write http://h)',
  ],
  [
    'a target at port 0',
    'http://127.0.0.1:4001',
    'http://127.0.0.1:0',
    '6 «http://127.0.0.1:0» error: port 0 is not a port of a service (write the port of the service)',
  ],
  [
    'a connect timeout above the total timeout',
    '[http://127.0.0.1:4001]',
    '[http://127.0.0.1:4001], timeout: { connect: 9s, headers: 1s, total: 8s }',
    '6 «{ connect: 9s, headers: 1s, total: 8s }» error: the timeout to connect is longer than the total',
  ],
  [
    'a total timeout below the default timeout for headers',
    '[http://127.0.0.1:4001]',
    '[http://127.0.0.1:4001], timeout: { total: 2s }',
    '6 «{ total: 2s }» error: the timeout for headers, 5s by default, is longer than the total',
  ],
];
