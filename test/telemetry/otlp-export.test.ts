// Tests that failing exports of spans are reported, once at their begin and once at their end.
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { expect, it } from 'vitest';
import { reportingExporter } from '../../gateway/telemetry/traces/otlp.ts';

it('an exporter that throws is reported like one that fails', () => {
  const reports: (string | undefined)[] = [];
  const codes: number[] = [];
  let attempt = (): void => undefined;
  const exporter: SpanExporter = {
    export(_spans, done) {
      attempt();
      done({ code: 0 });
    },
    shutdown: async () => undefined,
  };
  const reporting = reportingExporter(exporter, (failure) => reports.push(failure));
  const send = (): void => reporting.export([], ({ code }) => codes.push(code));
  send();
  attempt = () => {
    throw new TypeError('spans of another version');
  };
  send();
  send();
  attempt = () => undefined;
  send();
  expect(reports).toEqual(['spans of another version', undefined]);
  expect(codes).toEqual([0, 1, 1, 0]);
});
