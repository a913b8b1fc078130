// Exports spans over OTLP with the OpenTelemetry packages, which are installed only for traces.
import type { TracerProvider } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../../plan/settings.ts';

/** Functions of an SDK beyond the API: the real provider behind the registered one, and a flush. */
export interface SpanProvider extends TracerProvider {
  readonly getDelegate?: () => SpanProvider;
  readonly forceFlush?: () => Promise<void>;
}

/** `failure`: why spans cannot be exported. Undefined: exports succeed again. */
export type OnExport = (failure: string | undefined) => void;

type OtlpSettings = Pick<TracingSettings, 'sampled'> & { readonly otlp: string };

/** Milliseconds after which an incomplete batch is exported. */
const BATCH_MS = 1_000;
const INSTALL =
  'npm install @opentelemetry/exporter-trace-otlp-http @opentelemetry/resources @opentelemetry/sdk-trace';

/** @throws Error if the packages are missing or do not fit, with the command that installs them */
export async function openOtlp(settings: OtlpSettings, onExport: OnExport): Promise<SpanProvider> {
  try {
    return await createProvider(settings, onExport);
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    const reason = isMissing
      ? 'needs packages that are not installed'
      : `cannot use the installed packages (${error instanceof Error ? error.message : String(error)})`;
    throw new Error(`tracing.otlp ${reason}: ${INSTALL}`, { cause: error });
  }
}

async function createProvider({ otlp, sampled }: OtlpSettings, onExport: OnExport): Promise<SpanProvider> {
  const [{ OTLPTraceExporter }, resources, sdk] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
  ]);
  // Environment variables of the SDK, such as OTEL_SERVICE_NAME, take precedence.
  const resource = resources
    .defaultResource()
    .merge(resources.resourceFromAttributes({ 'service.name': 'sundial' }))
    .merge(resources.detectResources({ detectors: [resources.envDetector] }));
  const exporter = reportingExporter(new OTLPTraceExporter({ url: otlp }), onExport);
  const provider = new sdk.TracerProvider({
    resource,
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(sampled) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, scheduledDelayMillis: BATCH_MS })],
  });
  return {
    getTracer: (name) => provider.getTracer(name),
    forceFlush: () => provider.shutdown(),
  };
}

/** Reports when exports begin to fail, and when they succeed again. */
export function reportingExporter(exporter: SpanExporter, onExport: OnExport): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      const finish: typeof done = (result) => {
        const failed = result.code !== 0;
        if (failed !== isFailing)
          onExport(failed ? (result.error?.message ?? 'no reason is known') : undefined);
        isFailing = failed;
        done(result);
      };
      try {
        exporter.export(spans, finish);
      } catch (error) {
        // An exporter of another major version does not understand these spans.
        finish({ code: 1, error: error instanceof Error ? error : new Error(String(error)) });
      }
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
