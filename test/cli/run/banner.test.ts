// The banner of a started gateway: what it shows and what it must not show.
import { describe, expect, it } from 'vitest';
import { type BannerInfo, renderBanner } from '../../../gateway/cli/run/banner.ts';

const PLAIN: BannerInfo = {
  listeners: {
    https: { address: { host: '127.0.0.1', port: 8443 } },
    http: { address: { host: undefined, port: 8080 }, mode: 'reject' },
    admin: { address: { host: '::1', port: 9901 } },
    metrics: undefined,
  },
  store: { kind: 'embedded', folder: '/srv/sundial/data' },
  refused: [],
  workers: 1,
  fingerprint: 'AB:CD',
  lifecycleClock: undefined,
};
const TRIAL = {
  samples: [{ name: 'orders-v1', url: 'http://127.0.0.1:4001', pid: 77 }],
  tokenCommand: 'npm run -s token',
  logFile: 'data/gateway.log',
};

describe('the banner', () => {
  it('lists the listeners, the store and the fingerprint of the certificate', () => {
    expect(renderBanner(PLAIN)).toBe(
      [
        '',
        'Sundial is running.',
        '',
        '  gateway      https://127.0.0.1:8443',
        '  plain http   http://127.0.0.1:8080      answers 400',
        '  admin        http://[::1]:9901          /dashboard/  /metrics  /-/healthy  /-/ready',
        '  store        embedded, in /srv/sundial/data',
        '  certificate  SHA-256 AB:CD',
        '',
        '',
      ].join('\n'),
    );
  });

  it('shows the number of workers if there are several', () => {
    expect(renderBanner(PLAIN)).not.toContain('workers');
    expect(renderBanner({ ...PLAIN, workers: 4 })).toContain('  workers      4 processes\n');
  });

  it('shows the pid of the process that takes signals', () => {
    expect(renderBanner({ ...PLAIN, pid: 4711 })).toContain(
      '  pid          4711                       SIGHUP reloads',
    );
  });

  it('mentions the lifecycle clock only if it was moved', () => {
    expect(renderBanner({ ...PLAIN, lifecycleClock: '2026-11-20' })).toContain('2026-11-20, moved');
    expect(renderBanner(PLAIN)).not.toContain('clock');
  });

  it('shows a Redis store without its credentials', () => {
    const store = {
      kind: 'redis',
      url: 'rediss://user:hunter2@cache.internal:6380/3?password=hunter3',
    } as const;
    const banner = renderBanner({ ...PLAIN, store });
    expect(banner).toContain('redis, at rediss://cache.internal:6380/3\n');
    expect(banner).not.toMatch(/hunter|user/);
  });

  it('of the demo has four curl commands for the bound port, one with a token', () => {
    const https = { address: { host: undefined, port: 43_210 } };
    const banner = renderBanner({ ...PLAIN, listeners: { ...PLAIN.listeners, https }, trial: TRIAL });
    const curls = banner.split('\n').filter((line) => line.includes('curl'));
    expect(curls).toHaveLength(4);
    for (const line of curls) expect(line).toContain('https://127.0.0.1:43210/api/');
    expect(curls.filter((line) => line.includes('Bearer $(npm run -s token)'))).toHaveLength(1);
    expect(banner).toContain('orders-v1    http://127.0.0.1:4001      pid 77');
    expect(banner).toContain('its API then answers 502');
  });

  it('of the demo has curl commands for plain HTTP only if a listener serves it', () => {
    const http = { address: { host: '127.0.0.1', port: 8080 }, mode: 'serve' } as const;
    const served = renderBanner({
      ...PLAIN,
      listeners: { https: undefined, http, admin: undefined, metrics: undefined },
      trial: TRIAL,
    });
    expect(served).toContain('curl -i http://127.0.0.1:8080/api/v2/catalog');
    const listeners = { ...PLAIN.listeners, https: undefined };
    expect(renderBanner({ ...PLAIN, listeners, trial: TRIAL })).not.toContain('curl');
  });
});
