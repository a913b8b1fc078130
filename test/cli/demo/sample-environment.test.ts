// Variables that connect the samples of the demo, beside those of the operator.
import { expect, it } from 'vitest';
import { connectSamples } from '../../../gateway/cli/demo/sample-services.ts';

it('the demo sets the receiver, its certificate and the address for events', () =>
  expect(connectSamples({ SUNDIAL_RECEIVER_PORT: '5007', SUNDIAL_DATA: 'data/second' })).toMatchObject({
    SUNDIAL_INTAKE: 'http://127.0.0.1:4006/events',
    SUNDIAL_WEBHOOKS_ALLOW: 'localhost:5007',
    SUNDIAL_WEBHOOKS_CA: 'data/second/receiver.crt',
  }));

it('the demo adds its receiver to those of the operator', () =>
  expect(
    connectSamples({ SUNDIAL_WEBHOOKS_ALLOW: 'localhost:4443', SUNDIAL_WEBHOOKS_CA: '/etc/own.crt' }),
  ).toMatchObject({
    SUNDIAL_WEBHOOKS_ALLOW: 'localhost:4007,localhost:4443',
    SUNDIAL_WEBHOOKS_CA: 'data/receiver.crt,/etc/own.crt',
  }));

it('the demo sets no receiver while its port is 0', () =>
  expect(connectSamples({ SUNDIAL_WEBHOOKS_PORT: '0', SUNDIAL_RECEIVER_PORT: '0' })).toEqual({
    SUNDIAL_WEBHOOKS_PORT: '0',
    SUNDIAL_RECEIVER_PORT: '0',
  }));
