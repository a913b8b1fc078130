// The logger: the shape of a line, the closed list of fields, and secrets.
import { describe, expect, it } from 'vitest';
import { harness } from './telemetry-harness.ts';

describe('the logger', () => {
  it('writes a JSON line at once, with level, time, message and fields', () => {
    const { telemetry, text } = harness();
    telemetry.logger.info('listening', { listener: 'https', address: '127.0.0.1:8443' });
    expect(JSON.parse(text())).toEqual({
      level: 'info',
      time: '2026-11-21T07:30:00.123Z',
      listener: 'https',
      address: '127.0.0.1:8443',
      message: 'listening',
    });
  });

  it('drops messages below its level, except audit lines', async () => {
    const { telemetry, lines } = harness();
    const { logger } = telemetry;
    logger.setLevel('error');
    logger.info('an info');
    logger.warn('a warning');
    logger.error('an error');
    logger.fatal('an end');
    logger.info('admin write done', { audit: { action: 'pause', from: '127.0.0.1' } });
    logger.setLevel('warn');
    logger.info('an info');
    logger.warn('a later warning');
    expect(logger.level()).toBe('warn');
    expect((await lines()).map(({ message }) => message)).toEqual([
      'an error',
      'an end',
      'admin write done',
      'a later warning',
    ]);
  });

  it('drops fields that are not on its list', () => {
    const { telemetry, text } = harness();
    const wider = { api: 'orders', authorization: 'Bearer canary', password: 'canary' };
    telemetry.logger.warn('odd', wider);
    expect(JSON.parse(text())).toMatchObject({ api: 'orders' });
    expect(text()).not.toContain('canary');
  });

  it('writes an error as code, message, codes of its causes and place', () => {
    const { telemetry, text } = harness();
    const refused = Object.assign(new Error('connect'), {
      code: 'ECONNREFUSED',
      options: { password: 'canary' },
    });
    const several = new AggregateError([refused], 'all addresses failed');
    telemetry.logger.error('no store', { error: new Error('store away', { cause: several }) });
    expect(JSON.parse(text())).toMatchObject({
      error: {
        code: 'Error',
        message: 'store away',
        causes: ['AggregateError', 'ECONNREFUSED'],
        at: [expect.stringContaining('logger.test.ts'), expect.any(String), expect.any(String)],
      },
    });
    expect(text()).not.toContain('canary');
  });

  it('accepts errors that are their own cause, and values that are no errors', () => {
    const { telemetry, text } = harness();
    const circular = new Error('round');
    circular.cause = circular;
    telemetry.logger.error('first', { error: circular });
    telemetry.logger.error('second', { error: 'secret text' });
    const [first, second] = text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(first.error).toMatchObject({ message: 'round', causes: [] });
    expect(second.error).toMatchObject({ code: 'not_an_error', message: 'string' });
  });

  it.each([
    ['redis://:canary@10.0.0.1:6379/0', 'redis://[redacted]@10.0.0.1:6379/0'],
    ['rediss://user:ca@nary/x@host', 'rediss://[redacted]@host'],
    [
      'GET https://issuer.example/jwks?key=canary failed',
      'GET https://issuer.example/jwks?[redacted] failed',
    ],
    ['sent Authorization: Bearer canary.x.y', 'sent Authorization: Bearer [redacted]'],
    ['token eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.sig refused', 'token [redacted] refused'],
  ])('redacts secrets in %s, in messages, fields and errors', (secret, clean) => {
    const { telemetry, text } = harness();
    telemetry.logger.error(secret, { reason: secret, error: new Error(secret) });
    expect(JSON.parse(text())).toMatchObject({ message: clean, reason: clean, error: { message: clean } });
  });

  it('writes one line of ASCII', () => {
    const { telemetry, text } = harness();
    telemetry.logger.error('a\nb\u2028c\u001b[31m\u009b', { file: 'é.yaml' });
    expect(text()).toMatch(/^[ -~]*\n$/);
    expect(JSON.parse(text())).toMatchObject({ message: 'a\nb\u2028c\u001b[31m\u009b', file: 'é.yaml' });
  });
});
