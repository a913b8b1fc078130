// Messages of the demo about parts that do not start and have not reported the reason.
import { describe, expect, it } from 'vitest';
import {
  adviseOnGateway,
  explainPorts,
  explainSamples,
  type FailedSample,
} from '../../../gateway/cli/demo/demo-failures.ts';
import { SAMPLE_SERVICES } from '../../../gateway/cli/demo/sample-services.ts';

const failed = (name: string, start: FailedSample['start']): FailedSample[] =>
  SAMPLE_SERVICES.filter((service) => service.name === name).map((service) => ({ service, start }));
const ended = (code: number | null, signal: NodeJS.Signals | null = null) =>
  ({ kind: 'ended', code, signal }) as const;

describe('a sample service that does not start', () => {
  it.each([2, 3])('gets no message if it has printed the reason itself: exit %i', (code) =>
    expect(explainSamples(failed('echo', ended(code)))).toBe(''),
  );

  it('gets a message with its exit if it has printed no reason', () => {
    const all = [
      ...failed('echo', ended(1)),
      ...failed('catalog', ended(null, 'SIGKILL')),
      ...failed('identity', { kind: 'silent' }),
    ];
    expect(explainSamples(all).split('\n')).toEqual([
      'sundial: the sample service echo cannot start (exit 1)',
      'sundial: the sample service catalog cannot start (SIGKILL)',
      'sundial: the sample service identity does not start, and reports no reason',
      '',
    ]);
  });

  it('gets a hint at another demo if several have printed a reason', () =>
    expect(explainSamples([...failed('echo', ended(3)), ...failed('catalog', ended(3))])).toBe(
      'sundial: cannot start: is another demo running?\n',
    ));
});

describe('the ports of the gateway', () => {
  it('get a line for each invalid one', () =>
    expect(
      explainPorts({ SUNDIAL_HTTPS_PORT: '8443x', SUNDIAL_HTTP_PORT: '80800', SUNDIAL_ADMIN_PORT: '' }).split(
        '\n',
      ),
    ).toEqual([
      'sundial: cannot start: SUNDIAL_HTTPS_PORT must be a port number, not "8443x"',
      'sundial: cannot start: SUNDIAL_HTTP_PORT must be a port number, not "80800"',
      '',
    ]));

  it('get no line if they are valid', () =>
    expect(explainPorts({ SUNDIAL_HTTPS_PORT: '443', SUNDIAL_HTTP_PORT: '0' })).toBe(''));
});

describe('a gateway that does not start', () => {
  it.each([
    ['https', 'SUNDIAL_HTTPS_PORT'],
    ['http', 'SUNDIAL_HTTP_PORT'],
    ['admin', 'SUNDIAL_ADMIN_PORT'],
  ])('gets the name of the variable that moves its %s listener', (listener, variable) =>
    expect(adviseOnGateway(Object.assign(new Error('in use'), { listener }))).toBe(
      `; ${variable}=<free port> sets another`,
    ),
  );

  it('gets the variable that moves its data folder if another process holds the folder', () =>
    expect(adviseOnGateway(Object.assign(new Error('held'), { code: 'data_folder_locked' }))).toBe(
      ' (SUNDIAL_DATA=<folder> sets another)',
    ));

  it.each([new Error('no certificate'), 'a word', undefined])('gets no advice for %s', (error) =>
    expect(adviseOnGateway(error)).toBe(''),
  );
});
